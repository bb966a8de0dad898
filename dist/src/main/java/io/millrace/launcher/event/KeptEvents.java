package io.millrace.launcher.event;

import io.millrace.proxy.admin.history.EventSource.Numbered;
import io.millrace.proxy.observe.event.EventKind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * A bounded collection of events in which rare kinds remain. When it is full, an added event displaces the oldest
 * event of the kind with the most events. Not thread-safe.
 */
final class KeptEvents {
    private final int eventsMax;
    private final Map<EventKind, Deque<Numbered>> byKind = new EnumMap<>(EventKind.class);
    private int size;

    /** @param eventsMax number of events that are kept, at least 1 */
    KeptEvents(int eventsMax) {
        this.eventsMax = eventsMax;
    }

    /** Adds an event, whose number must be higher than the numbers of the events before. */
    void add(Numbered event) {
        byKind.computeIfAbsent(event.event().kind(), kind -> new ArrayDeque<>()).add(event);
        size++;
        if (size > eventsMax) {
            mostFrequent().remove();
            size--;
        }
    }

    /** Returns the events of the kind with the most events; of two such kinds, the one with the older event. */
    private Deque<Numbered> mostFrequent() {
        Deque<Numbered> found = new ArrayDeque<>();
        for (Deque<Numbered> events : byKind.values()) {
            boolean isOlder = events.size() == found.size()
                    && events.element().number() < found.element().number();
            if (events.size() > found.size() || isOlder) {
                found = events;
            }
        }
        return found;
    }

    /** Returns a copy of all events, oldest first. */
    List<Numbered> all() {
        List<Numbered> all = new ArrayList<>(size);
        byKind.values().forEach(all::addAll);
        all.sort(Comparator.comparingLong(Numbered::number));
        return all;
    }

    /** Returns a copy of the events of a kind, oldest first. */
    List<Numbered> of(EventKind kind) {
        Deque<Numbered> events = byKind.get(kind);
        return events == null ? List.of() : List.copyOf(events);
    }
}
