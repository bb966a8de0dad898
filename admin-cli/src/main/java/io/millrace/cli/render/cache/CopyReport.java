package io.millrace.cli.render.cache;

import io.millrace.cli.client.JsonTree;
import io.millrace.cli.render.Printable;
import io.millrace.cli.render.Quantities;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Counts of copied responses, with a bounded number of reasons why others were left out. Confined to one thread. */
public final class CopyReport {
    /** Limit of different reasons; the proxy has fewer. */
    private static final int REASONS_MAX = 64;

    private static final int URL_LENGTH_MAX = 76;

    private final Map<String, Reason> leftOut = new LinkedHashMap<>();
    private long copied;
    private long bytes;
    private long all;

    /** The number of responses with a reason, and the URL of the first one. */
    private static final class Reason {
        private long count;
        private final String url;

        Reason(String url) {
            this.url = url;
        }
    }

    /** Counts a response that was copied. */
    public void copied(long length) {
        copied++;
        all++;
        bytes += length;
    }

    /** Counts a response that was left out. */
    public void leftOut(String reason, String url) {
        all++;
        String known = leftOut.containsKey(reason) || leftOut.size() < REASONS_MAX ? reason : "other";
        leftOut.computeIfAbsent(known, any -> new Reason(url)).count++;
    }

    public long copied() {
        return copied;
    }

    /** Number of responses, copied or not. */
    public long all() {
        return all;
    }

    /** Whether a response was left out for this reason. */
    public boolean has(String reason) {
        return leftOut.containsKey(reason);
    }

    /** A line about the progress. */
    public String progress() {
        return Quantities.count(copied) + " of " + Quantities.count(all, "response", "responses") + ", "
                + Quantities.bytes(bytes);
    }

    /**
     * Returns the lines of the report.
     *
     * @param verb what was done, such as {@code exported}
     */
    public List<String> lines(String verb) {
        List<String> lines = new ArrayList<>();
        lines.add(verb + " " + progress());
        leftOut.forEach((reason, some) -> {
            lines.add("  left out: " + Quantities.count(some.count) + "  " + Printable.of(reason));
            String url = Printable.of(some.url);
            lines.add("    " + (url.length() > URL_LENGTH_MAX ? url.substring(0, URL_LENGTH_MAX - 3) + "..." : url));
        });
        return lines;
    }

    /**
     * Returns the report as JSON.
     *
     * @param verb name of the member with the number of copied responses
     * @param complete whether everything was examined
     */
    public byte[] json(String verb, boolean complete) {
        return JsonTree.object(json -> json.truth("complete", complete)
                .number("responses", all)
                .number(verb, copied)
                .number("bytes", bytes)
                .all("left_out", leftOut.entrySet(), (one, entry) -> one.text("reason", entry.getKey())
                        .number("count", entry.getValue().count)
                        .text("first_url", entry.getValue().url)));
    }
}
