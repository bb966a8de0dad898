package io.millrace.cli.render.cache;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.render.Printable;
import io.millrace.cli.render.Quantities;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Formats the response of {@code GET /v1/traffic} as text. Stateless. */
public final class TrafficView {
    private static final int HOST_WIDTH = 30;
    private static final String ROW = "%-" + HOST_WIDTH + "s %12s %6s %11s %6s %9s";

    private TrafficView() {}

    /** Returns a line for each host, those with the most misses first, and one for all others. */
    public static List<String> lines(JsonObject report) {
        List<JsonObject> hosts = new ArrayList<>(report.objects("hosts"));
        JsonObject other = report.object("other");
        if (hosts.isEmpty() && other.number("requests", 0) == 0) {
            return List.of("no requests yet");
        }
        hosts.sort(Comparator.comparingLong((JsonObject host) -> host.number("misses", 0))
                .reversed());
        List<String> lines = new ArrayList<>();
        lines.add(String.format(Locale.ROOT, ROW, "host", "requests", "hits", "misses", "5xx", "sent"));
        hosts.forEach(host -> lines.add(line(host.text("host", "?"), host)));
        if (other.number("requests", 0) > 0) {
            lines.add(line("(other)", other));
        }
        return lines;
    }

    private static String line(String host, JsonObject figures) {
        String name = Printable.of(host);
        long requests = figures.number("requests", 0);
        return String.format(
                Locale.ROOT,
                ROW,
                name.length() <= HOST_WIDTH ? name : name.substring(0, HOST_WIDTH - 3) + "...",
                Quantities.count(requests),
                Quantities.percent(figures.number("hits", 0), requests),
                Quantities.count(figures.number("misses", 0)),
                Quantities.count(figures.number("errors", 0)),
                Quantities.bytes(figures.number("sent_bytes", 0)));
    }
}
