package io.millrace.cli.render.cache;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.render.Printable;
import io.millrace.cli.render.Quantities;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Formats the response of {@code GET /v1/cache/curve} as text. Stateless. */
public final class CurveTable {
    private static final double PERCENT = 100;
    private static final int HOST_WIDTH = 30;

    private CurveTable() {}

    /** Returns the effect of twice the RAM, the hit ratios of all sizes, and the hit ratios of the top hosts. */
    public static List<String> lines(JsonObject report) {
        List<JsonObject> sizes = report.objects("sizes");
        List<String> lines = new ArrayList<>();
        JsonObject present = ofScale(sizes, 1);
        JsonObject twice = ofScale(sizes, 2);
        if (report.number("requests", 0) == 0) {
            lines.add("no requests yet: the estimate needs some minutes of traffic");
            return lines;
        }
        String policy = report.text("policy", "").equals("lru") ? "lru" : "current";
        if (report.text("state", "ready").equals("measuring")) {
            lines.addAll(measuring(report));
        } else {
            double gain = ratio(twice, policy) - ratio(present, policy);
            lines.add(text(
                    "RAM x 2 would bring %+.1f percentage points: hit ratio in RAM %.1f%% instead of %.1f%%",
                    gain, ratio(twice, policy), ratio(present, policy)));
        }
        lines.add(text(
                "hit ratio in RAM: %.1f%% measured, %.1f%% estimated for x 1; policy: %s; a miss in RAM may be a hit on disk",
                report.fraction("ram_hit_ratio", 0) * PERCENT,
                ratio(present, policy),
                policy.equals("lru") ? "LRU" : "W-TinyLFU"));
        lines.add("about " + Quantities.count(report.number("requests", 0), "recent request", "recent requests")
                + ", " + Quantities.count(report.number("sampled_keys", 0), "sampled key", "sampled keys")
                + text(" (%.3g%% of all)", report.fraction("sample_rate", 1) * PERCENT));
        if (report.number("lost", 0) > 0) {
            lines.add(Quantities.count(report.number("lost", 0), "sampled request", "sampled requests")
                    + " left out: too many per second");
        }
        lines.add("");
        lines.add(text("%-6s %10s  %26s  %26s", "", "", "hits by requests", "hits by bytes")
                .stripTrailing());
        lines.add(text(
                "%-6s %10s  %9s %7s %8s  %9s %7s %8s",
                "RAM", "size", "W-TinyLFU", "LRU", "S3-FIFO", "W-TinyLFU", "LRU", "S3-FIFO"));
        for (JsonObject size : sizes) {
            lines.add(text(
                    "%-6s %10s  %8.1f%% %6.1f%% %7.1f%%  %8.1f%% %6.1f%% %7.1f%%",
                    "x " + scale(size),
                    Quantities.bytes(size.number("ram_bytes", 0)),
                    ratio(size, "current"),
                    ratio(size, "lru"),
                    ratio(size, "s3_fifo"),
                    byteRatio(size, "current"),
                    byteRatio(size, "lru"),
                    byteRatio(size, "s3_fifo")));
        }
        addHosts(lines, sizes, report.objects("hosts"));
        return lines;
    }

    private static List<String> measuring(JsonObject report) {
        String reason =
                switch (report.text("waits_for", "")) {
                    case "fill" -> "the simulated cache of the present size is not full yet";
                    case "change" -> "they still change by a percentage point or more in two minutes";
                    default -> "they need 2,000 sampled requests and two minutes";
                };
        return List.of(
                "measuring since " + Instant.ofEpochSecond(report.number("since_seconds", 0)) + ", "
                        + Quantities.count(report.number("requests_total", 0), "request", "requests"),
                "the figures below still rise and are not usable yet: " + reason);
    }

    private static void addHosts(List<String> lines, List<JsonObject> sizes, List<JsonObject> hosts) {
        if (hosts.isEmpty()) {
            return;
        }
        StringBuilder head = new StringBuilder(text("%-" + HOST_WIDTH + "s", "host"));
        for (JsonObject size : sizes) {
            head.append(text(" %7s", "x " + scale(size)));
        }
        lines.add("");
        lines.add(head.toString());
        for (JsonObject host : hosts) {
            String name = Printable.of(host.text("host", "?"));
            String shown = name.length() <= HOST_WIDTH ? name : name.substring(0, HOST_WIDTH - 3) + "...";
            StringBuilder line = new StringBuilder(text("%-" + HOST_WIDTH + "s", shown));
            for (double ratio : host.fractions("hit_ratios")) {
                line.append(text(" %6.1f%%", ratio * PERCENT));
            }
            lines.add(line.toString());
        }
    }

    private static JsonObject ofScale(List<JsonObject> sizes, double scale) {
        for (JsonObject size : sizes) {
            if (size.fraction("scale", 0) == scale) {
                return size;
            }
        }
        return JsonObject.empty();
    }

    private static String scale(JsonObject size) {
        double scale = size.fraction("scale", 0);
        return scale < 1 ? "1/" + Math.round(1 / scale) : Long.toString(Math.round(scale));
    }

    private static double ratio(JsonObject size, String policy) {
        return size.object(policy).fraction("hit_ratio", 0) * PERCENT;
    }

    private static double byteRatio(JsonObject size, String policy) {
        return size.object(policy).fraction("byte_hit_ratio", 0) * PERCENT;
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
