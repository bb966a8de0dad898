package io.millrace.cli.log;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Request statistics of one site, or of all sites together. Confined to one thread. */
public final class SiteStats {
    /** Limit of different words that are counted separately, such as methods. Clients can invent any number. */
    private static final int WORDS_MAX = 48;

    private static final int WORD_LENGTH_MAX = 64;

    private static final String OTHERS = "(others)";

    private final Tally all = new Tally();
    private final Map<CacheGroup, Tally> groups = new LinkedHashMap<>();
    private final Map<CacheGroup, Map<String, Tally>> results = new LinkedHashMap<>();
    private final Map<String, Tally> statuses = new TreeMap<>();
    private final Map<String, Tally> methods = new TreeMap<>();
    private final Map<String, Tally> types = new TreeMap<>();

    SiteStats() {
        for (CacheGroup group : CacheGroup.values()) {
            groups.put(group, new Tally());
            results.put(group, new TreeMap<>());
        }
    }

    void add(LogLine line) {
        all.add(line);
        CacheGroup group = line.group();
        group(group).add(line);
        count(results(group), line.result(), line);
        count(statuses, line.status() == 0 ? "none" : Integer.toString(line.status()), line);
        count(methods, line.method(), line);
        count(types, line.type(), line);
    }

    private static void count(Map<String, Tally> tallies, @Nullable String fullWord, LogLine line) {
        if (fullWord == null) {
            return;
        }
        String word = fullWord.length() > WORD_LENGTH_MAX ? fullWord.substring(0, WORD_LENGTH_MAX) : fullWord;
        Tally tally = tallies.get(word);
        if (tally == null) {
            tally = tallies.computeIfAbsent(tallies.size() < WORDS_MAX ? word : OTHERS, made -> new Tally());
        }
        tally.add(line);
    }

    /** Returns the totals of all requests. */
    public Tally all() {
        return all;
    }

    /** Returns the totals of the requests whose result code belongs to a group. */
    public Tally group(CacheGroup group) {
        return Objects.requireNonNull(groups.get(group), "group");
    }

    /** Returns the totals by result code within a group. */
    public Map<String, Tally> results(CacheGroup group) {
        return Objects.requireNonNull(results.get(group), "group");
    }

    /** Returns the totals by status code; the key {@code none} is for requests without a response. */
    public Map<String, Tally> statuses() {
        return statuses;
    }

    /** Returns the totals by request method. */
    public Map<String, Tally> methods() {
        return methods;
    }

    /** Returns the totals by media type; empty if the log format has no media type. */
    public Map<String, Tally> types() {
        return types;
    }
}
