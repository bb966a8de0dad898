package io.millrace.launcher.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.history.EventSource.Numbered;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventLogTest {
    @TempDir
    private Path directory;

    private static Event event(long atMillis, EventKind kind, String text) {
        return new Event(atMillis, kind, "subject", text);
    }

    private Path file() {
        return directory.resolve("events.jsonl");
    }

    private static List<String> texts(EventLog log) {
        return all(log).stream().map(numbered -> numbered.event().text()).toList();
    }

    private static List<Numbered> all(EventLog log) {
        return log.events(Long.MIN_VALUE, -1, Set.of(), Integer.MAX_VALUE);
    }

    @Test
    void eventsSurviveARestartWithTheirNumbers() throws IOException {
        Event hostile = new Event(1234, EventKind.PURGE, "\"a\\\u2028<b>\nÄ😀\ud800", "line\r\n\"two\"", 5);
        try (EventLog log = EventLog.open(file())) {
            log.record(event(1000, EventKind.START, "first"));
            log.record(hostile);
        }
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file())));
        try (EventLog log = EventLog.open(file())) {
            log.record(event(2000, EventKind.STOP, "third"));
            List<Numbered> events = all(log);
            assertEquals(
                    List.of(1L, 2L, 3L), events.stream().map(Numbered::number).toList());
            assertEquals(hostile, events.get(1).event());
        }
        assertEquals(3, Files.readAllLines(file()).size());
    }

    @Test
    void filtersByTimeNumberKindAndLimit() {
        try (EventLog log = EventLog.open(file())) {
            for (int i = 1; i <= 6; i++) {
                log.record(event(i * 100L, i % 2 == 0 ? EventKind.RELOAD : EventKind.ORIGIN_DOWN, "e" + i));
            }
            assertEquals(3, log.events(400, -1, Set.of(), 10).size());
            assertEquals(2, log.events(0, 4, Set.of(), 10).size());
            assertEquals(
                    List.of(4L, 6L),
                    log.events(0, -1, Set.of(EventKind.RELOAD), 2).stream()
                            .map(Numbered::number)
                            .toList());
        }
    }

    @Test
    void memoryAndFileAreBounded() throws IOException {
        int count = 5 * EventLog.EVENTS_MAX + 17;
        for (int run = 0; run < 5; run++) {
            try (EventLog log = EventLog.open(file())) {
                for (int i = 0; i < count / 5; i++) {
                    log.record(event(i, EventKind.PURGE, "e"));
                }
                assertTrue(all(log).size() <= EventLog.EVENTS_MAX);
            }
        }
        assertTrue(Files.readAllLines(file()).size() <= 2 * EventLog.EVENTS_MAX);
        try (EventLog log = EventLog.open(file())) {
            List<Numbered> kept = all(log);
            assertEquals(EventLog.EVENTS_MAX, kept.size());
            assertEquals(count / 5 * 5L, kept.get(kept.size() - 1).number());
        }
    }

    @Test
    void frequentKindsDoNotDisplaceRareOnes() throws IOException {
        for (int run = 0; run < 3; run++) {
            try (EventLog log = EventLog.open(file())) {
                if (run == 0) {
                    log.record(event(1, EventKind.WORKER_DIED, "rare"));
                }
                for (int i = 0; i < 2 * EventLog.EVENTS_MAX; i++) {
                    log.record(event(i, EventKind.PURGE, "frequent"));
                }
            }
        }
        try (EventLog log = EventLog.open(file())) {
            List<Numbered> kept = all(log);
            assertEquals(EventLog.EVENTS_MAX, kept.size());
            assertEquals(new Numbered(1, event(1, EventKind.WORKER_DIED, "rare")), kept.get(0));
            assertEquals(6L * EventLog.EVENTS_MAX + 1, kept.get(kept.size() - 1).number());
            assertEquals(5L * EventLog.EVENTS_MAX + 3, kept.get(1).number(), "the oldest purges were displaced");
        }
    }

    @Test
    void damagedLinesAreSkippedAndTheNextEventBeginsALine() throws IOException {
        try (EventLog log = EventLog.open(file())) {
            log.record(event(1, EventKind.START, "first"));
        }
        Files.writeString(
                file(),
                "{\"number\":9,\"kind\":\"of-a-later-version\",\"at\":\"2026-11-28T10:00:00Z\"}\nnothing\n{\"number\":2,\"at\":\"20",
                StandardOpenOption.APPEND);
        try (EventLog log = EventLog.open(file())) {
            assertEquals(List.of("first"), texts(log));
            log.record(event(2, EventKind.STOP, "second"));
        }
        try (EventLog log = EventLog.open(file())) {
            assertEquals(List.of("first", "second"), texts(log));
        }
    }

    @Test
    void fileThatCannotBeReadDoesNotPreventTheStart() throws IOException {
        Files.createDirectory(file());
        try (EventLog log = EventLog.open(file())) {
            log.record(event(1, EventKind.START, "first"));
            assertEquals(List.of("first"), texts(log));
        }
    }

    @Test
    void sameStateOfACertificateIsReportedOnce() {
        try (EventLog log = EventLog.open(file())) {
            log.record(event(1, EventKind.CERTIFICATE_EXPIRING, "expires in 3 days"));
            log.record(event(2, EventKind.CERTIFICATE_EXPIRING, "expires in 3 days"));
            log.record(event(3, EventKind.CERTIFICATE_EXPIRING, "expires in 2 days"));
            assertEquals(List.of("expires in 3 days", "expires in 2 days"), texts(log));
        }
    }

    @Test
    void metricCountsSuppressedEventsToo() {
        try (EventLog log = EventLog.open(file())) {
            log.record(new Event(1, EventKind.PURGE, "s", "t", 4));
            log.record(event(2, EventKind.PURGE, "t"));
            String text = log.prometheusText();
            assertTrue(text.contains("millrace_events_total{application=\"millrace\",kind=\"purge\"} 6.0\n"), text);
            assertTrue(text.contains("kind=\"worker-died\"} 0.0\n"), text);
            assertFalse(text.contains("kind=\"purge\"} 2.0"), text);
        }
    }
}
