package io.millrace.proxy.observe.log.output;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.value.SyslogAddress;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFields;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.RecordingLogger;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogCapture;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.log.LogHierarchy;
import io.millrace.proxy.observe.log.reader.BinaryLogFile;
import io.millrace.proxy.observe.log.reader.LinePrinter;
import io.millrace.proxy.observe.log.target.FakeSyslog;
import io.millrace.proxy.observe.log.target.SyslogConfig;
import io.millrace.proxy.observe.log.target.SyslogFacility;
import io.millrace.proxy.observe.log.target.SyslogSeverity;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests several logs with real rings, files and receivers. */
class AccessLogsTest {
    private static final long RECEIVED_AT_MILLIS = 1_700_000_000_123L;

    @TempDir
    Path directory;

    private final RecordingLogger logger = new RecordingLogger();
    private final FaultLog faults = new FaultLog(logger, Long.MAX_VALUE, () -> 0);

    private LogOutputConfig log(String name, String format, String filter, int sample, SampleBy by) throws Exception {
        return new LogOutputConfig(
                name,
                AccessLogFormat.of(format),
                filter == null ? null : Expression.parse(filter, LoggedFields.SCHEMA),
                sample,
                by,
                new LogDestination.ToFile(directory.resolve(name + ".log"), 0, Duration.ZERO, 0));
    }

    private LogOutputConfig log(String name, String format, String filter) throws Exception {
        return log(name, format, filter, 1, SampleBy.REQUEST);
    }

    private LogOutputConfig toSyslog(String address) throws Exception {
        SyslogConfig config = new SyslogConfig(
                SyslogAddress.parse(address), SyslogFacility.LOCAL0, SyslogSeverity.INFO, "millrace", null, null, null);
        return new LogOutputConfig(
                "remote",
                AccessLogFormat.of("%<cqhm> %<cquc>"),
                null,
                10,
                SampleBy.REQUEST,
                new LogDestination.ToSyslog(config));
    }

    private AccessLogs start(LogOutputConfig... logs) {
        return AccessLogs.start(
                List.of(logs), faults, AccessLogs.ExtensionTargets.NONE, System::currentTimeMillis, "host");
    }

    private List<String> lines(String name) throws IOException {
        Path file = directory.resolve(name + ".log");
        return Files.exists(file) ? Files.readAllLines(file, StandardCharsets.ISO_8859_1) : List.of();
    }

    private static void offer(AccessLogRing ring, int status, String url) {
        AccessLogRecord record = ring.claim();
        record.receivedAtMillis(RECEIVED_AT_MILLIS)
                .durationNanos(4_900_000)
                .client(new byte[] {(byte) 192, 0, 2, 7}, 0, 4)
                .status(status)
                .sentBytes(100, 1000)
                .version(1, 1)
                .cache(CacheResult.HIT)
                .text(LogField.METHOD, "GET")
                .text(LogField.URL, url)
                .text(LogField.CONTENT_TYPE, "text/HTML; charset=utf-8");
        for (LogCapture capture : ring.captures()) {
            record.text(capture.slot(), capture.name().toString());
        }
        ring.publish();
    }

    private static void await(AccessLogs logs, String name, long lines) {
        while (logs.written(name) < lines) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Test
    void eachLogHasTheRequestsOfItsFilter() throws Exception {
        AccessLogs logs = start(
                log("all", "%<cquup>", null),
                log("errors", "%<pssc> %<cquup>", "status >= 500"),
                log("host", "%<cquup>", "host == \"A.example\" && path != \"/3\""));
        AccessLogRing ring = logs.loopRing();
        AccessLogRing other = logs.loopRing();
        offer(ring, 200, "http://a.example/1");
        offer(ring, 503, "http://b.example/2");
        offer(other, 500, "http://a.example/3?q");
        logs.close();
        assertEquals(List.of("/1", "/2", "/3?q"), lines("all").stream().sorted().toList());
        assertEquals(
                List.of("500 /3?q", "503 /2"), lines("errors").stream().sorted().toList());
        assertEquals(List.of("/1"), lines("host"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "url == \"http://a.example/p/q?r=s\"",
                "scheme == \"http\"",
                "host in (\"b.example\", \"a.example\")",
                "path == \"/p/q\" && target == \"/p/q?r=s\" && query == \"r=s\"",
                "method =~ \"^G\"",
                "status >= 200 && status < 300",
                "origin_status == 201",
                "cache == \"hit\" && result == \"TCP_HIT\"",
                "client == \"192.0.2.7\"",
                "bytes == 1100B && body_bytes == 1000B",
                "duration > 4ms && duration < 5ms",
                "protocol == \"HTTP/1.1\" && origin_protocol == \"HTTP/2.0\"",
                "origin == \"O.example\"",
                "type == \"text/html\"",
                "tls == \"TLSv1.3\" && sni == \"a.example\"",
                "referer =~ \"r.example\" && user_agent =~ \"curl\"",
                "detail == \"timeout\""
            })
    void filtersReadEveryFieldOfARecord(String filter) throws Exception {
        AccessLogs logs = start(log("yes", "%<cquup>", filter), log("no", "%<cquup>", "!(" + filter + ")"));
        AccessLogRing ring = logs.loopRing();
        AccessLogRecord record = ring.claim();
        assertEquals(filter.startsWith("tls"), ring.showsTls());
        record.receivedAtMillis(RECEIVED_AT_MILLIS)
                .durationNanos(4_900_000)
                .client(new byte[] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, (byte) 192, 0, 2, 7}, 0, 16)
                .status(200)
                .originStatus(201)
                .originVersion(2, 0)
                .sentBytes(100, 1000)
                .version(1, 1)
                .cache(CacheResult.HIT)
                .hierarchy(LogHierarchy.DIRECT)
                .text(LogField.METHOD, "GET")
                .text(LogField.URL, "http://a.example/p/q?r=s")
                .text(LogField.CONTENT_TYPE, "text/HTML; charset=utf-8")
                .text(LogField.ORIGIN_HOST, "o.EXAMPLE")
                .text(LogField.REFERER, "http://r.example/")
                .text(LogField.USER_AGENT, "curl/8.0")
                .text(LogField.DETAIL, "timeout")
                .text(LogField.TLS_VERSION, "TLSv1.3")
                .text(LogField.TLS_SERVER_NAME, "a.example");
        ring.publish();
        logs.close();
        assertEquals(List.of("/p/q?r=s"), lines("yes"));
        assertEquals(List.of(), lines("no"));
    }

    /** Returns the lines of a binary log in a template. */
    private List<String> binaryLines(String name, String format) throws Exception {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        LinePrinter printer = new LinePrinter(
                AccessLogFormat.of(format),
                Expression.parse("status == 200", LoggedFields.SCHEMA),
                new PrintStream(printed, false, StandardCharsets.US_ASCII),
                warning -> {
                    throw new AssertionError(warning);
                });
        try (InputStream in = BinaryLogFile.open(directory.resolve(name + ".log"))) {
            BinaryLogFile.read(in, printer);
        }
        printer.flush();
        return printed.toString(StandardCharsets.US_ASCII).lines().toList();
    }

    private LogOutputConfig binary(String name, int sample, String... fields) throws Exception {
        return new LogOutputConfig(
                name,
                AccessLogFormat.binary(List.of(fields)),
                null,
                sample,
                SampleBy.REQUEST,
                new LogDestination.ToFile(directory.resolve(name + ".log"), 0, Duration.ZERO, 0));
    }

    @Test
    void aBinaryLogHasItsFieldsBesideOtherLogs() throws Exception {
        AccessLogs logs = start(
                log("text", "%<{Host}cqh> %<cquup>", null),
                binary("binary", 2, "cquup", "pssc", "sample", "{Accept}cqh"));
        AccessLogRing ring = logs.loopRing();
        for (int i = 0; i < 4; i++) {
            offer(ring, i == 2 ? 500 : 200, "http://a.example/" + i);
        }
        await(logs, "text", 4);
        logs.apply(List.of(log("text", "%<cquup>", null), binary("binary", 2, "cquup", "pssc")));
        offer(ring, 200, "http://a.example/4");
        logs.close();
        // The log before the change and the one after it append to the same file.
        assertEquals(
                List.of("1 /4 - -", "2 /0 Accept -"),
                binaryLines("binary", "%<sample> %<cquup> %<{accept}cqh> %<cqhm>").stream()
                        .sorted()
                        .toList());
        assertEquals(List.of("Host /0", "Host /1", "Host /2", "Host /3", "/4"), lines("text"));
    }

    @Test
    void aSampledLogHasOneOfNAndItsRate() throws Exception {
        AccessLogs logs = start(
                log("few", "%<sample> %<cquup>", null, 4, SampleBy.REQUEST),
                log("json", "json", null, 4, SampleBy.REQUEST));
        AccessLogRing ring = logs.loopRing();
        for (int i = 0; i < 10; i++) {
            offer(ring, 200, "http://a.example/" + i);
        }
        logs.close();
        assertEquals(List.of("4 /0", "4 /4", "4 /8"), lines("few"));
        assertEquals(
                3,
                lines("json").stream()
                        .filter(line -> line.endsWith(",\"sample\":4}"))
                        .count());
    }

    @Test
    void aSampleByUrlHasAllRequestsForAUrlOrNone() throws Exception {
        AccessLogs logs = start(log("urls", "%<cquup>", null, 3, SampleBy.URL));
        AccessLogRing ring = logs.loopRing();
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 300; i++) {
                offer(ring, 200, "http://a.example/" + i);
            }
        }
        logs.close();
        List<String> lines = lines("urls");
        long different = lines.stream().distinct().count();
        assertEquals(2 * different, lines.size());
        assertTrue(different > 60 && different < 140, () -> different + " of 300");
    }

    @Test
    void aFailingTargetTakesNothingFromTheOtherLogs() throws Exception {
        Files.writeString(directory.resolve("file"), "");
        LogOutputConfig bad = new LogOutputConfig(
                "bad",
                AccessLogFormat.SQUID,
                null,
                1,
                SampleBy.REQUEST,
                new LogDestination.ToFile(directory.resolve("file/bad.log"), 0, Duration.ZERO, 0));
        AccessLogs logs = start(bad, log("good", "%<cquup>", null));
        MetricsRegistry metrics = new MetricsRegistry();
        logs.bindTo(metrics);
        AccessLogRing ring = logs.loopRing();
        for (int i = 0; i < 100; i++) {
            offer(ring, 200, "http://a.example/" + i);
        }
        await(logs, "good", 100);
        logs.close();
        String text = metrics.prometheusText();
        assertTrue(
                text.contains("millrace_log_lines_total{application=\"millrace\",log=\"bad\",result=\"dropped\"} 100"),
                text);
        assertTrue(text.contains("millrace_log_up{application=\"millrace\",log=\"bad\"} 0"), text);
        assertTrue(text.contains("millrace_log_up{application=\"millrace\",log=\"good\"} 1"), text);
        metrics.close();
    }

    @Test
    void syslogMessagesHaveHeaderAndStructuredData() throws Exception {
        try (FakeSyslog receiver = FakeSyslog.tcp(0)) {
            AccessLogs logs = start(toSyslog(receiver.address()));
            offer(logs.loopRing(), 200, "http://a.example/ \"x]\n");
            String process = String.valueOf(ProcessHandle.current().pid());
            assertEquals(
                    "<134>1 2023-11-14T22:13:20.123Z host millrace " + process
                            + " access [millrace@32473 log=\"remote\" sample=\"10\" result=\"TCP_HIT\" status=\"200\"]"
                            + " GET http://a.example/%20%22x]%0A",
                    receiver.next());
            logs.close();
        }
    }

    @Test
    void linesWaitForAReceiverThatStartsLater() throws Exception {
        int port;
        try (FakeSyslog early = FakeSyslog.tcp(0)) {
            port = early.port();
        }
        AccessLogs logs = start(toSyslog("tcp://127.0.0.1:" + port));
        offer(logs.loopRing(), 200, "http://a.example/");
        while (logger.lines().isEmpty()) {
            LockSupport.parkNanos(1_000_000);
        }
        try (FakeSyslog late = FakeSyslog.tcp(port)) {
            assertTrue(late.next().endsWith("GET http://a.example/"));
            logs.close();
        }
    }

    @Test
    void aChangeOfTheListAppliesAtOnceAndKeepsCounts() throws Exception {
        AccessLogs logs = start(log("one", "%<cquup>", null), log("two", "%<cquup>", null));
        MetricsRegistry metrics = new MetricsRegistry();
        logs.bindTo(metrics);
        AccessLogRing ring = logs.loopRing();
        offer(ring, 200, "http://a.example/1");
        logs.apply(List.of(log("one", "%<cquc>", null), log("three", "%<cquup>", null)));
        offer(ring, 200, "http://a.example/2");
        await(logs, "one", 2);
        await(logs, "three", 1);
        String text = metrics.prometheusText();
        logs.close();
        assertEquals(List.of("/1", "http://a.example/2"), lines("one"));
        assertEquals(List.of("/1"), lines("two"));
        assertEquals(List.of("/2"), lines("three"));
        assertTrue(text.contains("log=\"one\",result=\"written\"} 2"), text);
        assertTrue(!text.contains("log=\"two\"") && text.contains("log=\"three\""), text);
        metrics.close();
    }

    @Test
    void templatesOfSeveralLogsSeeTheirOwnHeaderFields() throws Exception {
        AccessLogs logs = start(
                log("one", "%<{X-One}cqh> %<{X-Both}psh>", null), log("two", "%<{X-Two}cqh> %<{X-Both}psh>", null));
        AccessLogRing ring = logs.loopRing();
        offer(ring, 200, "http://a.example/");
        await(logs, "two", 1);
        logs.apply(List.of(log("two", "%<{X-Two}cqh> %<{X-Both}psh>", null)));
        offer(ring, 200, "http://a.example/");
        logs.close();
        String one = lines("one").get(0).toLowerCase(Locale.ROOT);
        assertEquals("x-one x-both", one);
        assertEquals(
                List.of("x-two x-both", "x-two x-both"),
                lines("two").stream().map(line -> line.toLowerCase(Locale.ROOT)).toList());
    }

    @Test
    void aRecordOfAnotherSetOfTemplatesLosesItsHeaderFields() {
        LogCapture one = new LogCapture(LogCapture.Source.CLIENT_REQUEST, FieldName.REFERER, LogField.FIELD_1);
        AccessLogRing ring = new AccessLogRing(1 << 20, List.of(one), false);
        offer(ring, 200, "http://a.example/");
        ring.setOptionalTexts(List.of(), false);
        int read = ring.drain(logged -> {
            assertNull(logged.text(LogField.FIELD_1));
            assertEquals("GET", logged.text(LogField.METHOD));
            assertEquals(0, logged.originStatus());
            return true;
        });
        assertEquals(1, read);
    }

    @Test
    void aLogWithoutPathIsRefused() {
        LogOutputConfig log = new LogOutputConfig(
                "x",
                AccessLogFormat.SQUID,
                null,
                1,
                SampleBy.REQUEST,
                new LogDestination.ToFile(null, 0, Duration.ZERO, 0));
        assertThrows(IllegalArgumentException.class, () -> start(log));
    }
}
