package io.millrace.proxy.observe.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.observe.CacheResult;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LogTemplateTest {
    private static final String SQUID =
            "%<cqtq> %<ttms> %<chi> %<crc>/%<pssc> %<psql> %<cqhm> %<pquc> %<caun> %<phr>/%<shn> %<psct>";

    private static AccessLogFormat format(String template) {
        try {
            return AccessLogFormat.of(template);
        } catch (LogTemplateException e) {
            throw new AssertionError(template, e);
        }
    }

    private static String line(String template, Consumer<AccessLogRecord> filler) {
        return LogRecords.line(format(template), filler);
    }

    /** The format that a well-known article gives for Apache's combined log. */
    @Test
    void combinedFormatOfOperatorsOfTrafficServer() {
        assertEquals(
                "192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] \"GET /a/b?c=d\" 200 1720 \"http://r.example/\" \"curl/8.0\"",
                line(
                        "%<chi> - - [%<cqtn>] \"%<cqhm> %<cquup>\" %<pssc> %<psql> \"%<{Referer}cqh>\""
                                + " \"%<{User-Agent}cqh>\"",
                        LogRecords::fillHit));
    }

    @Test
    void namedFormatsCanBeWrittenAsTemplates() {
        assertEquals(LogRecords.line(AccessLogFormat.SQUID, LogRecords::fillHit), line(SQUID, LogRecords::fillHit));
        assertEquals(LogRecords.line(AccessLogFormat.SQUID, entry -> {}), line(SQUID, entry -> {}));
        assertEquals(
                LogRecords.line(AccessLogFormat.COMBINED, LogRecords::fillHit),
                line(
                        "%<chi> - %<caun> [%<cqtn>] \"%<cqhm> %<cquup> %<cqpv>\" %<pssc> %<pscl> \"%<{referer}cqh>\""
                                + " \"%<{user-agent}cqh>\"",
                        LogRecords::fillHit));
    }

    @Test
    void commonLineOfAHit() {
        assertEquals(
                "192.0.2.7 - - [14/Nov/2023:22:13:20 +0000] \"GET http://www.example.com/a/b?c=d HTTP/1.1\" 200 1256",
                LogRecords.line(AccessLogFormat.COMMON, LogRecords::fillHit));
    }

    @Test
    void jsonLineOfAHit() {
        assertEquals(
                "{\"time\":\"2023-11-14T22:13:20.123Z\",\"duration_ms\":4,\"client\":\"192.0.2.7\",\"result\":\"TCP_MEM_HIT\","
                        + "\"cache\":\"hit\",\"status\":200,\"bytes\":1720,\"body_bytes\":1256,\"protocol\":\"HTTP/1.1\","
                        + "\"method\":\"GET\",\"url\":\"http://www.example.com/a/b?c=d\",\"type\":\"text/html; charset=utf-8\","
                        + "\"referer\":\"http://r.example/\",\"user_agent\":\"curl/8.0\"}",
                LogRecords.line(AccessLogFormat.JSON, LogRecords::fillHit));
    }

    @Test
    void jsonStringsCannotBeForged() {
        String line = LogRecords.line(AccessLogFormat.JSON, entry -> entry.originStatus(404)
                .originVersion(2, 0)
                .text(LogField.USER_AGENT, "a\",\"x\":\"\\\n\r\t\u0000\u007f\u00e4"));
        assertTrue(
                line.endsWith(",\"origin_status\":404,\"origin_protocol\":\"HTTP/2.0\",\"bytes\":0,\"body_bytes\":0,"
                        + "\"user_agent\":\"a\\\",\\\"x\\\":\\\"\\\\\\u000A\\u000D\\u0009\\u0000\\u007F\\u00E4\"}"),
                line);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "chi|192.0.2.7",
                "chih|c0000207",
                "cqtq|1700000000.123",
                "cqts|1700000000",
                "cqth|6553f100",
                "cqtn|14/Nov/2023:22:13:20 +0000",
                "cqtd|2023-11-14",
                "cqtt|22:13:20",
                "ttms|4",
                "ttmsf|0.004",
                "ttmsh|4",
                "tts|0",
                "crc|TCP_MEM_HIT",
                "chm|HIT_RAM",
                "cccs|0",
                "pssc|200",
                "sssc|000",
                "sshv|-",
                "psql|1720",
                "pscl|1256",
                "pshl|464",
                "cqhm|GET",
                "cqpv|HTTP/1.1",
                "cquc|http://www.example.com/a/b?c=d",
                "cquuc|http://www.example.com/a/b?c=d",
                "pqu|http://www.example.com/a/b?c=d",
                "cquup|/a/b?c=d",
                "cqup|/a/b?c=d",
                "cquuh|www.example.com",
                "cqus|http",
                "psct|text/html",
                "phr|NONE",
                "shn|-",
                "caun|-",
                "cfsc|FIN",
                "pfsc|FIN",
                "{User-Agent}cqh|curl/8.0",
                "{user-agent}ecqh|curl/8.0",
                "{X-Absent}cqh|-"
            })
    void everyCodeWritesItsField(String code, String expected) {
        assertEquals("<" + expected + ">", line("<%<" + code + ">>", LogRecords::fillHit));
    }

    @Test
    void everyCodeIsWrittenForAnEmptyRecordAndOneOfTheGreatestLength() {
        for (String code : LogCodes.names()) {
            assertTrue(line("%<" + code + ">", entry -> {}).length() > 0, code);
            for (String template : List.of("%<" + code + ">", "\"%<" + code + ">\"")) {
                StringBuilder many = new StringBuilder();
                many.append(template.repeat(20));
                String line = line(many.toString(), entry -> {
                    for (LogField field : LogField.values()) {
                        entry.text(
                                field, field == LogField.URL ? "http://h/" + "\"".repeat(9000) : "\u0001".repeat(9000));
                    }
                });
                assertTrue(line.length() >= 20, code);
            }
        }
    }

    @Test
    void headerFieldsAreCarriedInRecords() {
        AccessLogFormat format =
                format("%<{X-A}cqh> \"%<{x-b}ssh>\" %<{X-A}cqh> %<{X-C}psh> %<{X-D}cssh> %<{Referer}cqh>");
        List<LogCapture> captures = format.captures();
        assertEquals(
                List.of(
                        new LogCapture(LogCapture.Source.CLIENT_REQUEST, FieldName.of("X-A"), LogField.FIELD_1),
                        new LogCapture(LogCapture.Source.ORIGIN_RESPONSE, FieldName.of("X-B"), LogField.FIELD_2),
                        new LogCapture(LogCapture.Source.PROXY_RESPONSE, FieldName.of("X-C"), LogField.FIELD_3),
                        new LogCapture(LogCapture.Source.CACHED_RESPONSE, FieldName.of("X-D"), LogField.FIELD_4)),
                captures);
        assertEquals(
                "a%20a \"b \\\"b\" a%20a - d http://r.example/",
                LogRecords.line(format, entry -> {
                    LogRecords.fillHit(entry);
                    entry.text(LogField.FIELD_1, "a a")
                            .text(LogField.FIELD_2, "b \"b")
                            .text(LogField.FIELD_4, "d");
                }));
    }

    @Test
    void fieldsCannotForgeTheirPlace() {
        Consumer<AccessLogRecord> evil = entry -> entry.text(LogField.USER_AGENT, "a\" 200 \n\"\\");
        assertEquals("\"a\\\" 200 \\x0A\\\"\\\\\" x", line("\"%<{User-Agent}cqh>\" x", evil));
        assertEquals("a%22%20200%20%0A%22%5C x", line("%<{User-Agent}cqh> x", evil));
        assertEquals("\"a%22%20200%20%0A%22%5C\" x", line("\"%<{User-Agent}ecqh>\" x", evil));
    }

    @ParameterizedTest
    @CsvSource({
        "HIT, true, false, HIT_RAM",
        "HIT, false, false, HIT_DISK",
        "HIT, false, true, HIT_RWW",
        "URI_MISS, false, false, MISS_COLD",
        "URI_MISS, false, true, HIT_RWW",
        "STALE_MISS, false, false, MISS_STALE",
        "REQUEST, false, false, MISS_CHANGED",
        "METHOD, false, false, MISS_NONE"
    })
    void hitOrMissHasTrafficServersWords(CacheResult result, boolean ram, boolean collapsed, String word) {
        assertEquals(
                word,
                line(
                        "%<chm>",
                        entry -> {
                            entry.cache(result);
                            if (ram) {
                                entry.fromRam();
                            }
                            if (collapsed) {
                                entry.collapsed();
                            }
                        }));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "%<chi> %<cqhn>|'cqhn' at character 8 is not a log field|cqhn",
                "%<{X}cqx>|'cqx' at character 1 is not a log field|cqx",
                "x %<chi|the field at character 3 has no '>'|''",
                "%<{X cqh>|'%<{X cqh>' at character 1 does not begin with {Field-Name}|''",
                "%<{X Y}cqh>|'%<{X Y}cqh>' at character 1 does not begin with {Field-Name}|''",
                "%<{}cqh>|'%<{}cqh>' at character 1 does not begin with {Field-Name}|''",
                "squidd|'squidd' is none of squid, combined, common, json, binary, and not a template with %<code> fields|squidd"
            })
    void problemsNameTheCodeAndTheCharacter(String template, String message, String wrong) {
        LogTemplateException e = assertThrows(LogTemplateException.class, () -> AccessLogFormat.of(template));
        assertEquals(message, e.getMessage());
        assertEquals(wrong, e.unknownWord());
    }

    @Test
    void limitsAreNamed() {
        StringBuilder many = new StringBuilder();
        for (int i = 0; i < 9; i++) {
            many.append("%<{X-").append(i).append("}cqh>");
        }
        assertEquals(
                "the header field at character 89 exceeds the limit; besides Referer and User-Agent the limit is 8",
                assertThrows(LogTemplateException.class, () -> AccessLogFormat.of(many.toString()))
                        .getMessage());
        assertEquals(
                "the template has 4103 characters, the limit is 4096",
                assertThrows(LogTemplateException.class, () -> AccessLogFormat.of("%<chi>" + "x".repeat(4097)))
                        .getMessage());
        assertEquals(
                "character 7 of the template is not printable ASCII",
                assertThrows(LogTemplateException.class, () -> AccessLogFormat.of("%<chi>\n"))
                        .getMessage());
    }

    @Test
    void formatsAreEqualWhenWrittenTheSame() throws LogTemplateException {
        assertSame(AccessLogFormat.JSON, AccessLogFormat.of("json"));
        assertEquals(AccessLogFormat.of("%<chi>"), AccessLogFormat.of("%<chi>"));
        assertEquals("%<chi>", AccessLogFormat.of("%<chi>").toString());
    }

    /** Allocation of the writer per line: a template allocates no more than the equal built-in format. */
    @Test
    void templatesAllocateNothingForALine() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int lines = 2000;
        for (AccessLogFormat format :
                List.of(AccessLogFormat.SQUID, AccessLogFormat.COMMON, AccessLogFormat.JSON, format(SQUID))) {
            AccessLogRing ring = new AccessLogRing(1 << 20);
            LineFormat writing = format.lines();
            LineBuffer out = new LineBuffer(1, writing.maxLineBytes());
            AccessLogRing.Reader reader = logged -> {
                out.clear();
                writing.append(logged, out);
                return true;
            };
            long allocated = 0;
            for (int round = 0; round < 2; round++) {
                for (int i = 0; i < lines; i++) {
                    LogRecords.fillHit(ring.claim());
                    ring.publish();
                }
                long before = threads.getCurrentThreadAllocatedBytes();
                assertEquals(lines, ring.drain(reader));
                allocated = threads.getCurrentThreadAllocatedBytes() - before;
            }
            assertTrue(allocated < lines, format + " allocated " + allocated + " bytes for " + lines + " lines");
        }
    }
}
