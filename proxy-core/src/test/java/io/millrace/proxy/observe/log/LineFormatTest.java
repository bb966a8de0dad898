package io.millrace.proxy.observe.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.CacheResult;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class LineFormatTest {
    @Test
    void squidLineOfAHit() {
        assertEquals(
                "1700000000.123 4 192.0.2.7 TCP_MEM_HIT/200 1720 GET http://www.example.com/a/b?c=d - NONE/- text/html",
                squid(LogRecords::fillHit));
    }

    @Test
    void squidLineOfAFetch() {
        assertEquals(
                "1700000000.123 4 192.0.2.7 TCP_MISS/200 1720 GET http://www.example.com/a/b?c=d fred"
                        + " DIRECT/origin.example text/html",
                squid(entry -> {
                    LogRecords.fillHit(entry);
                    entry.cache(CacheResult.URI_MISS)
                            .hierarchy(LogHierarchy.DIRECT)
                            .text(LogField.ORIGIN_HOST, "origin.example")
                            .text(LogField.USER, "fred");
                }));
    }

    @Test
    void combinedLineOfAHit() {
        assertEquals(
                "192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] \"GET /a/b?c=d HTTP/1.1\" 200 1256"
                        + " \"http://r.example/\" \"curl/8.0\"",
                combined(LogRecords::fillHit));
    }

    @Test
    void absentValuesAreAHyphen() {
        assertEquals("0.000 0 - NONE/000 0 - - - NONE/- -", squid(entry -> {}));
        assertEquals("- - - [01/Jan/1970:00:00:00 +0000] \"- -\" 000 0 \"-\" \"-\"", combined(entry -> {}));
    }

    @ParameterizedTest
    @CsvSource({
        "HIT, TCP_HIT",
        "STALE, TCP_REF_FAIL_HIT",
        "REVALIDATED, TCP_REFRESH_HIT",
        "STALE_MISS, TCP_REFRESH_MISS",
        "URI_MISS, TCP_MISS",
        "VARY_MISS, TCP_MISS",
        "REQUEST, TCP_CLIENT_REFRESH",
        "PARTIAL, TCP_MISS",
        "METHOD, TCP_MISS",
        "BYPASS, TCP_MISS",
        "NONE, NONE",
    })
    void everyCacheResultHasItsSquidCode(CacheResult result, String code) {
        assertTrue(squid(entry -> entry.cache(result)).contains(" " + code + "/"), code);
    }

    @Test
    void circumstancesRefineTheSquidCode() {
        assertTrue(squid(entry -> entry.cache(CacheResult.HIT).fromRam()).contains(" TCP_MEM_HIT/"));
        assertTrue(squid(entry -> entry.cache(CacheResult.HIT).fromRam().notModified())
                .contains(" TCP_IMS_HIT/"));
        assertTrue(squid(entry -> entry.cache(CacheResult.HIT).collapsed()).contains(" TCP_CF_HIT/"));
        assertTrue(squid(entry -> entry.cache(CacheResult.URI_MISS).collapsed()).contains(" TCP_CF_HIT/"));
    }

    @ParameterizedTest
    @EnumSource(value = LogOutcome.class, mode = EnumSource.Mode.EXCLUDE, names = "OK")
    void everyFailureHasItsOwnSquidCode(LogOutcome outcome) {
        assertTrue(squid(entry -> entry.cache(CacheResult.HIT).outcome(outcome).status(502))
                .contains(" " + outcome.squidCode() + "/502 "));
    }

    @ParameterizedTest
    @CsvSource({
        "7f000001, 127.0.0.1",
        "00000000000000000000ffffc0000207, 192.0.2.7",
        "20010db8000000000000000000000001, 2001:db8::1",
        "00000000000000000000000000000001, ::1",
    })
    void addressesAreWrittenByRfc5952(String hex, String text) {
        byte[] address = java.util.HexFormat.of().parseHex(hex);
        assertTrue(squid(entry -> entry.client(address, 0, address.length)).contains(" " + text + " "), text);
    }

    @Test
    void anAddressOfAnotherLengthIsUnknown() {
        assertTrue(squid(entry -> entry.client(new byte[5], 0, 5)).startsWith("0.000 0 - "));
    }

    @Test
    void squidWordsCannotBeForged() {
        String line = squid(entry -> entry.text(LogField.METHOD, "GET \r\n1.0 X")
                .text(LogField.URL, "http://h/\n1700000000.123 4 \t\"\\\u007f\u00e4%20")
                .text(LogField.USER, "a b"));
        assertEquals(
                "0.000 0 - NONE/000 0 GET%20%0D%0A1.0%20X http://h/%0A1700000000.123%204%20%09%22%5C%7F%E4%20"
                        + " a%20b NONE/- -",
                line);
    }

    @Test
    void combinedQuotesCannotBeForged() {
        String line = combined(entry -> entry.text(LogField.METHOD, "GET")
                .text(LogField.URL, "/a\"b\\c\n")
                .text(LogField.USER_AGENT, "x\" \"y\u0000")
                .text(LogField.REFERER, "\u00e4\r\n"));
        assertEquals(
                "- - - [01/Jan/1970:00:00:00 +0000] \"GET /a\\\"b\\\\c\\x0A\" 000 0 \"\\xE4\\x0D\\x0A\""
                        + " \"x\\\" \\\"y\\x00\"",
                line);
    }

    @Test
    void noBytesOfAClientMakeASecondLineOrMoreWords() {
        long seed = new Random().nextLong();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 2_000; i++) {
            Consumer<AccessLogRecord> filler = entry -> {
                for (LogField field : LogField.values()) {
                    byte[] bytes = new byte[1 + random.nextInt(2 * field.maxBytes())];
                    random.nextBytes(bytes);
                    entry.text(field, bytes, 0, bytes.length);
                }
            };
            String squid = squid(filler);
            assertEquals(9, squid.chars().filter(c -> c == ' ').count(), squid);
            assertTrue(squid.chars().allMatch(c -> c >= ' ' && c < 0x7f), squid);
            String combined = combined(filler);
            assertTrue(combined.chars().allMatch(c -> c >= ' ' && c < 0x7f), combined);
            assertEquals(6, unescapedQuotes(combined), combined);
        }
    }

    private static int unescapedQuotes(String line) {
        int quotes = 0;
        for (int i = 0; i < line.length(); i++) {
            if (line.charAt(i) == '\\') {
                i++;
            } else if (line.charAt(i) == '"') {
                quotes++;
            }
        }
        return quotes;
    }

    @Test
    void combinedLeavesTargetsThatAreNoUrlAsTheyAre() {
        assertTrue(combined(entry -> entry.text(LogField.URL, "*")).contains("\"- *\""));
        assertTrue(
                combined(entry -> entry.text(LogField.URL, "/p?u=http://x/y")).contains("\"- /p?u=http://x/y\""));
        assertTrue(combined(entry -> entry.text(LogField.URL, "https://h/")).contains("\"- /\""));
        assertTrue(combined(entry -> entry.text(LogField.URL, "https://h?q=/x")).contains("\"- ?q=/x\""));
    }

    @Test
    void textsAreCutAtTheirBoundAndMarked() {
        String url = "http://h/" + "x".repeat(2 * LogField.URL.maxBytes());
        String line = squid(entry -> entry.text(LogField.URL, url));
        assertTrue(line.contains(" " + url.substring(0, LogField.URL.maxBytes()) + "... "), line);
    }

    private static String squid(Consumer<AccessLogRecord> filler) {
        return LogRecords.line(AccessLogFormat.SQUID, filler);
    }

    private static String combined(Consumer<AccessLogRecord> filler) {
        return LogRecords.line(AccessLogFormat.COMBINED, filler);
    }
}
