package io.millrace.store.inventory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the entries that wait in memory, and their hand-over between two threads. */
class RecentEntriesTest {
    private static byte[] bytes(int value, int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    private static String text(RecentEntries.Run run) {
        return run.segment() + ":" + run.tag() + ":" + run.count() + ":"
                + Arrays.toString(Arrays.copyOfRange(run.bytes(), run.from(), run.from() + run.length()));
    }

    @Test
    void entriesAreTakenInTheirOrder_apartBySegment() {
        RecentEntries recent = new RecentEntries();
        assertNull(recent.nextRun());
        assertTrue(recent.add(7, 70, bytes(1, 2)));
        assertTrue(recent.add(7, 70, bytes(2, 1)));
        assertTrue(recent.add(8, 80, bytes(3, 1)));
        List<String> taken = new ArrayList<>();
        for (RecentEntries.Run run = recent.nextRun(); run != null; run = recent.nextRun()) {
            taken.add(text(run));
        }
        assertEquals(List.of("7:70:2:[1, 1, 2]", "8:80:1:[3]"), taken);
        assertTrue(recent.add(8, 80, bytes(4, 1)));
        RecentEntries.Run last = recent.nextRun();
        assertNotNull(last);
        assertEquals("8:80:1:[4]", text(last));
        assertNull(recent.nextRun());
    }

    @Test
    void theMemoryIsLimited_andFreeAgainWhenEntriesAreTaken() {
        RecentEntries recent = new RecentEntries();
        byte[] large = new byte[RecentEntries.CHUNK_BYTES + 1];
        int added = 0;
        while (recent.add(1, 1, large)) {
            added++;
            assertEquals(added >= RecentEntries.CHUNKS_DUE, recent.isDue());
        }
        assertEquals(RecentEntries.CHUNKS_MAX - 1, added);
        assertFalse(recent.add(2, 2, bytes(1, 1)));
        for (int i = 0; i < added; i++) {
            RecentEntries.Run run = recent.nextRun();
            assertNotNull(run);
            assertEquals(large.length, run.length());
        }
        assertNull(recent.nextRun());
        assertFalse(recent.isDue());
        assertTrue(recent.add(2, 2, bytes(1, 1)));
    }

    @Tag("lincheck")
    @Test
    void everyInterleavingOfManyScenarios() {
        new ModelCheckingOptions()
                .iterations(5)
                .invocationsPerIteration(200)
                .threads(2)
                .actorsPerThread(5)
                .check(Queue.class);
    }

    @Tag("lincheck")
    @Test
    void threadsAtFullSpeed() {
        new StressOptions()
                .iterations(5)
                .invocationsPerIteration(1000)
                .threads(2)
                .actorsPerThread(5)
                .check(Queue.class);
    }

    /** A queue of entries of one byte for two segments, with chunks of two entries. */
    @Param(name = "segment", gen = IntGen.class, conf = "1:2")
    public static class Queue {
        private final RecentEntries recent = new RecentEntries(2);
        /** The run that was taken last; its entries up to {@link #at} were returned. */
        private RecentEntries.Run run;

        private int number;
        private int at;

        @Operation(nonParallelGroup = "writer")
        public boolean add(@Param(name = "segment") int segment) {
            return recent.add(segment, segment, bytes(++number, 1));
        }

        @Operation(nonParallelGroup = "reader")
        public String take() {
            if (run == null || at == run.from() + run.length()) {
                run = recent.nextRun();
                at = run == null ? 0 : run.from();
            }
            return run == null ? "none" : run.segment() + ":" + run.bytes()[at++];
        }
    }
}
