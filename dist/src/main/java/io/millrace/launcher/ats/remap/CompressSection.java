package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.source.Words;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.MediaTypes;
import io.millrace.launcher.importing.source.Quantity;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A section of a file of the plugin compress. It contains the settings for one host, or for all hosts without a section
 * of their own. Sections inherit nothing from each other. Confined to one thread.
 */
final class CompressSection {
    /** The encodings that the plugin and Millrace have, in the order in which the plugin prefers them. */
    private static final List<String> ENCODINGS = List.of("zstd", "br", "gzip");

    private static final Set<String> SWITCHES =
            Set.of("cache", "range-request", "flush", "remove-accept-encoding", "enabled");

    private final String host;
    private final List<Entry> lines = new ArrayList<>();
    private final Set<String> types = new LinkedHashSet<>();
    private final List<Entry> typeLines = new ArrayList<>();
    private Set<String> algorithms = Set.of("gzip");
    private boolean enabled = true;
    private long sizeMin = 1024;
    private @Nullable Entry algorithmLine;
    private @Nullable Entry enabledLine;
    private @Nullable Entry sizeLine;
    /** The line that removes Accept-Encoding from requests to origins; null for none. */
    private @Nullable Entry removalLine;

    /** @param host the host; empty for all hosts without a section */
    CompressSection(String host) {
        this.host = host;
    }

    String host() {
        return host;
    }

    /** Returns true if the plugin compresses nothing for the host. */
    boolean isOff() {
        return !enabled;
    }

    /** Adds the settings of a line: one or more names, each with a value. */
    void add(Words words) {
        Entry entry = words.entry();
        lines.add(entry);
        int i = 0;
        while (i < words.words().size()) {
            String name = words.at(i);
            List<String> followingWords =
                    words.words().subList(i + 1, words.words().size());
            if (name.equals("supported-algorithms")) {
                addAlgorithms(followingWords, entry);
                return;
            }
            if (name.equals("compressible-status-code")) {
                entry.note("responses with 200, 203, 403, 404 and 410 are compressed");
                return;
            }
            add(name, words.at(i + 1), entry);
            i += 2;
        }
    }

    private void add(String name, String value, Entry entry) {
        if (SWITCHES.contains(name)) {
            addSwitch(name, value, entry);
            return;
        }
        switch (name) {
            case "compressible-content-type" -> addType(value, entry);
            case "minimum-content-length" -> {
                if (value.matches("\\d{1,9}")) {
                    sizeMin = Long.parseLong(value);
                    sizeLine = entry;
                } else {
                    entry.notMapped("'" + value + "' is not a number of bytes");
                }
            }
            case "allow" -> {
                if (value.equals("*")) {
                    entry.note("the pattern matches all URLs, as in Millrace");
                } else {
                    entry.notMapped("all URLs of a rule are compressed; write a rule with compression.enabled: false"
                            + " for the others");
                }
            }
            default -> entry.notMapped("'" + name + "' is not understood");
        }
    }

    private void addSwitch(String name, String value, Entry entry) {
        switch (name) {
            case "enabled" -> {
                enabled = value.equals("true");
                enabledLine = entry;
            }
            case "remove-accept-encoding" -> {
                removalLine = value.equals("true") ? entry : null;
                if (removalLine == null) {
                    entry.note("origins get Accept-Encoding with the encoding for the client only");
                }
            }
            case "cache" ->
                entry.note(
                        value.equals("true")
                                ? "compressed responses are stored, as variants"
                                : "compressed responses are stored nevertheless, as variants");
            case "flush" -> entry.note("compressed content is flushed only if its length is not known");
            default ->
                entry.note(
                        "for clients, ranges refer to the compressed content; for fetches from the origin, to the origin's content");
        }
    }

    private void addAlgorithms(List<String> words, Entry entry) {
        Set<String> found = new LinkedHashSet<>();
        for (String word : String.join(",", words).split(",+", -1)) {
            if (ENCODINGS.contains(word)) {
                found.add(word);
            } else if (word.equals("deflate")) {
                entry.note("deflate is not used; clients that accept it accept gzip too");
            } else if (!word.isEmpty()) {
                entry.notMapped("'" + word + "' is no encoding that Millrace has");
            }
        }
        if (found.isEmpty()) {
            entry.notMapped("none of the encodings is one that Millrace has; gzip is used");
            found.add("gzip");
        }
        algorithms = found;
        algorithmLine = entry;
    }

    private void addType(String pattern, Entry entry) {
        String type = pattern.toLowerCase(Locale.ROOT);
        if (type.startsWith("!")) {
            entry.notMapped("types cannot be excluded from others; leave them out of compression.types");
            return;
        }
        List<String> found =
                type.equals("*") ? MediaTypes.ANY : MediaTypes.isType(type) ? List.of(type) : MediaTypes.matching(type);
        if (found.isEmpty()) {
            entry.notMapped("the importer knows no type that matches the pattern; add types to compression.types");
            return;
        }
        if (!MediaTypes.isType(type) && !type.equals("*")) {
            entry.note("the pattern is written as those types that the importer knows");
        } else if (!type.endsWith("*")) {
            entry.note("the type also matches with parameters such as charset");
        }
        types.addAll(found);
        typeLines.add(entry);
    }

    /**
     * Writes the settings.
     *
     * @param into the root, or a remap rule
     * @param source the line that loads the plugin
     */
    void write(DraftNode into, Entry source) {
        DraftNode enabledNode =
                into.put("compression.enabled", Boolean.toString(enabled)).from(source);
        if (enabledLine != null) {
            enabledNode.from(enabledLine);
        }
        if (!enabled) {
            noteOff();
            return;
        }
        List<String> encodings = ENCODINGS.stream().filter(algorithms::contains).toList();
        DraftNode written = into.putWords("compression.encodings", encodings);
        if (algorithmLine != null) {
            written.from(algorithmLine);
        } else {
            written.remark("Traffic Server's default (supported-algorithms); without the line: br, zstd, gzip");
        }
        DraftNode list = into.putWords("compression.types", types.isEmpty() ? List.of("text/*") : List.copyOf(types))
                .removableIfInvalid();
        typeLines.forEach(list::from);
        if (types.isEmpty()) {
            list.remark("Traffic Server's default (compressible-content-type), as its manual says");
        }
        writeSize(into);
        if (removalLine != null) {
            if (!into.isElement()) {
                removalLine.note("for all requests, also of hosts with a section");
            }
            into.addElement("rules")
                    .removableIfInvalid()
                    .from(removalLine)
                    .putWords("remove_request_header", List.of("Accept-Encoding"));
        }
    }

    /**
     * Writes the minimum size. For a rule it writes the size even if it is the plugin's default, because the rule would
     * otherwise inherit the size of the root.
     */
    private void writeSize(DraftNode into) {
        if (sizeLine == null && !into.isElement()) {
            return;
        }
        DraftNode size =
                into.put("compression.min_size", Quantity.size(sizeMin)).removableIfInvalid();
        if (sizeLine != null) {
            size.from(sizeLine);
        } else {
            size.remark("Traffic Server's default (minimum-content-length)");
        }
    }

    /** Adds a note to each line that has no effect, because the section is not enabled. */
    void noteOff() {
        for (Entry line : lines) {
            if (line.equals(enabledLine)) {
                line.matchesDefaultOf("compression.enabled");
            } else {
                line.note("the setting has no effect: the section is not enabled");
            }
        }
    }

    /** Adds a note to each line. */
    void note(String text) {
        lines.forEach(line -> line.note(text));
    }
}
