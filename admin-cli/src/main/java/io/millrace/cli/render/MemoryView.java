package io.millrace.cli.render;

import io.millrace.cli.client.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Formats the response of {@code GET /v1/memory} as text. Stateless. */
public final class MemoryView {
    /**
     * Bounds of the ratio between the sum of the memory parts and the anonymous memory that the kernel reports. If the
     * ratio is within the bounds, it is shown in green.
     */
    private static final double EXPLAINED_MIN = 0.9;

    private static final double EXPLAINED_MAX = 1.1;
    /** The shown name of each part, by its name in the response. */
    private static final Map<String, String> PART_NAMES = Map.ofEntries(
            Map.entry("store_resident", "bodies in RAM"),
            Map.entry("store_filling", "bodies coming in"),
            Map.entry("store_reading", "bodies going out"),
            Map.entry("store_idle", "store pool, idle"),
            Map.entry("connections", "connections"),
            Map.entry("connections_idle", "connection pool, idle"),
            Map.entry("heap", "Java heap"),
            Map.entry("metaspace", "metaspace"),
            Map.entry("code", "compiled code"),
            Map.entry("jvm", "JVM, the rest"),
            Map.entry("stacks", "thread stacks"),
            Map.entry("malloc", "malloc arenas"),
            Map.entry("data", "library data"),
            Map.entry("unaccounted", "unaccounted"),
            Map.entry("index", "index"),
            Map.entry("files", "other files"));

    private MemoryView() {}

    /**
     * Returns the anonymous memory of the worker (the process that serves requests) as the kernel counts it, and its
     * parts. The budget of the cache store and the memory-mapped files follow.
     */
    public static List<String> lines(JsonObject report, Paint paint) {
        List<String> lines = new ArrayList<>();
        long anonymous = report.number("anonymous_bytes", 0);
        long accounted = report.number("accounted_bytes", 0);
        String explained = Quantities.percent(accounted, anonymous) + " explained by the parts";
        double share = anonymous == 0 ? 0 : (double) accounted / anonymous;
        boolean good = share >= EXPLAINED_MIN && share <= EXPLAINED_MAX;
        lines.add("anonymous memory " + Quantities.bytes(anonymous) + " (RssAnon), "
                + (good ? paint.good(explained) : paint.doubtful(explained)));
        for (JsonObject part : report.objects("parts")) {
            lines.add(line(part, anonymous));
        }
        lines.add("store budget " + Quantities.bytes(report.number("store_bytes_max", 0)) + ", "
                + Quantities.percent(report.number("store_bytes", 0), report.number("store_bytes_max", 0)) + " used; "
                + Quantities.count(report.number("refused_fills", 0), "fill", "fills") + " and "
                + Quantities.count(report.number("refused_reads", 0), "read", "reads") + " refused");
        if (report.number("in_flight_bytes_max", 0) > 0) {
            lines.add("in flight " + Quantities.bytes(report.number("in_flight_bytes", 0)) + " of "
                    + Quantities.bytes(report.number("in_flight_bytes_max", 0)) + "; "
                    + Quantities.count(report.number("slow_clients_closed", 0), "slow client", "slow clients")
                    + " closed and "
                    + Quantities.count(report.number("refused_fetches", 0), "fetch", "fetches") + " refused");
        }
        lines.add("mapped pages of files, which the kernel can take back");
        for (JsonObject part : report.objects("mapped")) {
            lines.add(line(part, 0));
        }
        return lines;
    }

    private static String line(JsonObject part, long whole) {
        String name = Printable.of(part.text("name", "?"));
        long bytes = part.number("bytes", 0);
        String line = String.format(
                Locale.ROOT, "  %-22s %10s", PART_NAMES.getOrDefault(name, name), Quantities.bytes(bytes));
        return whole == 0 ? line : line + String.format(Locale.ROOT, " %7s", Quantities.percent(bytes, whole));
    }
}
