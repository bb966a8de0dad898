package io.millrace.proxy.purge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.purge.fleet.FleetPosition;
import io.millrace.store.Journal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;

/** Tests that the journal restores the position in the fleet's stream, and the purges of other nodes. */
class FleetPositionTest {
    private final Memory journal = new Memory();
    private long now = 1_700_000_000_000L;

    /** A journal in memory; a restart reads it in random order. */
    private static final class Memory implements Journal {
        private List<Entry> entries = new ArrayList<>();
        private Owner owner;

        @Override
        public void attach(Owner newOwner) {
            owner = newOwner;
            newOwner.recovered(List.copyOf(entries), entries.isEmpty() ? Condition.NEW : Condition.COMPLETE);
        }

        @Override
        public void append(Entry entry, Executor replyOn, AppendCallback reply) {
            entries.add(entry);
            reply.onAppend(null);
        }

        void rewrite() {
            entries = new ArrayList<>(owner.inForce());
        }
    }

    private Invalidator start() {
        return Invalidator.over(journal, () -> now, () -> 3_600_000L);
    }

    private static FleetPosition position(long sequence) {
        return new FleetPosition("2026-11-28T10:00:00Z", sequence, "b:u" + sequence);
    }

    @Test
    void theLatestPositionIsRestoredFromAnyOrder() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Invalidator invalidator = start();
        assertNull(invalidator.fleetPosition());
        for (int i = 1; i <= 200; i++) {
            // After a gap, the sequence may be lower than before.
            FleetPosition next = position(random.nextInt(50));
            invalidator.fleetApplied(next, Map.of(), Runnable::run, failure -> assertNull(failure));
            assertEquals(next, invalidator.fleetPosition());
            if (random.nextInt(5) == 0) {
                if (random.nextBoolean()) {
                    journal.rewrite();
                }
                Collections.shuffle(journal.entries, random);
                invalidator = start();
                assertEquals(next, invalidator.fleetPosition());
            }
        }
    }

    @Test
    void aPurgeOfAnotherNodeIsUndoneAfterARestart() {
        Invalidator invalidator = start();
        long[] stamp = new long[1];
        invalidator.invalidate(
                List.of(InvalidationScope.all()),
                true,
                Runnable::run,
                (entries, failure) -> stamp[0] = entries.get(0).stamp());
        invalidator.fleetApplied(position(1), Map.of("b:s1", stamp[0]), Runnable::run, failure -> assertNull(failure));
        journal.rewrite();
        invalidator = start();
        assertEquals(stamp[0], invalidator.fleetStamp("b:s1"));
        assertEquals("b:s1", invalidator.fleetId(stamp[0]));
        assertEquals(0, invalidator.fleetStamp("b:s2"));
        assertTrue(invalidator.undo(stamp[0], Runnable::run, failure -> assertNull(failure)));
    }

    @Test
    void aPositionDoesNotOutdateResponses() {
        Invalidator invalidator = start();
        long before = invalidator.stamp();
        invalidator.fleetApplied(position(1), Map.of(), Runnable::run, failure -> assertNull(failure));
        assertEquals(before, invalidator.stamp());
    }
}
