package io.millrace.cli.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class LogStatsTest {
    private static LogLine line(String result, String url) {
        return LogParser.parse("1700000000.123 4 10.1.2.3 " + result + "/200 100 GET " + url + " - NONE/- text/html");
    }

    @Test
    void countsBySiteAndResult() {
        LogStats stats = new LogStats(0);
        stats.add(line("TCP_HIT", "http://a/x"));
        stats.add(line("TCP_MISS", "http://a/x"));
        stats.add(line("TCP_MISS", "http://b/x"));
        stats.add(null);
        assertEquals(3, stats.total().all().requests());
        assertEquals(1, stats.unknownLines());
        List<LogStats.Site> sites = stats.sites(5);
        assertEquals(
                List.of("a", "b"), List.of(sites.get(0).host(), sites.get(1).host()));
        assertEquals(1, sites.get(0).stats().group(CacheGroup.HIT).requests());
        assertEquals(
                100,
                sites.get(0).stats().results(CacheGroup.MISS).get("TCP_MISS").bytes());
        assertEquals(4, stats.total().all().meanMillis());
        assertEquals(1, stats.sites(1).size());
    }

    /** A line of a sampled log counts as the requests that it stands for, in every table. */
    @Test
    void multipliesLinesOfASampledLog() {
        LogStats stats = new LogStats(1);
        String sampled = LogParserTest.JSON.replace("}", ",\"sample\":100}");
        stats.add(LogParser.parse(sampled));
        stats.add(LogParser.parse(LogParserTest.JSON));
        assertEquals(101, stats.total().all().requests());
        assertEquals(101 * 1720, stats.total().all().bytes());
        assertEquals(4, stats.total().all().meanMillis());
        assertEquals(101, stats.total().group(CacheGroup.HIT).requests());
        assertEquals(101, stats.sites(1).get(0).stats().all().requests());
        assertEquals(101, stats.urls().get(0).count());
        assertEquals(101, stats.urls().get(0).hits());
        assertEquals(1, stats.sampledLines());
        assertEquals(
                1,
                LogParser.parse(LogParserTest.JSON.replace("}", ",\"sample\":-3}"))
                        .sample());
        assertEquals(
                1_000_000,
                LogParser.parse(LogParserTest.JSON.replace("}", ",\"sample\":999999999999}"))
                        .sample());
    }

    /** The memory for invented hosts is limited, and the total contains every request. */
    @Test
    void hostsAreBounded() {
        LogStats stats = new LogStats(0);
        for (int i = 0; i < 12_000; i++) {
            stats.add(line("TCP_MISS", "http://h" + i + "/"));
        }
        assertEquals(4000, stats.siteCount());
        assertEquals(8000, stats.otherRequests());
        assertEquals(12_000, stats.total().all().requests());
    }

    /**
     * Compared with exact counts: a URL with more requests than the greatest error is in the list, and no count is too
     * low.
     */
    @Test
    void theUrlsAskedForMostAreFoundInBoundedMemory() {
        long seed = 42;
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        TopUrls top = new TopUrls(10);
        Map<String, Long> exact = new HashMap<>();
        for (int i = 0; i < 200_000; i++) {
            boolean popular = random.nextInt(4) > 0;
            String url = "http://a/" + (popular ? random.nextInt(10) : 100 + random.nextInt(100_000));
            exact.merge(url, 1L, Long::sum);
            top.add(line("TCP_HIT", url));
        }
        assertEquals(10, top.top().size());
        for (TopUrls.Entry entry : top.top()) {
            long counted = exact.getOrDefault(entry.url(), 0L);
            assertTrue(counted > 10_000, entry.url());
            assertTrue(entry.count() >= counted && entry.count() - entry.error() <= counted, entry.url());
        }
    }

    @Test
    void aTooLongLineIsTruncatedAndTheNextIsComplete() throws IOException {
        String text = "x".repeat(200_000) + "\nnext\r\nlast";
        ByteArrayInputStream in = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        LineSource lines = new LineSource();
        assertEquals(LineSource.LENGTH_MAX, String.valueOf(lines.next(in)).length());
        assertEquals("next", lines.next(in));
        assertEquals(null, lines.next(in));
        assertEquals("last", lines.rest());
        assertEquals(null, lines.rest());
    }
}
