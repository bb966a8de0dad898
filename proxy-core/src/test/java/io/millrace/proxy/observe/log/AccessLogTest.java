package io.millrace.proxy.observe.log;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.RecordingLogger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the access log as in the proxy: with its own thread, the real clock and several event loops. */
class AccessLogTest {
    @TempDir
    Path directory;

    private final FaultLog faults = new FaultLog(new RecordingLogger(), Long.MAX_VALUE, System::nanoTime);

    @Test
    void writtenPlusDroppedIsTheOfferedNumber() throws InterruptedException, IOException {
        Path file = directory.resolve("access.log");
        AccessLog log = AccessLog.start(AccessLogConfig.toFile(file, AccessLogFormat.COMBINED), faults);
        int offeredByEach = 50_000;
        List<Thread> loops = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            AccessLogRing ring = log.loopRing();
            loops.add(new Thread(() -> offer(ring, offeredByEach)));
        }
        for (Thread loop : loops) {
            loop.start();
        }
        for (Thread loop : loops) {
            loop.join();
        }
        log.close();

        assertEquals(3L * offeredByEach, log.recordsOffered());
        assertEquals(log.recordsOffered(), log.recordsWritten() + log.recordsDropped());
        try (var lines = Files.lines(file)) {
            assertEquals(log.recordsWritten(), lines.count());
        }
        assertTrue(log.recordsWritten() > 0);
    }

    @Test
    void linesAppearWithoutFurtherTraffic() throws IOException {
        Path file = directory.resolve("access.log");
        try (AccessLog log = AccessLog.start(AccessLogConfig.toFile(file, AccessLogFormat.SQUID), faults)) {
            offer(log.loopRing(), 1);
            await().until(() -> log.recordsWritten() == 1);
            assertEquals(1, Files.readAllLines(file).size());
        }
    }

    @Test
    void reopenIsTakenOverByTheWriter() throws IOException {
        Path file = directory.resolve("access.log");
        try (AccessLog log = AccessLog.start(AccessLogConfig.toFile(file, AccessLogFormat.SQUID), faults)) {
            AccessLogRing ring = log.loopRing();
            offer(ring, 1);
            await().until(() -> log.recordsWritten() == 1);
            Files.move(file, directory.resolve("moved"));
            log.reopen();
            await().until(() -> Files.exists(file));
            offer(ring, 1);
            await().until(() -> log.recordsWritten() == 2);
            assertEquals(1, Files.readAllLines(file).size());
        }
    }

    @Test
    void closeDoesNotWaitForAFileThatCannotBeWritten() throws IOException {
        Path nowhere = Files.createFile(directory.resolve("file")).resolve("access.log");
        AccessLog log = AccessLog.start(AccessLogConfig.toFile(nowhere, AccessLogFormat.SQUID), faults);
        offer(log.loopRing(), 100);
        log.close();

        assertEquals(100, log.recordsDropped());
        assertEquals(0, log.recordsWritten());
    }

    @Test
    void itsCountsAreAmongTheMetrics() {
        Path file = directory.resolve("access.log");
        try (AccessLog log = AccessLog.start(AccessLogConfig.toFile(file, AccessLogFormat.SQUID), faults);
                MetricsRegistry metrics = new MetricsRegistry()) {
            log.bindTo(metrics);
            offer(log.loopRing(), 3);
            await().until(() -> metrics.prometheusText()
                    .contains("millrace_access_log_records_total{application=\"millrace\",result=\"written\"} 3.0"));
        }
    }

    @Test
    void refusesAConfigurationOutOfBounds() {
        Path file = directory.resolve("access.log");
        AccessLogFormat format = AccessLogFormat.SQUID;
        int ringBytes = AccessLogConfig.DEFAULT_RING_BYTES;
        assertThrows(
                IllegalArgumentException.class,
                () -> new AccessLogConfig(file, format, -1, Duration.ZERO, 0, ringBytes));
        assertThrows(
                IllegalArgumentException.class,
                () -> new AccessLogConfig(file, format, 0, Duration.ofSeconds(-1), 0, ringBytes));
        assertThrows(
                IllegalArgumentException.class,
                () -> new AccessLogConfig(file, format, 0, Duration.ZERO, -1, ringBytes));
        assertThrows(
                IllegalArgumentException.class, () -> new AccessLogConfig(file, format, 0, Duration.ZERO, 0, 1024));
    }

    private static void offer(AccessLogRing ring, int count) {
        for (int i = 0; i < count; i++) {
            AccessLogRecord entry = ring.claim();
            if (entry != null) {
                LogRecords.fillHit(entry);
                ring.publish();
            }
        }
    }
}
