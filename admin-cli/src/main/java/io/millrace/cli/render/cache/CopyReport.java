package io.millrace.cli.render.cache;

import io.millrace.cli.client.JsonTree;
import io.millrace.cli.render.Printable;
import io.millrace.cli.render.Quantities;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts and reports the responses that an export or import has copied or left out. The number of different
 * reasons for leaving out is bounded. Confined to one thread.
 */
public final class CopyReport {
    /** Limit of different reasons. The proxy has fewer; further reasons count as "other". */
    private static final int REASONS_MAX = 64;

    private static final int URL_LENGTH_MAX = 76;

    private final Map<String, Reason> leftOut = new LinkedHashMap<>();
    private long copied;
    private long bytes;
    private long all;

    /** The number of responses that were left out for one reason, and the URL of the first of them. */
    private static final class Reason {
        private long count;
        private final String url;

        Reason(String url) {
            this.url = url;
        }
    }

    /**
     * Counts a copied response.
     *
     * @param length length of its body in bytes
     */
    public void copied(long length) {
        copied++;
        all++;
        bytes += length;
    }

    /** Counts a response that was not copied. */
    public void leftOut(String reason, String url) {
        all++;
        String known = leftOut.containsKey(reason) || leftOut.size() < REASONS_MAX ? reason : "other";
        leftOut.computeIfAbsent(known, any -> new Reason(url)).count++;
    }

    public long copied() {
        return copied;
    }

    /** Returns the number of responses, copied and left out. */
    public long all() {
        return all;
    }

    /** Returns true if any response was left out for this reason. */
    public boolean has(String reason) {
        return leftOut.containsKey(reason);
    }

    /** Returns a line with the numbers so far. */
    public String progress() {
        return Quantities.count(copied) + " of " + Quantities.count(all, "response", "responses") + ", "
                + Quantities.bytes(bytes);
    }

    /**
     * Returns the lines of the report.
     *
     * @param verb the past participle at the beginning, such as {@code exported}
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
     * @param complete true if every response was examined, false after an interrupt or failure
     */
    public byte[] json(String verb, boolean complete) {
        return JsonTree.object(json -> json.bool("complete", complete)
                .number("responses", all)
                .number(verb, copied)
                .number("bytes", bytes)
                .array("left_out", leftOut.entrySet(), (one, entry) -> one.text("reason", entry.getKey())
                        .number("count", entry.getValue().count)
                        .text("first_url", entry.getValue().url)));
    }
}
