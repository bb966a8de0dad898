package io.millrace.cli.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the lines of docs/reference/logs.md, and invalid lines. */
final class LogParserTest {
    static final String SQUID =
            "1700000000.123 4 192.0.2.7 TCP_MEM_HIT/200 1720 GET http://www.example.com/a/b?c=d - NONE/- text/html";
    static final String COMBINED = "192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] \"GET /a/b?c=d HTTP/1.1\" 200 1256"
            + " \"http://r.example/\" \"curl/8.0\"";
    static final String JSON = "{\"time\":\"2023-11-14T22:13:20.123Z\",\"duration_ms\":4,\"client\":\"192.0.2.7\","
            + "\"result\":\"TCP_MEM_HIT\",\"cache\":\"hit\",\"status\":200,\"bytes\":1720,\"body_bytes\":1256,"
            + "\"protocol\":\"HTTP/1.1\",\"method\":\"GET\",\"url\":\"http://www.example.com/a/b?c=d\","
            + "\"type\":\"text/html; charset=utf-8\",\"user_agent\":\"curl/8.0\"}";

    @Test
    void readsSquidAndJsonAlike() {
        LogLine wanted = new LogLine(
                1_700_000_000_123L,
                4,
                "192.0.2.7",
                "TCP_MEM_HIT",
                200,
                1720,
                "GET",
                "http://www.example.com/a/b?c=d",
                null,
                "text/html",
                1);
        assertEquals(wanted, LogParser.parse(SQUID));
        assertEquals(wanted, LogParser.parse(JSON));
        assertEquals("www.example.com", wanted.host());
        assertEquals(CacheGroup.HIT, wanted.group());
    }

    @Test
    void readsCombinedAndCommonWithoutMissingFields() {
        LogLine wanted =
                new LogLine(1_700_000_000_000L, -1, "192.0.2.7", null, 200, 1256, "GET", "/a/b?c=d", null, null, 1);
        assertEquals(wanted, LogParser.parse(COMBINED));
        assertNull(wanted.host());
        LogLine common = LogParser.parse(
                "2001:db8::1 - kim [01/Jan/2024:00:30:00 +0100] \"GET http://a:8080/x HTTP/1.1\" 304 -");
        assertNotNull(common);
        assertEquals(1_704_065_400_000L, common.timeMillis());
        assertEquals("a:8080", common.host());
        assertEquals(0, common.bytes());
    }

    @Test
    void aQuoteOfTheClientsDoesNotEndTheRequest() {
        LogLine line = LogParser.parse(
                "192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] \"GET /a\\\"b HTTP/1.1\" 404 0 \"\\\" 200 9\" \"-\"");
        assertNotNull(line);
        assertEquals("/a\\\"b", line.url());
        assertEquals(404, line.status());
    }

    @Test
    void aRequestThatWasNoneHasAStatusAlone() {
        LogLine line = LogParser.parse("1700000000.1 0 192.0.2.7 ERR_INVALID_REQ/400 120 - - - NONE/- -");
        assertNotNull(line);
        assertNull(line.url());
        assertEquals(1_700_000_000_100L, line.timeMillis());
        assertEquals(CacheGroup.ERROR, line.group());
        LogLine left = LogParser.parse(SQUID.replace("TCP_MEM_HIT/200", "ERR_CLIENT_ABORT/000"));
        assertNotNull(left);
        assertEquals(0, left.status());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "hello",
                "{",
                "{}",
                "{\"time\":1}",
                "1700000000.123 4 192.0.2.7 TCP_MEM_HIT/200",
                "x - - [14/Foo/2023:22:13:20 +0000] \"GET / HTTP/1.1\" 200 1",
                "x - - [14/Nov/2023] \"GET / HTTP/1.1\" 200 1",
                "x - - [99/Nov/2023:22:13:20 +0000] \"GET / HTTP/1.1\" 200 1",
                "x - - [14/Nov/2023:22:13:20 +0000] \"GET / HTTP/1.1",
            })
    void invalidLinesAreRejected(String line) {
        assertNull(LogParser.parse(line));
    }

    /** No line makes the parser throw: each of the three with characters replaced, omitted and repeated. */
    @Test
    void noLineIsTooOdd() {
        long seed = 20261122;
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        String[] lines = {SQUID, COMBINED, JSON};
        for (int i = 0; i < 20_000; i++) {
            StringBuilder line = new StringBuilder(lines[i % lines.length]);
            for (int change = random.nextInt(4); change >= 0 && line.length() > 1; change--) {
                int at = random.nextInt(line.length() - 1);
                switch (random.nextInt(3)) {
                    case 0 -> line.setCharAt(at, (char) random.nextInt(256));
                    case 1 -> line.delete(at, at + 1 + random.nextInt(line.length() - at));
                    default -> line.insert(at, line.charAt(at));
                }
            }
            LogLine parsed = LogParser.parse(line.toString());
            if (parsed != null) {
                parsed.group();
                parsed.host();
            }
        }
    }
}
