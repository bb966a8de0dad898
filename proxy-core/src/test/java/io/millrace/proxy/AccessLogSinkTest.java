package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.LogKeys;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFields;
import io.millrace.proxy.observe.log.output.LogDestination;
import io.millrace.proxy.spi.log.AccessLogSink;
import io.millrace.proxy.spi.log.AccessRecord;
import io.millrace.proxy.spi.log.AccessRecords;
import io.millrace.proxy.spi.log.AccessText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests extensions that receive access records: their values, their selection, and slow and failing ones. */
class AccessLogSinkTest {
    @TempDir
    private Path directory;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    /** The values of a record as one text. */
    private static String line(AccessRecord record) {
        return record.text(AccessText.METHOD) + " " + record.text(AccessText.URL) + " " + record.status() + " "
                + record.originStatus() + " " + record.cacheResult() + " " + record.bodyBytes();
    }

    private static class Keeping extends TestExtension implements AccessLogSink {
        final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

        @Override
        public void records(AccessRecords records) throws Exception {
            for (AccessRecord record = records.next(); record != null; record = records.next()) {
                lines.add(line(record));
            }
        }

        String next() throws InterruptedException {
            return String.valueOf(lines.poll(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS));
        }
    }

    private static ConfigValues.Builder log(String name) {
        return ConfigValues.builder().set(LogKeys.NAME, name).set(LogKeys.TARGET, target("extension:test"));
    }

    private static LogDestination.Target target(String text) {
        LogDestination.Target target = LogDestination.Target.of(text);
        assertNotNull(target);
        return target;
    }

    private void start(TestExtension extension, ConfigValues... logs) throws IOException {
        proxy.with(extension.entry());
        proxy.start(
                request -> {
                    if (request.has(" /missing")) {
                        request.send("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone");
                    } else {
                        request.ok("Cache-Control: max-age=600\r\nContent-Type: text/plain\r\n", new byte[10]);
                    }
                },
                config -> {
                    for (ConfigValues log : logs) {
                        config.accessLog(log);
                    }
                    return config;
                });
    }

    private long metric(String name, String... labels) {
        return proxy.proxy()
                .metricsText()
                .lines()
                .filter(line ->
                        line.startsWith(name + "{") && List.of(labels).stream().allMatch(line::contains))
                .mapToLong(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    private long lines(String log, String result) {
        return metric("millrace_log_lines_total", "\"" + log + "\"", "\"" + result + "\"");
    }

    @Test
    void anExtensionWithoutALogGetsTheRecordsOfAllRequests() throws Exception {
        Keeping keeping = new Keeping();
        start(keeping);
        proxy.getAndSettle("/a");
        assertEquals("GET http://test.example/a 200 200 uri-miss 10", keeping.next());
        proxy.get("/a");
        assertEquals("GET http://test.example/a 200 0 hit 10", keeping.next());
        proxy.get("/missing");
        assertEquals("GET http://test.example/missing 404 404 uri-miss 4", keeping.next());
    }

    private static final class Reading extends TestExtension implements AccessLogSink {
        final BlockingQueue<List<Object>> seen = new LinkedBlockingQueue<>();
        volatile AccessRecords kept;
        volatile AccessRecord keptRecord;

        @Override
        public void records(AccessRecords records) throws Exception {
            assertEquals(1, records.size());
            AccessRecord record = records.next();
            assertNotNull(record);
            ByteBuffer bytes = record.bytes(AccessText.USER_AGENT);
            assertNotNull(bytes);
            assertTrue(bytes.isReadOnly());
            seen.add(List.of(
                    String.valueOf(record.clientAddress()),
                    String.valueOf(record.protocol()),
                    StandardCharsets.ISO_8859_1.decode(bytes).toString(),
                    String.valueOf(record.text(AccessText.CONTENT_TYPE)),
                    String.valueOf(record.text(AccessText.TLS_VERSION)),
                    record.bytes(AccessText.DETAIL) == null,
                    record.isTruncated(AccessText.USER_AGENT),
                    record.isSecure(),
                    record.isCollapsed(),
                    record.sampleRate(),
                    record.receivedAtMillis(),
                    record.durationNanos() > 0 && record.headBytes() > 20,
                    record.resultCode()));
            assertNull(records.next());
            kept = records;
            keptRecord = record;
        }
    }

    @Test
    void aRecordHasTheValuesOfItsRequestDuringTheCallOnly() throws Exception {
        Reading reading = new Reading();
        start(reading);
        proxy.get("/a", "User-Agent: some one\r\n");
        List<Object> seen = reading.seen.poll(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS);
        assertEquals(
                List.of(
                        "/127.0.0.1",
                        "http/1.1",
                        "some one",
                        "text/plain",
                        "null",
                        true,
                        false,
                        false,
                        false,
                        1,
                        ProxyExtension.START_MILLIS,
                        true,
                        "TCP_MISS"),
                seen);
        ProxyExtension.await("the end of the call", () -> lines("extension:test", "written") == 1);
        assertThrows(IllegalStateException.class, reading.kept::next);
        assertThrows(IllegalStateException.class, reading.keptRecord::status);
    }

    @Test
    void aTruncatedTextIsMarked() throws Exception {
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        class Lengths extends TestExtension implements AccessLogSink {
            @Override
            public void records(AccessRecords records) {
                for (AccessRecord record = records.next(); record != null; record = records.next()) {
                    ByteBuffer agent = record.bytes(AccessText.USER_AGENT);
                    seen.add((agent == null ? -1 : agent.remaining()) + " " + record.isTruncated(AccessText.USER_AGENT)
                            + " " + record.isTruncated(AccessText.URL));
                }
            }
        }
        start(new Lengths());
        proxy.get("/a", "User-Agent: " + "x".repeat(600) + "\r\n");
        assertEquals("512 true false", seen.poll(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS));
    }

    @Test
    void filterAndSampleSelectRecords() throws Exception {
        Keeping keeping = new Keeping();
        start(
                keeping,
                log("errors")
                        .set(LogKeys.FILTER, Expression.parse("status >= 400", LoggedFields.SCHEMA))
                        .build());
        proxy.get("/a");
        proxy.get("/missing");
        assertEquals("GET http://test.example/missing 404 404 uri-miss 4", keeping.next());
        assertEquals(1, lines("errors", "filtered"));
        assertEquals(0, lines("extension:test", "written"));
    }

    @Test
    void aSampledLogTellsItsRate() throws Exception {
        BlockingQueue<Integer> rates = new LinkedBlockingQueue<>();
        class Rates extends TestExtension implements AccessLogSink {
            @Override
            public void records(AccessRecords records) {
                for (AccessRecord record = records.next(); record != null; record = records.next()) {
                    rates.add(record.sampleRate());
                }
            }
        }
        start(new Rates(), log("some").set(LogKeys.SAMPLE, 3).build());
        for (int i = 0; i < 4; i++) {
            proxy.get("/a");
        }
        assertEquals(3, rates.poll(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS));
        assertEquals(3, rates.poll(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS));
        assertEquals(2, lines("some", "sampled_out"));
    }

    /** After a failed call, later records are passed; other logs are complete. */
    @Test
    void theRecordsOfAFailedCallAreLostAndCounted() throws Exception {
        Keeping failing = new Keeping() {
            private boolean failed;

            @Override
            public void records(AccessRecords records) throws Exception {
                if (!failed) {
                    failed = true;
                    throw new IOException("a full table");
                }
                super.records(records);
            }
        };
        Path file = directory.resolve("all.log");
        start(
                failing,
                log("sink").build(),
                ConfigValues.builder()
                        .set(LogKeys.NAME, "all")
                        .set(LogKeys.PATH, file)
                        .build());
        proxy.get("/lost");
        ProxyExtension.await("the failure", () -> lines("sink", "dropped") == 1);
        assertEquals(1, metric("millrace_extension_failures_total", "access_log", "exception"));
        assertTrue(String.valueOf(proxy.proxy().logFailures()).contains("1 records were lost"));
        proxy.get("/later");
        assertTrue(failing.next().contains("/later"));
        ProxyExtension.await("the success", () -> lines("sink", "written") == 1);
        assertEquals(0, proxy.proxy().logFailures().size());
        proxy.proxy().close();
        assertEquals(2, Files.readAllLines(file).size());
    }

    /** Clients are served while the receiver does not return, and each record counts once. */
    @Test
    void aBlockedReceiverDelaysNoRequest() throws Exception {
        int requests = 1000;
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        Keeping blocked = new Keeping() {
            @Override
            public void records(AccessRecords records) throws Exception {
                entered.countDown();
                released.await();
                super.records(records);
            }
        };
        start(blocked);
        String path = "/a?" + "x".repeat(3500);
        try (RawClient client = new RawClient(proxy.address())) {
            client.get(path).response();
            assertTrue(entered.await(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS));
            for (int i = 1; i < requests; i++) {
                assertEquals(200, client.get(path).response().status());
            }
        }
        ProxyExtension.await("a full queue", () -> lines("extension:test", "dropped") > 0);
        assertEquals(0, lines("extension:test", "written"));
        released.countDown();
        ProxyExtension.await(
                "the rest",
                () -> lines("extension:test", "written")
                                + lines("extension:test", "dropped")
                                + metric("millrace_access_log_records_total", "dropped")
                        == requests);
        assertEquals(blocked.lines.size(), lines("extension:test", "written"));
    }

    @Test
    void theLastRecordsArePassedBeforeTheExtensionIsClosed() throws Exception {
        Keeping keeping = new Keeping() {
            @Override
            public void records(AccessRecords records) throws Exception {
                assertFalse(isClosed());
                super.records(records);
            }
        };
        start(keeping);
        proxy.get("/a");
        proxy.proxy().close();
        assertEquals(1, keeping.lines.size());
        assertTrue(keeping.isClosed());
    }

    @Test
    void aTargetThatNoExtensionHasIsRefusedAtTheStart() {
        TestExtension other = new TestExtension();
        IOException refused = assertThrows(IOException.class, () -> start(other, log("a").build()));
        assertEquals(
                "log.access: a: no extension named test implements AccessLogSink; extensions that implement it: []",
                refused.getMessage());
        assertTrue(other.isClosed());
    }

    /** A live change to an unknown target makes the log fail, and the proxy continues. */
    @Test
    void aTargetThatNoExtensionHasIsReportedAfterAReload() throws Exception {
        Keeping keeping = new Keeping();
        start(keeping, log("a").build());
        proxy.reload(config -> config.accessLog(ConfigValues.builder()
                .set(LogKeys.NAME, "a")
                .set(LogKeys.TARGET, target("extension:other"))
                .build()));
        proxy.get("/a");
        ProxyExtension.await("the fault", () -> proxy.proxy().logFailures().containsKey("a"));
        assertTrue(String.valueOf(proxy.proxy().logFailures()).contains("no open extension"));
        // Without a log that names it, the extension gets all records again.
        assertTrue(keeping.next().contains("/a"));
    }

    /** A single log is written as before. */
    @Test
    void theSingleLogIsWrittenBesideAnExtension() throws Exception {
        Path file = directory.resolve("access.log");
        Keeping keeping = new Keeping();
        proxy.with(keeping.entry());
        proxy.start(request -> request.ok("", new byte[1]), config -> config.set("log.access.enabled", "true")
                .set("log.access.path", file.toString()));
        proxy.get("/a");
        assertTrue(keeping.next().contains("/a"));
        proxy.reload(config -> config.set("log.access.enabled", "true").set("log.access.path", file.toString()));
        proxy.get("/b");
        assertTrue(keeping.next().contains("/b"));
        proxy.proxy().close();
        List<String> lines = Files.readAllLines(file);
        assertEquals(2, lines.size());
        assertTrue(lines.get(0).contains("TCP_MISS/200"), lines::toString);
    }
}
