package io.millrace.cli.render.past;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonTree;
import io.millrace.cli.render.Printable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** Formats records of the live log as text or JSON. Stateless. */
public final class LiveLogView {
    private static final int RESULT_WIDTH = 16;
    private static final int TIME_WIDTH = 9;

    private LiveLogView() {}

    /** Returns a record as a JSON object. */
    public static byte[] json(JsonObject record) {
        return JsonTree.object(json -> {
            for (String name : record.names()) {
                String text = record.text(name);
                if (text == null) {
                    json.number(name, record.number(name, 0));
                } else {
                    json.text(name, text);
                }
            }
        });
    }

    /** Returns the line of a record: time, status, result, duration, client, method, URL, and the detail. */
    public static List<String> line(JsonObject record) {
        return List.of(text(record, record.number("duration_us", 0)));
    }

    /** Returns a line for each kept request, oldest first, or a message if there are none. */
    public static List<String> kept(JsonObject report) {
        String kind = report.text("kind", "");
        List<String> lines = new ArrayList<>();
        for (JsonObject record : report.objects("records")) {
            long micros = record.number("duration_us", 0);
            // A request counts as slow by the time until its first byte, so this time is shown.
            lines.add(text(record, kind.equals("slow") ? record.number("first_byte_us", micros) : micros));
        }
        Collections.reverse(lines);
        if (lines.isEmpty()) {
            lines.add(nothing(report, kind));
        }
        return lines;
    }

    private static String nothing(JsonObject report, String kind) {
        if (report.number("kept_requests", 1) == 0) {
            return "no requests are kept: log.kept_requests is 0";
        }
        if (kind.equals("slow") && report.number("slow_threshold_ms", 1) == 0) {
            return "no slow requests are kept: log.slow_threshold is 0";
        }
        return "no " + Printable.of(kind) + " requests";
    }

    private static String text(JsonObject record, long micros) {
        StringBuilder line = new StringBuilder(160);
        line.append(record.text("time", "?")).append(' ');
        long status = record.number("status", 0);
        line.append(status == 0 ? "000" : Long.toString(status)).append(' ');
        String result = record.text("result", "-");
        line.append(result).append(" ".repeat(Math.max(1, RESULT_WIDTH - result.length())));
        String time = time(micros);
        line.append(" ".repeat(Math.max(0, TIME_WIDTH - time.length())))
                .append(time)
                .append(' ');
        line.append(record.text("client", "-")).append(' ');
        line.append(record.text("method", "-")).append(' ');
        line.append(record.text("url", "-"));
        String detail = record.text("detail");
        if (detail != null) {
            line.append(" (").append(detail).append(')');
        }
        return Printable.of(line.toString());
    }

    private static String time(long micros) {
        if (micros < 1000) {
            return micros + " us";
        }
        return micros < 1_000_000
                ? String.format(Locale.ROOT, "%.1f ms", micros / 1000.0)
                : String.format(Locale.ROOT, "%.2f s", micros / 1_000_000.0);
    }
}
