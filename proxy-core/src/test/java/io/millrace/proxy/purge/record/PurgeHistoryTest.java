package io.millrace.proxy.purge.record;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.RecordingLogger;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Records of purges outlive the process, several of which may write them, and half a line. */
final class PurgeHistoryTest {
    private static final long NOW_MILLIS = 1_767_225_600_123L;
    private static final PurgeClient CLIENT = new PurgeClient("admin", 1000, "t", "127.0.0.1");

    @TempDir
    private Path directory;

    private final AtomicLong clock = new AtomicLong(NOW_MILLIS);

    private PurgeHistory open(int purgesKept) {
        return PurgeHistory.in(directory.resolve("purges"), () -> purgesKept, clock::get);
    }

    private PurgeRecord record(int number) {
        return PurgeRecord.done("s" + number, clock.get(), CLIENT, "host", "h" + number, null, true);
    }

    private static void add(PurgeHistory history, PurgeRecord record) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        history.add(record, Runnable::run, done::countDown);
        done.await();
    }

    @Test
    void purgesInForceAreEvents() throws Exception {
        List<Event> events = new ArrayList<>();
        try (PurgeHistory history = open(10)) {
            history.events(events::add);
            add(history, record(1));
            add(history, record(2).in(PurgeState.FAILED));
        }
        assertEquals(
                List.of(new Event(clock.get(), EventKind.PURGE, "h1", "soft purge by host, requested by token t")),
                events);
    }

    private static List<String> ids(PurgeHistory history, int count) throws IOException {
        return ids(history, null, count);
    }

    private static List<String> ids(PurgeHistory history, String before, int count) throws IOException {
        List<PurgeRecord> page = history.latest(before, count);
        return page == null ? null : page.stream().map(PurgeRecord::id).toList();
    }

    @Test
    void aRecordIsTheSameAfterARestart() throws Exception {
        PurgeRecord full = new PurgeRecord(
                "s1",
                NOW_MILLIS,
                CLIENT,
                "tag",
                "a \"tag\", ü of every site\n",
                "site.example",
                true,
                PurgeState.FAILED,
                5,
                7);
        PurgeRecord bare = PurgeRecord.done("u2", NOW_MILLIS, PurgeClient.EMBEDDED, "url", "http://h/", null, false);
        try (PurgeHistory history = open(10)) {
            add(history, full);
            add(history, bare);
        }
        try (PurgeHistory history = open(10)) {
            assertEquals(List.of(bare, full), history.latest(null, 10));
            assertEquals(full, history.find("s1"));
            assertNull(history.find("s"));
            assertNull(history.find("\""));
        }
        String lines = Files.readString(directory.resolve("purges/purges.jsonl"));
        assertTrue(lines.startsWith("{\"id\":\"s1\",\"at\":\"2026-01-01T00:00:00.123Z\",\"action\":\"purge\""), lines);
    }

    @Test
    void undoAndCountAreLinesOfTheirOwn() throws Exception {
        try (PurgeHistory history = open(10)) {
            add(history, record(1));
            add(history, record(2));
            CountDownLatch done = new CountDownLatch(1);
            history.counted("s1", 11, 12);
            history.undone("s1", CLIENT, Runnable::run, done::countDown);
            done.await();
            assertEquals(record(1).counted(11, 12).in(PurgeState.UNDONE), history.find("s1"));
            assertEquals(List.of("s2", "s1"), ids(history, 10));
        }
    }

    @ParameterizedTest(name = "{0} records, {1} kept, {2} ms apart")
    @CsvSource({"1, 1, 10", "7, 3, 10", "50, 10, 10", "1000, 10, 10", "1200, 100, 0", "1200, 150, 1000"})
    void theLatestRecordsAreKeptInALimitedNumberOfFiles(int added, int kept, int millis) throws Exception {
        try (PurgeHistory history = open(kept)) {
            for (int i = 0; i < added; i++) {
                add(history, record(i));
                clock.addAndGet(millis);
            }
            List<String> expected = new ArrayList<>();
            for (int i = added - 1; i >= Math.max(0, added - kept); i--) {
                expected.add("s" + i);
            }
            assertEquals(expected, ids(history, Integer.MAX_VALUE));
            assertEquals(expected.subList(0, 1), ids(history, 1));
        }
        try (Stream<Path> files = Files.list(directory.resolve("purges"))) {
            assertTrue(files.count() <= 6);
        }
    }

    @ParameterizedTest(name = "before {0}, limit {1}")
    @CsvSource({
        "s10, 3, s9 s8 s7",
        "s3, 9, s2",
        "s2, 9, ''",
        "s1, 9, ''",
        "s9, 0, ''",
        "s12, 1, s11",
        "s13, 1,",
        "'', 1,"
    })
    void aPageHasTheRecordsBeforeAPurge(String before, int limit, String expected) throws Exception {
        try (PurgeHistory history = open(11)) {
            for (int i = 0; i <= 12; i++) {
                add(history, record(i));
            }
            CountDownLatch done = new CountDownLatch(1);
            history.undone("s9", CLIENT, Runnable::run, done::countDown);
            done.await();
            List<String> page = ids(history, before, limit);
            assertEquals(expected, page == null ? null : String.join(" ", page));
            if (page != null && page.contains("s9")) {
                assertEquals(
                        PurgeState.UNDONE,
                        history.latest(before, limit).get(page.indexOf("s9")).state());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\ud800",
                "a\udc00b",
                "\",\"id\":\"s2\",\"x\":\"",
                "line\nfeed\r\u0000\u001b[31m\u2028",
                "{\"action\":\"undo\"}"
            })
    void hostileTextIsWrittenAsOneLineAndReadAgain(String text) throws Exception {
        String cut = "x".repeat(PurgeRecord.TARGET_LENGTH_MAX - 4) + "\ud83d\ude00 more";
        PurgeRecord hostile = PurgeRecord.done("s1", NOW_MILLIS, CLIENT, "tag", text, text, true);
        PurgeRecord isLong = PurgeRecord.done("s2", NOW_MILLIS, CLIENT, "tag", cut, null, true);
        try (PurgeHistory history = open(10)) {
            add(history, hostile);
            add(history, isLong);
            assertEquals(0, history.lost());
            assertEquals(List.of(isLong, hostile), history.latest(null, 10));
            assertEquals(hostile, history.find("s1"));
        }
        assertEquals(
                2, Files.readAllLines(directory.resolve("purges/purges.jsonl")).size());
        boolean isEncodable = StandardCharsets.UTF_8.newEncoder().canEncode(text);
        assertEquals(isEncodable, hostile.target().equals(text), hostile.target());
        assertTrue(isLong.target().endsWith("x?..."), isLong.target());
    }

    @Test
    void severalProcessesMayWriteAtTheSameTime() throws Exception {
        Set<String> expected = Collections.synchronizedSet(new HashSet<>());
        try (PurgeHistory one = open(100);
                PurgeHistory other = open(100)) {
            List<Thread> threads = new ArrayList<>();
            for (PurgeHistory history : List.of(one, other)) {
                Thread thread = new Thread(() -> {
                    for (int i = 0; i < 40; i++) {
                        String id = history.newRemovalId();
                        expected.add(id);
                        history.add(
                                PurgeRecord.done(id, clock.get(), CLIENT, "url", "u", null, false),
                                Runnable::run,
                                () -> {});
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        try (PurgeHistory history = open(100)) {
            assertEquals(80, expected.size());
            assertEquals(expected, new HashSet<>(ids(history, 100)));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'{\"id\":\"s7\",\"at\":\"20'",
        "'nonsense'",
        "'{\"id\":\"s7\",\"action\":\"count\",\"objects\":3,\"bytes\":4}\n'",
        "'[1]\n\n'",
        "'{\"id\":7}\n'"
    })
    void aLineThatCannotBeReadIsSkipped(String line) throws Exception {
        try (PurgeHistory history = open(10)) {
            add(history, record(1));
            Files.write(
                    directory.resolve("purges/purges.jsonl"),
                    line.getBytes(StandardCharsets.UTF_8),
                    StandardOpenOption.APPEND);
            add(history, record(2));
            assertEquals(List.of("s2", "s1"), ids(history, 10));
        }
    }

    @Test
    void aDeletedDirectoryIsMadeAgain() throws Exception {
        try (PurgeHistory history = open(10)) {
            add(history, record(1));
            Files.delete(directory.resolve("purges/purges.jsonl"));
            Files.delete(directory.resolve("purges/lock"));
            Files.delete(directory.resolve("purges/removals"));
            Files.delete(directory.resolve("purges"));
            add(history, record(2));
            assertEquals(List.of("s2"), ids(history, 10));
            assertEquals(0, history.lost());
        }
    }

    @Test
    void aPurgeIsAnsweredThoughItsRecordCannotBeWritten() throws Exception {
        Files.createFile(directory.resolve("purges"));
        try (PurgeHistory history = open(10)) {
            add(history, record(1));
            add(history, record(2));
            assertEquals(2, history.lost());
        }
    }

    /** Steps: f, a record cannot be written; w, a record is written; o, two records more than may wait. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "w, ''",
        "f, failed",
        "fff, failed",
        "fwf, failed failed",
        "o, overflowed",
        "of, overflowed failed",
        "foo, failed overflowed overflowed"
    })
    void aLossIsLoggedOnceWithTheFile(String steps, String expected) throws Exception {
        RecordingLogger log = new RecordingLogger();
        Path parent = directory.resolve("purges");
        String file = parent.resolve("purges.jsonl").toString();
        try (PurgeHistory history = PurgeHistory.in(parent, () -> 1 << 20, clock::get, log)) {
            for (int step : steps.chars().toArray()) {
                if (step == 'o') {
                    overflow(history);
                    continue;
                }
                if (Files.isDirectory(parent)) {
                    Files.deleteIfExists(parent.resolve("purges.jsonl"));
                    Files.deleteIfExists(parent.resolve("lock"));
                    Files.deleteIfExists(parent.resolve("removals"));
                }
                Files.deleteIfExists(parent);
                if (step == 'f') {
                    Files.createFile(parent);
                }
                add(history, record(1));
            }
            assertEquals(file, history.toString());
        }
        List<String> lines = new ArrayList<>();
        for (String word : expected.isEmpty() ? new String[0] : expected.split(" ", -1)) {
            lines.add(
                    word.equals("failed")
                            ? "ERROR " + file + ": records of purges cannot be written; the purges are in force: "
                                    + "java.nio.file.FileAlreadyExistsException: " + parent
                            : "ERROR " + file + ": too many records of purges wait to be written: limit="
                                    + PurgeHistory.WAITING_MAX);
        }
        assertEquals(lines, log.lines());
    }

    /** Adds two records more than may wait while the writer is busy, and waits until the others are written. */
    private void overflow(PurgeHistory history) throws InterruptedException {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        history.add(
                record(0),
                reply -> {
                    busy.countDown();
                    awaitUninterrupted(goOn);
                },
                () -> {});
        busy.await();
        long lost = history.lost();
        CountDownLatch written = new CountDownLatch(PurgeHistory.WAITING_MAX + 2);
        for (int i = 0; i < PurgeHistory.WAITING_MAX + 2; i++) {
            history.add(record(1), Runnable::run, written::countDown);
        }
        assertEquals(lost + 2, history.lost());
        goOn.countDown();
        written.await();
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest(name = "{0} purges, {1} kept")
    @CsvSource({"1, 1", "3, 2", "3, 10", "25, 10"})
    void withoutADirectoryRecordsAreInMemory(int added, int kept) throws Exception {
        PurgeHistory history = PurgeHistory.in(null, () -> kept, clock::get);
        List<PurgeRecord> expected = new ArrayList<>();
        for (int i = 0; i < added; i++) {
            add(history, record(i));
            history.counted("s" + i, 11, 12);
            history.undone("s" + i, CLIENT, Runnable::run, () -> {});
            expected.add(0, record(i).counted(11, 12).in(PurgeState.UNDONE));
        }
        assertEquals(expected.subList(0, Math.min(added, kept)), history.latest(null, 100));
        assertEquals("memory", history.toString());
    }

    @Test
    void identifiersRiseAndThoseOfTwoProcessesDiffer() {
        PurgeId one = new PurgeId('u', clock::get);
        String first = one.next();
        assertNotEquals(first, one.next());
        assertEquals('u', first.charAt(0));
        assertEquals(12_345L, PurgeId.stamp(PurgeId.ofStamp(12_345L)));
        for (String none : List.of("", "s", "u1", "s!", "s-1", "s1y2p0ij32e8e7000")) {
            assertEquals(0, PurgeId.stamp(none), none);
        }
        assertNotNull(new PurgeId('d', clock::get).next());
    }
}
