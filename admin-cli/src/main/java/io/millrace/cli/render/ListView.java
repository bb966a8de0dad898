package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Formats a page of the response of {@code GET /v1/cache/list} as text. Stateless. */
public final class ListView {
    private static final int NUMBER_WIDTH = 9;
    private static final int SIZE_WIDTH = 11;

    private ListView() {}

    /**
     * Returns a line for each object or host. Notes follow if the page is incomplete or not the last.
     *
     * @param counted true if the response has counts for each host; false if it lists objects
     */
    public static List<String> lines(JsonObject report, boolean counted) {
        List<String> lines = new ArrayList<>();
        if (counted) {
            lines.add(right("OBJECTS", NUMBER_WIDTH) + right("BYTES", SIZE_WIDTH) + "  HOST");
            for (JsonObject host : report.objects("hosts")) {
                lines.add(right(Quantities.count(host.number("objects", 0)), NUMBER_WIDTH)
                        + right(Quantities.bytes(host.number("bytes", 0)), SIZE_WIDTH)
                        + "  " + Printable.of(host.text("host", "")));
            }
        } else {
            lines.add("STATUS" + right("LENGTH", SIZE_WIDTH) + "  URL");
            for (JsonObject object : report.objects("objects")) {
                lines.add(line(object));
            }
        }
        if (lines.size() == 1) {
            lines.set(0, "nothing found");
        }
        if (!report.isTrue("complete")) {
            lines.add("not complete: " + Printable.of(report.text("reason", "no reason is given")));
        }
        String next = report.text("next");
        if (next != null) {
            lines.add("there is more: --after " + Printable.of(next));
        }
        return lines;
    }

    private static String line(JsonObject object) {
        long length = object.number("length", -1);
        String variant = object.text("variant");
        return right(Long.toString(object.number("status", 0)), "STATUS".length())
                + right(length < 0 ? "unknown" : Quantities.bytes(length), SIZE_WIDTH)
                + "  " + Printable.of(object.text("url", ""))
                + (variant == null ? "" : "  (" + Printable.of(variant) + ")")
                + (object.isTrue("whole") ? "" : "  in part");
    }

    private static String right(String text, int width) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }
}
