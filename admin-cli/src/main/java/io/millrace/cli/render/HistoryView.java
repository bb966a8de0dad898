package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Formats the response of {@code GET /v1/config/history} as text. Stateless. */
public final class HistoryView {
    private static final int BY_WIDTH = 12;

    private HistoryView() {}

    /** Returns a line for each configuration, the newest last. A star marks the configuration in use. */
    public static List<String> lines(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        for (JsonObject entry : report.objects("entries")) {
            boolean isRunning = entry.isTrue("running");
            String number = Long.toString(entry.number("number", 0));
            String by = Printable.of(entry.text("by", "?"));
            List<String> changed = new ArrayList<>();
            for (String key : entry.texts("changed")) {
                changed.add(Printable.of(key));
            }
            String line = " ".repeat(Math.max(0, 4 - number.length())) + number + "  "
                    + Printable.of(entry.text("at", "?")) + "  " + by
                    + " ".repeat(Math.max(0, BY_WIDTH - by.length())) + "  "
                    + (changed.isEmpty() ? Printable.of(entry.text("file", "")) : String.join(", ", changed));
            lines.add((isRunning ? paint.good("*") : " ") + line);
        }
        return lines.isEmpty() ? List.of("no configuration is kept") : lines;
    }
}
