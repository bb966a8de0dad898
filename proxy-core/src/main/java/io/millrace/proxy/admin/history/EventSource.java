package io.millrace.proxy.admin.history;

import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import java.util.List;
import java.util.Set;

/** The events that the proxy has stored. Thread-safe; does not block. */
@FunctionalInterface
public interface EventSource {
    /**
     * An event with its number. Immutable.
     *
     * @param number rises by one with every event, also across restarts
     */
    record Numbered(long number, Event event) {}

    /**
     * Returns the latest events, oldest first.
     *
     * @param sinceMillis only events at this time or later, epoch milliseconds
     * @param after only events with a higher number
     * @param kinds only these kinds; empty for all
     * @param limit limit of the result; earlier events are left out
     */
    List<Numbered> events(long sinceMillis, long after, Set<EventKind> kinds, int limit);
}
