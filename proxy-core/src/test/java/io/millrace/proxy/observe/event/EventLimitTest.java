package io.millrace.proxy.observe.event;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EventLimitTest {
    private final List<Event> passed = new ArrayList<>();
    private long nanos = Long.MAX_VALUE - 5;
    private final EventLimit limit = new EventLimit(passed::add, () -> nanos);

    private void record(EventKind kind, int times) {
        for (int i = 0; i < times; i++) {
            limit.record(new Event(0, kind, "s", "t"));
        }
    }

    @Test
    void eventsOfOneKindDoNotDisplaceOthers() {
        record(EventKind.PURGE, 1000);
        record(EventKind.ORIGIN_DOWN, 1);
        assertEquals(EventLimit.EVENTS_PER_MINUTE + 1, passed.size());
    }

    @Test
    void nextEventHasTheNumberOfSuppressedOnes() {
        record(EventKind.PURGE, EventLimit.EVENTS_PER_MINUTE + 7);
        nanos += TimeUnit.MINUTES.toNanos(1);
        record(EventKind.PURGE, 2);
        assertEquals(7, passed.get(EventLimit.EVENTS_PER_MINUTE).more());
        assertEquals(0, passed.get(EventLimit.EVENTS_PER_MINUTE + 1).more());
    }

    @Test
    void textsAreBoundedAndInOneLine() {
        Event event = new Event(0, EventKind.PURGE, "a".repeat(1000), "b\nc\ud800" + "d".repeat(2000));
        assertEquals(Event.SUBJECT_LENGTH_MAX, event.subject().length());
        assertEquals(Event.TEXT_LENGTH_MAX, event.text().length());
        assertFalse(event.text().contains("\n"));
    }

    @Test
    void everyKindHasAName() {
        for (EventKind kind : EventKind.values()) {
            assertEquals(kind, EventKind.of(kind.word()));
        }
        assertEquals(null, EventKind.of("nothing"));
    }
}
