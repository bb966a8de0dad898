package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests when lookups that wait for an index are retried. */
class WaitingLookupsTest {
    private final Housekeeping housekeeping = new Housekeeping();
    private final WaitingOpens waiting = new WaitingOpens(housekeeping, TimeUnit.MINUTES.toNanos(5));
    private final List<String> events = new ArrayList<>();

    @AfterEach
    void stop() {
        housekeeping.close();
    }

    private boolean add(String name, long changesAtBegin) {
        return waiting.add(
                waiting.deadlineNanos(),
                changesAtBegin,
                () -> events.add("retry " + name),
                () -> events.add("give up " + name));
    }

    @Test
    void aLookupIsRetriedWhenAnIndexChanges() {
        assertTrue(add("a", waiting.indexChanges()));
        assertEquals(List.of(), events);
        waiting.indexChanged();
        assertEquals(List.of("retry a"), events);
        waiting.close();
        assertEquals(List.of("retry a"), events);
    }

    /** Another index may still be incomplete, so that no later event would retry the lookup before its deadline. */
    @Test
    void aLookupDuringWhichAnIndexChangedIsRetriedAtOnce() {
        long changes = waiting.indexChanges();
        waiting.indexChanged();
        assertTrue(add("a", changes));
        assertEquals(List.of("retry a"), events);
        assertTrue(add("b", waiting.indexChanges()));
        waiting.close();
        assertEquals(List.of("retry a", "give up b"), events);
    }
}
