package io.millrace.cli.render;

import io.millrace.cli.client.JsonTree;
import io.millrace.cli.client.MetricRates;
import java.util.ArrayList;
import java.util.List;

/** Formats the current activity of a proxy for the screen of {@code millctl top}. Stateless. */
public final class TopView {
    private static final String REQUESTS = "millrace_requests_total";
    private static final String HTTP2_REQUESTS = "millrace_http2_requests_total";
    private static final String ORIGIN_HTTP2_REQUESTS = "millrace_origin_http2_requests_total";
    private static final String HTTP2_FAULTS = "millrace_http2_faults_total";
    private static final String RESPONSES = "millrace_responses_total";
    private static final String DURATION = "millrace_request_duration_seconds";
    private static final String ORIGIN_DURATION = "millrace_origin_request_duration_seconds";
    private static final String[] HITS = {"hit", "stale", "revalidated"};
    private static final int COLUMN_WIDTH = 40;

    private TopView() {}

    /**
     * Formats a frame.
     *
     * @param title the first line
     * @param rates values and rates from two queries of the metrics
     * @param width columns of the screen; longer lines are cut
     * @param height lines of the screen; further lines at the bottom are omitted
     */
    public static List<String> frame(MetricRates rates, String title, int width, int height, Paint paint) {
        List<String> lines = new ArrayList<>();
        lines.add(title);
        lines.add("");
        lines.add(row(
                "requests",
                perSecond(rates.rate(REQUESTS)),
                count(rates.value("millrace_requests_active")) + " active",
                "hits " + share(hits(rates), rates.rate(REQUESTS)) + " now, "
                        + share(hitsSoFar(rates), rates.value(REQUESTS)) + " since the start"));
        lines.add(row(
                "clients",
                count(rates.value("millrace_connections", "side", "client")) + " open",
                perSecond(rates.rate("millrace_connections_opened_total", "side", "client")) + " new",
                "out " + bytes(rates.rate("millrace_sent_bytes_total", "side", "client")) + "/s, in "
                        + bytes(rates.rate("millrace_received_bytes_total", "side", "client")) + "/s"));
        if (rates.value(HTTP2_REQUESTS) > 0) {
            lines.add(row(
                    "HTTP/2",
                    perSecond(rates.rate(HTTP2_REQUESTS)),
                    perSecond(rates.rate("millrace_http2_connections_total")) + " new",
                    share(rates.rate(HTTP2_REQUESTS), rates.rate(REQUESTS)) + " of all, "
                            + perSecond(rates.rate("millrace_http2_resets_total")) + " reset, "
                            + perSecond(rates.rate(HTTP2_FAULTS)) + " faults"));
        }
        lines.add(row(
                "origins",
                perSecond(rates.rate("millrace_origin_requests_total")),
                perSecond(rates.rate("millrace_origin_failures_total")) + " failed",
                "in " + bytes(rates.rate("millrace_received_bytes_total", "side", "origin")) + "/s, connections "
                        + count(rates.value("millrace_connections", "side", "origin", "state", "active")) + " active, "
                        + count(rates.value("millrace_connections", "side", "origin", "state", "idle")) + " idle"));
        if (rates.value(ORIGIN_HTTP2_REQUESTS) > 0) {
            lines.add(row(
                    "HTTP/2",
                    perSecond(rates.rate(ORIGIN_HTTP2_REQUESTS)),
                    count(rates.value("millrace_origin_http2_streams")) + " active",
                    "to origins, connections " + count(rates.value("millrace_origin_http2_connections")) + " open, "
                            + perSecond(rates.rate("millrace_origin_http2_not_processed_total")) + " sent again"));
        }
        lines.add(row(
                "time",
                "cache " + mean(rates, DURATION, "served_from", "cache"),
                "origin " + mean(rates, DURATION, "served_from", "origin"),
                "all " + mean(rates, DURATION) + ", origins alone " + mean(rates, ORIGIN_DURATION)));
        lines.add(row(
                "RAM",
                fill(rates, "ram"),
                count(rates.value("millrace_cache_entries", "tier", "ram")) + " objects",
                ""));
        lines.add(row(
                "disk",
                fill(rates, "disk"),
                count(rates.value("millrace_cache_entries", "tier", "disk")) + " objects",
                count(rates.value("millrace_volume_online")) + " of "
                        + rates.labelValues("millrace_volume_online", "volume").size() + " volumes online"));
        lines.add("");
        columns(lines, rates);
        hosts(lines, rates);
        return cut(lines, width, height, paint);
    }

    private static void columns(List<String> lines, MetricRates rates) {
        List<String> left = table("cache", rates, REQUESTS, "cache");
        List<String> right = table("status", rates, RESPONSES, "status_class");
        for (int i = 0; i < Math.max(left.size(), right.size()); i++) {
            String one = i < left.size() ? left.get(i) : "";
            String other = i < right.size() ? right.get(i) : "";
            lines.add((one + " ".repeat(Math.max(1, COLUMN_WIDTH - one.length())) + other).stripTrailing());
        }
    }

    private static List<String> table(String title, MetricRates rates, String metric, String label) {
        List<String> lines = new ArrayList<>();
        lines.add(left(title, 14) + right("per second", 12) + right("share", 9));
        double all = rates.rate(metric);
        for (String value : rates.labelValues(metric, label)) {
            double rate = rates.rate(metric, label, value);
            if (rate > 0 || (rates.value(metric, label, value) > 0 && all == 0)) {
                lines.add(left(Printable.of(value), 14)
                        + right(Quantities.tenths(rate), 12)
                        + right(share(rate, all), 9));
            }
        }
        return lines;
    }

    private static void hosts(List<String> lines, MetricRates rates) {
        List<String> hosts = rates.labelValues("millrace_origin_host_up", "host");
        if (hosts.isEmpty()) {
            return;
        }
        lines.add("");
        lines.add(left("host of origins", 36)
                + right("state", 6)
                + right("per second", 12)
                + right("failed", 9)
                + right("latency", 11));
        for (String host : hosts) {
            boolean up = rates.value("millrace_origin_host_up", "host", host) > 0;
            lines.add(left(Printable.of(host), 36)
                    + right(up ? "up" : "DOWN", 6)
                    + right(Quantities.tenths(rates.rate("millrace_origin_host_requests_total", "host", host)), 12)
                    + right(Quantities.tenths(rates.rate("millrace_origin_host_failures_total", "host", host)), 9)
                    + right(millis(rates.value("millrace_origin_host_latency_seconds", "host", host)), 11));
        }
    }

    private static double hits(MetricRates rates) {
        double hits = 0;
        for (String hit : HITS) {
            hits += rates.rate(REQUESTS, "cache", hit);
        }
        return hits;
    }

    private static double hitsSoFar(MetricRates rates) {
        double hits = 0;
        for (String hit : HITS) {
            hits += rates.value(REQUESTS, "cache", hit);
        }
        return hits;
    }

    private static String mean(MetricRates rates, String histogram, String... labels) {
        double count = rates.rate(histogram + "_count", labels);
        return count == 0 ? "-" : millis(rates.rate(histogram + "_sum", labels) / count);
    }

    private static String millis(double seconds) {
        double millis = seconds * 1000;
        return millis < 1 && millis > 0 ? Math.round(millis * 1000) + " us" : Quantities.tenths(millis) + " ms";
    }

    private static String fill(MetricRates rates, String tier) {
        double held = rates.value("millrace_cache_bytes", "tier", tier);
        double max = rates.value("millrace_cache_max_bytes", "tier", tier);
        return bytes(held) + " of " + bytes(max) + " (" + share(held, max) + ")";
    }

    private static String share(double part, double whole) {
        return whole <= 0 ? "-" : Quantities.tenths(part * 100 / whole) + "%";
    }

    private static String perSecond(double rate) {
        return Quantities.tenths(rate) + "/s";
    }

    private static String bytes(double bytes) {
        return Quantities.bytes(Math.round(bytes));
    }

    private static String count(double count) {
        return Quantities.count(Math.round(count));
    }

    private static String row(String name, String one, String two, String three) {
        return (left(name, 10) + left(one, 16) + (one.length() > 15 ? " " : "") + left(two, 14) + three)
                .stripTrailing();
    }

    private static String left(String text, int width) {
        return text.length() >= width ? text : text + " ".repeat(width - text.length());
    }

    private static String right(String text, int width) {
        return " ".repeat(Math.max(1, width - text.length())) + text;
    }

    /**
     * Cuts the lines to the screen. Colours are added after this, so that their escape sequences do not count as width.
     */
    private static List<String> cut(List<String> lines, int width, int height, Paint paint) {
        List<String> shown = new ArrayList<>();
        for (int i = 0; i < Math.min(height, lines.size()); i++) {
            String line = lines.get(i);
            String fits = line.length() > width ? line.substring(0, width) : line;
            shown.add(i == 0 ? paint.strong(fits) : fits);
        }
        return shown;
    }

    /** Returns the main values of a frame as a JSON object. */
    public static byte[] json(MetricRates rates) {
        return JsonTree.object(json -> json.fraction("seconds", rates.seconds())
                .fraction("requests_per_second", rates.rate(REQUESTS))
                .fraction("hits_per_second", hits(rates))
                .number("requests_active", Math.round(rates.value("millrace_requests_active")))
                .number("client_connections", Math.round(rates.value("millrace_connections", "side", "client")))
                .fraction("sent_bytes_per_second", rates.rate("millrace_sent_bytes_total", "side", "client"))
                .fraction("received_bytes_per_second", rates.rate("millrace_received_bytes_total", "side", "client"))
                .fraction("origin_requests_per_second", rates.rate("millrace_origin_requests_total"))
                .fraction("origin_failures_per_second", rates.rate("millrace_origin_failures_total"))
                .number("ram_bytes", Math.round(rates.value("millrace_cache_bytes", "tier", "ram")))
                .number("disk_bytes", Math.round(rates.value("millrace_cache_bytes", "tier", "disk")))
                .fraction("http2_requests_per_second", rates.rate(HTTP2_REQUESTS))
                .fraction("http2_faults_per_second", rates.rate(HTTP2_FAULTS)));
    }
}
