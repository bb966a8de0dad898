package io.millrace.store.tool;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The findings of {@link StoreCheck} in one volume.
 *
 * <p>Confined to one thread while it is filled, then read-only.
 */
public final class CheckReport {
    /** Maximum number of findings per kind that are kept as text. All findings are counted. */
    private static final int TEXTS_MAX = 100;

    private final Path directory;
    private final List<String> facts = new ArrayList<>();
    private final Map<Kind, List<String>> findings = new EnumMap<>(Kind.class);
    private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);

    /** The severity of a finding. */
    public enum Kind {
        /**
         * A store may return outdated content: an index entry is not the newest record of its key, or the sequence
         * numbers of records are not ascending.
         */
        WRONG("wrong"),
        /** Stored content cannot be read any more; a store treats it as absent. */
        DAMAGED("damaged"),
        /** Left over from a crash or an error; has no effect on a store. */
        STALE("stale");

        private final String label;

        Kind(String label) {
            this.label = label;
        }
    }

    CheckReport(Path directory) {
        this.directory = directory;
        for (Kind kind : Kind.values()) {
            findings.put(kind, new ArrayList<>());
            counts.put(kind, 0);
        }
    }

    void fact(String text) {
        facts.add(text);
    }

    void finding(Kind kind, String text) {
        counts.merge(kind, 1, Integer::sum);
        List<String> texts = findings(kind);
        if (texts.size() < TEXTS_MAX) {
            texts.add(text);
        }
    }

    /** Returns the number of findings of a kind. */
    public int count(Kind kind) {
        return counts.getOrDefault(kind, 0);
    }

    /** Returns the findings of a kind, at most the first hundred. */
    public List<String> findings(Kind kind) {
        return findings.getOrDefault(kind, List.of());
    }

    /** Returns true if there is no finding of kind {@link Kind#WRONG} or {@link Kind#DAMAGED}. */
    public boolean isSound() {
        return count(Kind.WRONG) == 0 && count(Kind.DAMAGED) == 0;
    }

    /** Returns the report as one line of JSON. */
    public String toJson() {
        JsonText json = new JsonText()
                .member("path", directory.toString())
                .member("sound", isSound())
                .member("facts", facts);
        for (Kind kind : Kind.values()) {
            json.member(kind.label, count(kind)).member(kind.label + "_first", findings(kind));
        }
        return json.toString();
    }

    /** Returns the report as text, one finding per line. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder();
        out.append(directory)
                .append(": ")
                .append(isSound() ? "sound" : "NOT SOUND")
                .append('\n');
        for (String fact : facts) {
            out.append("  ").append(fact).append('\n');
        }
        for (Kind kind : Kind.values()) {
            for (String text : findings(kind)) {
                out.append("  ").append(kind.label).append(": ").append(text).append('\n');
            }
            int more = count(kind) - findings(kind).size();
            if (more > 0) {
                out.append("  ")
                        .append(kind.label)
                        .append(": and ")
                        .append(more)
                        .append(" more\n");
            }
        }
        return out.toString();
    }
}
