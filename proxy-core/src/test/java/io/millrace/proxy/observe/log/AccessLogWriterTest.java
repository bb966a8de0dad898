package io.millrace.proxy.observe.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.RecordingLogger;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the writer step by step, with a clock that the test sets. */
class AccessLogWriterTest {
    private static final long HOUR_MILLIS = Duration.ofHours(1).toMillis();

    @TempDir
    Path directory;

    private final AtomicLong clock = new AtomicLong(Duration.ofDays(20_000).toMillis());
    private final RecordingLogger logger = new RecordingLogger();
    private final FaultLog faults = new FaultLog(logger, Long.MAX_VALUE, () -> 0);

    @Test
    void appendsWholeLinesToAnExistingFile() throws IOException {
        Files.writeString(file(), "a line of yesterday\n");
        AccessLogWriter writer = writer(config());
        AccessLogRing ring = writer.newRing();
        offer(ring, 1);
        offer(ring, 2);

        assertTrue(writer.writeOnce());
        assertFalse(writer.writeOnce());
        assertEquals(List.of("a line of yesterday", line(1), line(2)), Files.readAllLines(file()));
        assertEquals(2, writer.written());
        writer.finish();
    }

    @Test
    void readsTheRingsOfAllLoops() throws IOException {
        AccessLogWriter writer = writer(config());
        List<AccessLogRing> rings = List.of(writer.newRing(), writer.newRing(), writer.newRing());
        for (int i = 0; i < 30; i++) {
            offer(rings.get(i % 3), i);
        }
        writer.finish();

        assertEquals(30, Files.readAllLines(file()).size());
        assertEquals(30, writer.written());
        assertEquals(30, writer.offered());
    }

    @Test
    void aBusyLoopDoesNotKeepTheOthersFromTheLog() throws IOException {
        AccessLogWriter writer = writer(config());
        AccessLogRing busy = writer.newRing();
        AccessLogRing quiet = writer.newRing();
        offer(quiet, 77);
        for (int turn = 0; turn < 2; turn++) {
            while (tryOffer(busy, 1)) {
                // until it is full
            }
            writer.writeOnce();
        }

        assertTrue(Files.readAllLines(file()).contains(line(77)));
        writer.finish();
    }

    @Test
    void rotatesBySizeAndKeepsTheNewest() throws IOException {
        AccessLogWriter writer = writer(config().withRotation(80, Duration.ZERO, 2));
        AccessLogRing ring = writer.newRing();
        for (int i = 0; i < 5; i++) {
            offer(ring, i);
            offer(ring, i);
            writer.writeOnce();
            clock.addAndGet(1000);
        }
        writer.finish();

        List<Path> rotated = rotated();
        assertEquals(2, rotated.size(), rotated::toString);
        assertEquals(List.of(line(2), line(2)), Files.readAllLines(rotated.get(0)));
        assertEquals(List.of(line(3), line(3)), Files.readAllLines(rotated.get(1)));
        assertEquals(List.of(line(4), line(4)), Files.readAllLines(file()));
        assertEquals(10, writer.written());
    }

    @Test
    void rotationsWithinOneSecondGetNamesOfTheirOwn() throws IOException {
        AccessLogWriter writer = writer(config().withRotation(1, Duration.ZERO, 0));
        AccessLogRing ring = writer.newRing();
        for (int i = 0; i < 4; i++) {
            offer(ring, i);
            writer.writeOnce();
        }
        writer.finish();

        List<String> names = new ArrayList<>();
        for (Path one : rotated()) {
            names.add(one.getFileName().toString());
        }
        assertEquals(
                List.of(
                        "access.log.20241004T000000Z",
                        "access.log.20241004T000000Z-1",
                        "access.log.20241004T000000Z-2"),
                names);
    }

    @Test
    void rotatesByTimeAtMultiplesOfTheInterval() throws IOException {
        AccessLogWriter writer = writer(config().withRotation(0, Duration.ofHours(1), 0));
        AccessLogRing ring = writer.newRing();
        offer(ring, 1);
        writer.writeOnce();
        clock.addAndGet(HOUR_MILLIS - 1);
        offer(ring, 2);
        writer.writeOnce();
        assertEquals(List.of(), rotated());
        clock.addAndGet(1);
        offer(ring, 3);
        writer.writeOnce();
        writer.finish();

        assertEquals(List.of(line(1), line(2)), Files.readAllLines(rotated().get(0)));
        assertEquals(List.of(line(3)), Files.readAllLines(file()));
    }

    @Test
    void anIdleLogIsRotatedTooButNeverAnEmptyFile() throws IOException {
        AccessLogWriter writer = writer(config().withRotation(0, Duration.ofHours(1), 0));
        AccessLogRing ring = writer.newRing();
        offer(ring, 1);
        writer.writeOnce();
        for (int hour = 0; hour < 3; hour++) {
            clock.addAndGet(HOUR_MILLIS);
            writer.writeOnce();
        }
        writer.finish();

        assertEquals(1, rotated().size());
        assertEquals(0, Files.size(file()));
    }

    @Test
    void aFileOfAnEarlierIntervalIsRotatedAtTheStart() throws IOException {
        Files.writeString(file(), "a line of yesterday\n");
        Files.setLastModifiedTime(file(), FileTime.fromMillis(clock.get() - 24 * HOUR_MILLIS));
        AccessLogWriter writer = writer(config().withRotation(0, Duration.ofHours(1), 0));
        offer(writer.newRing(), 1);
        writer.finish();

        assertEquals(
                List.of("a line of yesterday"), Files.readAllLines(rotated().get(0)));
        assertEquals(List.of(line(1)), Files.readAllLines(file()));
    }

    @Test
    void countsCompressedFilesAndLeavesStrangersAlone() throws IOException {
        for (String name : List.of(
                "access.log.20200101T000000Z.gz",
                "access.log.20200101T000000Z-10.zst",
                "access.log.20200101T000000Z-9",
                "access.log.20210101T000000Z",
                "access.log.1",
                "access.log.20200101T000000Z.txt",
                "access.log.20200101T000000Z-",
                "other.log.20200101T000000Z")) {
            Files.writeString(directory.resolve(name), "x\n");
        }
        AccessLogWriter writer = writer(config().withRotation(1, Duration.ZERO, 3));
        AccessLogRing ring = writer.newRing();
        offer(ring, 1);
        writer.writeOnce();
        offer(ring, 2);
        writer.writeOnce();
        writer.finish();

        assertEquals(
                List.of(
                        "access.log",
                        "access.log.1",
                        "access.log.20200101T000000Z-",
                        "access.log.20200101T000000Z-10.zst",
                        "access.log.20200101T000000Z.txt",
                        "access.log.20210101T000000Z",
                        "access.log.20241004T000000Z",
                        "other.log.20200101T000000Z"),
                names());
    }

    @Test
    void reopensOnRequestAfterARename() throws IOException {
        AccessLogWriter writer = writer(config());
        AccessLogRing ring = writer.newRing();
        offer(ring, 1);
        writer.writeOnce();
        Files.move(file(), directory.resolve("moved"));
        offer(ring, 2);
        writer.writeOnce();
        writer.requestReopen();
        offer(ring, 3);
        writer.finish();

        assertEquals(List.of(line(1), line(2)), Files.readAllLines(directory.resolve("moved")));
        assertEquals(List.of(line(3)), Files.readAllLines(file()));
    }

    @Test
    void followsARenameBySomebodyElseWithinASecond() throws IOException {
        AccessLogWriter writer = writer(config());
        AccessLogRing ring = writer.newRing();
        offer(ring, 1);
        writer.writeOnce();
        Files.move(file(), directory.resolve("moved"));
        clock.addAndGet(FileTarget.CHECK_INTERVAL_MILLIS);
        offer(ring, 2);
        writer.finish();

        assertEquals(List.of(line(1)), Files.readAllLines(directory.resolve("moved")));
        assertEquals(List.of(line(2)), Files.readAllLines(file()));
    }

    @Test
    void aWorkerAndItsSuccessorShareTheLogAcrossARotation() throws IOException {
        AccessLogConfig config = config().withRotation(80, Duration.ZERO, 0);
        AccessLogWriter old = writer(config);
        AccessLogWriter successor = writer(config);
        AccessLogRing oldRing = old.newRing();
        AccessLogRing newRing = successor.newRing();
        for (int i = 0; i < 20; i++) {
            offer(oldRing, i);
            offer(newRing, i);
            old.writeOnce();
            successor.writeOnce();
            clock.addAndGet(FileTarget.CHECK_INTERVAL_MILLIS);
        }
        old.finish();
        successor.finish();

        List<String> lines = new ArrayList<>(Files.readAllLines(file()));
        for (Path one : rotated()) {
            lines.addAll(Files.readAllLines(one));
            assertTrue(Files.size(one) >= 80, "rotated too early: " + one);
        }
        assertEquals(40, lines.size());
        for (int i = 0; i < 20; i++) {
            String wanted = line(i);
            assertEquals(2, lines.stream().filter(wanted::equals).count());
        }
    }

    @Test
    void aDirectoryThatCannotBeMadeIsReportedOnceAndTheLinesWaitForIt() throws IOException {
        Path later = Files.createFile(directory.resolve("later"));
        AccessLogWriter writer = writer(AccessLogConfig.toFile(later.resolve("access.log"), AccessLogFormat.SQUID));
        AccessLogRing ring = writer.newRing();
        for (int i = 0; i < 10; i++) {
            offer(ring, i);
            assertFalse(writer.writeOnce());
            clock.addAndGet(AccessLogWriter.RETRY_MILLIS);
        }
        assertEquals(1, logger.lines().size(), logger.lines()::toString);
        assertTrue(logger.lines().get(0).contains("access log cannot be written"));

        Files.delete(later);
        assertTrue(writer.writeOnce());
        writer.finish();
        assertEquals(10, Files.readAllLines(later.resolve("access.log")).size());
        assertEquals(0, writer.dropped());
    }

    @Test
    void aVanishedDirectoryIsMadeAgain() throws IOException {
        AccessLogWriter writer = writer(config());
        AccessLogRing ring = writer.newRing();
        offer(ring, 1);
        writer.writeOnce();
        Files.delete(file());
        Files.delete(directory);
        clock.addAndGet(FileTarget.CHECK_INTERVAL_MILLIS);
        offer(ring, 2);
        assertTrue(writer.writeOnce());
        writer.finish();

        assertEquals(List.of(line(2)), Files.readAllLines(file()));
        assertEquals(0, faults.total());
    }

    @Test
    void aFullDiskCostsABoundedAmountOfMemoryAndEveryRecordIsAccountedFor() {
        Path full = Path.of("/dev/full");
        assumeTrue(Files.isWritable(full), "no /dev/full");
        AccessLogWriter writer = writer(AccessLogConfig.toFile(full, AccessLogFormat.SQUID));
        AccessLogRing ring = writer.newRing();
        int offered = 50_000;
        for (int i = 0; i < offered; i++) {
            tryOffer(ring, i);
            if (i % 1000 == 0) {
                writer.writeOnce();
                clock.addAndGet(AccessLogWriter.RETRY_MILLIS);
            }
        }
        assertEquals(0, writer.written());
        assertTrue(writer.dropped() > 0);
        writer.finish();

        assertEquals(offered, writer.offered());
        assertEquals(offered, writer.dropped());
        assertEquals(1, logger.lines().size(), logger.lines()::toString);
    }

    @Test
    void aFileGrowsAfterAFailedRotation() throws IOException {
        AccessLogWriter writer = writer(config().withRotation(1, Duration.ZERO, 0));
        AccessLogRing ring = writer.newRing();
        for (int number = 0; number < 1000; number++) {
            String suffix = number == 0 ? "" : "-" + number;
            Files.createDirectory(directory.resolve("access.log.20241004T000000Z" + suffix));
        }
        for (int i = 0; i < 3; i++) {
            offer(ring, i);
            writer.writeOnce();
        }
        assertEquals(3, Files.readAllLines(file()).size());
        assertEquals(1, faults.total());

        clock.addAndGet(FileTarget.ROTATION_RETRY_MILLIS);
        offer(ring, 4);
        writer.finish();
        assertEquals(List.of(line(4)), Files.readAllLines(file()));
    }

    private AccessLogWriter writer(AccessLogConfig config) {
        return new AccessLogWriter(config, faults, clock::get);
    }

    private AccessLogConfig config() {
        return AccessLogConfig.toFile(file(), AccessLogFormat.SQUID);
    }

    private Path file() {
        return directory.resolve("access.log");
    }

    private static void offer(AccessLogRing ring, int number) {
        assertTrue(tryOffer(ring, number), "the ring is full");
    }

    private static boolean tryOffer(AccessLogRing ring, int number) {
        AccessLogRecord entry = ring.claim();
        if (entry == null) {
            return false;
        }
        entry.text(LogField.URL, "http://h/").sentBytes(0, number);
        ring.publish();
        return true;
    }

    private static String line(int number) {
        return "0.000 0 - NONE/000 " + number + " - http://h/ - NONE/- -";
    }

    private List<Path> rotated() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(one -> !one.equals(file())).sorted().toList();
        }
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(one -> one.getFileName().toString()).sorted().toList();
        }
    }
}
