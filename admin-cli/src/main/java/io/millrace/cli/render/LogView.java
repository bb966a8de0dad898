package io.millrace.cli.render;

import io.millrace.cli.client.JsonTree;
import io.millrace.cli.log.CacheGroup;
import io.millrace.cli.log.LogLine;
import io.millrace.cli.log.LogStats;
import io.millrace.cli.log.SiteStats;
import io.millrace.cli.log.Tally;
import io.millrace.cli.log.TopUrls;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Formats lines of access logs and their statistics as text or JSON. Stateless. */
public final class LogView {
    private static final int WORD_WIDTH = 26;
    private static final int COUNT_WIDTH = 14;

    private LogView() {}

    /** Returns a log line in which characters that could control a terminal are escaped. */
    public static String line(String line) {
        return Printable.of(line);
    }

    /** Returns one request as a JSON object. Values that the log format lacks are omitted. */
    public static byte[] json(LogLine line) {
        return JsonTree.object(json -> {
            json.text(
                    "time",
                    line.timeMillis() < 0
                            ? null
                            : Instant.ofEpochMilli(line.timeMillis()).toString());
            if (line.durationMillis() >= 0) {
                json.number("duration_ms", line.durationMillis());
            }
            json.text("client", line.client())
                    .text("result", line.result())
                    .number("status", line.status())
                    .number("bytes", line.bytes())
                    .text("method", line.method())
                    .text("url", line.url())
                    .text("origin", line.origin())
                    .text("type", line.type());
            if (line.sample() > 1) {
                json.number("sample", line.sample());
            }
        });
    }

    /**
     * Returns statistics as a JSON object.
     *
     * @param sites limit of hosts that are listed
     */
    public static byte[] json(LogStats stats, int sites) {
        return JsonTree.object(json -> {
            json.text("from", time(stats.firstMillis()))
                    .text("to", time(stats.lastMillis()))
                    .number("not_understood", stats.unknownLines())
                    .number("sampled_lines", stats.sampledLines())
                    .number("hosts_seen", stats.siteCount())
                    .number("requests_of_other_hosts", stats.otherRequests())
                    .nested("total", total -> site(total, stats.total()))
                    .array(
                            "hosts",
                            stats.sites(sites),
                            (one, site) -> site(one.text("host", site.host()), site.stats()))
                    .array("urls", stats.urls(), (one, url) -> one.text("url", url.url())
                            .number("requests", url.count())
                            .number("error", url.error())
                            .number("hits", url.hits())
                            .number("bytes", url.bytes()));
        });
    }

    private static @Nullable String time(long millis) {
        return millis < 0 ? null : Instant.ofEpochMilli(millis).toString();
    }

    private static void site(JsonTree json, SiteStats site) {
        tally(json, site.all());
        for (CacheGroup group : CacheGroup.values()) {
            json.nested(group.word(), below -> tally(below, site.group(group))
                    .each("results", site.results(group), LogView::tally));
        }
        json.each("statuses", site.statuses(), LogView::tally)
                .each("methods", site.methods(), LogView::tally)
                .each("types", site.types(), LogView::tally);
    }

    private static JsonTree tally(JsonTree json, Tally tally) {
        return json.number("requests", tally.requests())
                .number("bytes", tally.bytes())
                .fraction("mean_ms", tally.meanMillis());
    }

    /**
     * Returns statistics as text: the totals, a block for each host, and the most requested URLs.
     *
     * @param sites limit of hosts that are listed
     */
    public static List<String> lines(LogStats stats, int sites, Paint paint) {
        List<String> lines = new ArrayList<>();
        lines.add(Quantities.count(stats.total().all().requests(), "request", "requests")
                + (stats.firstMillis() < 0 ? "" : ", " + time(stats.firstMillis()) + " to " + time(stats.lastMillis()))
                + (stats.unknownLines() == 0
                        ? ""
                        : ", " + Quantities.count(stats.unknownLines(), "line", "lines") + " not understood"));
        if (stats.sampledLines() > 0) {
            lines.add("estimated: " + Quantities.count(stats.sampledLines(), "line stands", "lines stand")
                    + " for several requests each (sample)");
        }
        lines.add("");
        List<LogStats.Site> shown = stats.sites(sites);
        if (shown.size() != 1) {
            block(lines, "all hosts", stats.total(), paint);
        }
        for (LogStats.Site site : shown) {
            block(lines, site.host(), site.stats(), paint);
        }
        if (stats.siteCount() > shown.size()) {
            lines.add("and " + Quantities.count(stats.siteCount() - shown.size(), "more host", "more hosts")
                    + "; see them with --hosts");
            lines.add("");
        }
        urls(lines, stats.urls(), paint);
        return lines;
    }

    private static void block(List<String> lines, String name, SiteStats site, Paint paint) {
        lines.add(paint.strong(Printable.of(name)));
        lines.add(row("", "requests", "share", "mean ms", "bytes"));
        long all = site.all().requests();
        lines.add(row("all", site.all(), all));
        for (CacheGroup group : CacheGroup.values()) {
            if (site.group(group).requests() > 0) {
                lines.add(row(group.word(), site.group(group), all));
                rows(lines, site.results(group), all);
            }
        }
        table(lines, "status", site.statuses(), all);
        table(lines, "method", site.methods(), all);
        table(lines, "type", site.types(), all);
        lines.add("");
    }

    private static void table(List<String> lines, String name, Map<String, Tally> tallies, long all) {
        if (!tallies.isEmpty()) {
            lines.add("  " + name);
            rows(lines, tallies, all);
        }
    }

    private static void rows(List<String> lines, Map<String, Tally> tallies, long all) {
        tallies.forEach((word, tally) -> lines.add(row("  " + Printable.of(word), tally, all)));
    }

    private static String row(String word, Tally tally, long all) {
        double mean = tally.meanMillis();
        return row(
                word,
                Quantities.count(tally.requests()),
                Quantities.percent(tally.requests(), all),
                Double.isNaN(mean) ? "-" : Quantities.tenths(mean),
                Quantities.bytes(tally.bytes()));
    }

    private static String row(String word, String count, String share, String mean, String bytes) {
        return ("  " + padded(word, WORD_WIDTH) + right(count, COUNT_WIDTH) + right(share, 8) + right(mean, 10)
                        + right(bytes, 12))
                .stripTrailing();
    }

    private static String padded(String text, int width) {
        return text.length() >= width ? text + " " : text + " ".repeat(width - text.length());
    }

    private static String right(String text, int width) {
        return " ".repeat(Math.max(1, width - text.length())) + text;
    }

    private static void urls(List<String> lines, List<TopUrls.Entry> urls, Paint paint) {
        if (urls.isEmpty()) {
            return;
        }
        lines.add(paint.strong("Most requested URLs"));
        lines.add(right("requests", COUNT_WIDTH) + right("hits", 8) + right("bytes", 12) + "  URL");
        for (TopUrls.Entry url : urls) {
            String atMostSign = url.error() == 0 ? "" : "<=";
            lines.add(right(atMostSign + Quantities.count(url.count()), COUNT_WIDTH)
                    + right(Quantities.percent(url.hits(), url.count() - url.error()), 8)
                    + right(Quantities.bytes(url.bytes()), 12) + "  " + Printable.of(url.url()));
        }
    }
}
