package io.millrace.store.index;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Model check: one writer that puts, removes, reclaims and grows, and readers. Results are as if all operations had
 * happened one after the other. It uses the implementation on the heap, since no tool observes accesses to mapped
 * memory. {@code -Dlincheck.scale=10} searches ten times longer.
 */
@Tag("lincheck")
class IndexLincheckTest {
    private static final int SCALE = Integer.getInteger("lincheck.scale", 1);
    /**
     * The threads wait for each other by spinning. A thread without its own core would prevent the others from running
     * concurrently.
     */
    private static final int THREADS =
            Math.max(2, Math.min(3, Runtime.getRuntime().availableProcessors()));

    @Test
    void everyInterleavingOfManyScenarios() {
        new ModelCheckingOptions()
                .iterations(2 * SCALE)
                .invocationsPerIteration(200)
                .threads(2)
                .actorsBefore(2)
                .actorsPerThread(4)
                .actorsAfter(2)
                .sequentialSpecification(Plain.class)
                .check(Concurrent.class);
    }

    @Test
    void threadsAtFullSpeed() {
        new StressOptions()
                .iterations(2 * SCALE)
                .invocationsPerIteration(1000)
                .threads(THREADS)
                .actorsBefore(2)
                .actorsPerThread(5)
                .sequentialSpecification(Plain.class)
                .check(Concurrent.class);
    }

    /** The index with three colliding keys, each in its own segment. */
    @Param(name = "key", gen = IntGen.class, conf = "1:3")
    @Param(name = "value", gen = IntGen.class, conf = "1:2")
    public static class Concurrent {
        private final MappedIndex index;
        private final int[] tags = new int[4];
        private int shift = 3;

        /** Creates a table of eight slots that is about to grow. */
        public Concurrent() {
            index = HeapTables.small(0);
            index.slotsAtOnce(2, 2);
        }

        private static long low(int key) {
            return key & 1;
        }

        private long location(int key, int value) {
            return Location.pack(key, 64L * value, 64, tags[key]);
        }

        @Operation(nonParallelGroup = "writer")
        public void put(@Param(name = "key") int key, @Param(name = "value") int value) throws IOException {
            index.put(key, low(key), location(key, value), -1);
        }

        @Operation(nonParallelGroup = "writer")
        public boolean remove(@Param(name = "key") int key) {
            return index.remove(key, low(key));
        }

        @Operation(nonParallelGroup = "writer")
        public void removeIf(@Param(name = "key") int key, @Param(name = "value") int value) {
            index.removeIf(key, low(key), location(key, value));
        }

        @Operation(nonParallelGroup = "writer")
        public void reclaim(@Param(name = "key") int key) {
            index.removeSegment(key, tags[key]++);
            while (index.step()) {
                // All steps are made at once.
            }
        }

        @Operation(nonParallelGroup = "writer")
        public void grow() {
            if (shift < 5) {
                index.beginGrowth(++shift);
            }
            index.step();
            index.step();
        }

        @Operation(nonParallelGroup = "writer")
        public void step() {
            index.step();
        }

        @Operation
        public int find(@Param(name = "key") int key) {
            long location = index.find(key, low(key));
            return location == Location.NONE ? 0 : (int) (Location.offset(location) / 64);
        }

        @Operation
        public void hit(@Param(name = "key") int key) {
            index.hit(key, low(key));
        }
    }

    /** The sequential model. */
    public static class Plain {
        private final Map<Integer, Integer> entries = new HashMap<>();

        public void put(int key, int value) {
            entries.put(key, value);
        }

        public boolean remove(int key) {
            return entries.remove(key) != null;
        }

        public void removeIf(int key, int value) {
            entries.remove(key, value);
        }

        public void reclaim(int key) {
            entries.remove(key);
        }

        public void grow() {
            // The model does not show this.
        }

        public void step() {
            // The model does not show this.
        }

        public int find(int key) {
            return entries.getOrDefault(key, 0);
        }

        public void hit(int key) {
            // Counts may be lost.
        }
    }
}
