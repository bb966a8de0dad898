package io.millrace.cli.render.past;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.render.Paint;
import io.millrace.cli.render.Quantities;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Formats the response of {@code GET /v1/history} as a table with curves above it. Stateless. */
public final class FiguresView {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

    private static final String BARS = "▁▂▃▄▅▆▇█";
    private static final int COLUMN_WIDTH = 10;
    private static final double MILLIS_PER_SECOND = 1000;
    private static final double MICROS_PER_MILLI = 1000;
    private static final double MICROS_PER_SECOND = 1_000_000;

    private FiguresView() {}

    /** Returns curves of request rate and 99th percentile, then a line for each time step. */
    public static List<String> lines(JsonObject report, Paint paint) {
        List<JsonObject> points = report.objects("points");
        if (points.isEmpty()) {
            return List.of("nothing was recorded in this time");
        }
        List<String> lines = new ArrayList<>();
        lines.add("requests/s  " + curve(points, point -> rate(point, "requests")) + "  highest "
                + Quantities.tenths(highest(points, point -> rate(point, "requests"))));
        lines.add("99th perc.  " + curve(points, point -> point.number("p99_us", 0)) + "  highest "
                + duration(Math.round(highest(points, point -> point.number("p99_us", 0)))));
        lines.add(paint.strong("time (UTC)    " + right("req/s") + right("hits") + right("sent/s") + right("origin/s")
                + right("errors") + right("median") + right("99th")));
        for (JsonObject point : points) {
            lines.add(line(point));
        }
        return lines;
    }

    private static String line(JsonObject point) {
        long requests = point.number("requests", 0);
        long errors = point.number("errors", 0);
        return TIME.format(Instant.ofEpochSecond(point.number("at", 0)))
                + right(Quantities.tenths(rate(point, "requests")))
                + right(Quantities.percent(point.number("hits", 0), requests))
                + right(shortBytes(rate(point, "sent_bytes")))
                + right(Quantities.tenths(rate(point, "origin_requests")))
                + right(Quantities.count(errors))
                + right(point.has("p50_us") ? duration(point.number("p50_us", 0)) : "-")
                + right(point.has("p99_us") ? duration(point.number("p99_us", 0)) : "-");
    }

    private static double rate(JsonObject point, String series) {
        long measured = point.number("measured_ms", 0);
        return measured <= 0 ? 0 : point.number(series, 0) * MILLIS_PER_SECOND / measured;
    }

    private static String shortBytes(double bytes) {
        return Quantities.bytes(Math.round(bytes)).replace(" ", "");
    }

    private static String duration(long micros) {
        if (micros < MICROS_PER_MILLI) {
            return micros + "us";
        }
        return micros < MICROS_PER_SECOND
                ? Quantities.tenths(micros / MICROS_PER_MILLI) + "ms"
                : Quantities.tenths(micros / MICROS_PER_SECOND) + "s";
    }

    private static String right(String text) {
        return " ".repeat(Math.max(1, COLUMN_WIDTH - 1 - text.length())) + text;
    }

    private static double highest(List<JsonObject> points, ToDoubleFunction<JsonObject> value) {
        double highest = 0;
        for (JsonObject point : points) {
            highest = Math.max(highest, value.applyAsDouble(point));
        }
        return highest;
    }

    /** Returns a curve of block characters, one for each point, scaled to the highest value. */
    private static String curve(List<JsonObject> points, ToDoubleFunction<JsonObject> value) {
        double highest = highest(points, value);
        StringBuilder curve = new StringBuilder();
        for (JsonObject point : points) {
            int level = highest == 0 ? 0 : (int) (value.applyAsDouble(point) * (BARS.length() - 1) / highest);
            curve.append(BARS.charAt(Math.min(level, BARS.length() - 1)));
        }
        return curve.toString();
    }
}
