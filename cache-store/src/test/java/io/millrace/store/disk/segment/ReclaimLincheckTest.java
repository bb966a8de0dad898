package io.millrace.store.disk.segment;

import io.millrace.store.disk.SegmentLog;
import io.millrace.store.disk.Volume;
import io.millrace.store.index.HeapTables;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Model check: a reader that has pinned a segment and read its tag never sees the segment overwritten. The order of
 * steps is that of {@link SegmentLog} and of {@link Volume#pin}. The content of a segment is one word.
 */
@Tag("lincheck")
class ReclaimLincheckTest {
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
                .threads(3)
                .actorsBefore(3)
                .actorsPerThread(3)
                .check(Ring.class);
    }

    @Test
    void threadsAtFullSpeed() {
        new StressOptions()
                .iterations(2 * SCALE)
                .invocationsPerIteration(1000)
                .threads(THREADS)
                .actorsBefore(3)
                .actorsPerThread(5)
                .check(Ring.class);
    }

    /** A log of two segments with one record each. */
    @Param(name = "key", gen = IntGen.class, conf = "1:3")
    public static class Ring {
        private static final int SEGMENTS = 2;

        private final MappedIndex index = HeapTables.small(SegmentTable.auxiliaryBytes(SEGMENTS));
        private final SegmentTable table = SegmentTable.create(index, SEGMENTS);
        private final SegmentPins pins = new SegmentPins(SEGMENTS);
        /** Tag and key of the record in each segment. */
        private final AtomicLongArray content = new AtomicLongArray(SEGMENTS);

        private final int[] keys = new int[SEGMENTS];
        private long lastTag;

        @Operation(nonParallelGroup = "writer")
        public void append(@Param(name = "key") int key) throws IOException {
            int segment = free();
            if (segment < 0) {
                retire(table.oldestSealed());
                segment = free();
            }
            if (segment < 0) {
                return;
            }
            long tag = ++lastTag;
            content.set(segment, tag << 8);
            table.set(segment, SegmentTable.State.SEALED, tag, tag, 128);
            content.set(segment, tag << 8 | key);
            keys[segment] = key;
            index.put(key, 0, Location.pack(segment, 64, 64, tag), -1);
        }

        private int free() {
            for (int segment = 0; segment < SEGMENTS; segment++) {
                SegmentTable.State state = table.state(segment);
                boolean unused = state == SegmentTable.State.FREE || state == SegmentTable.State.RETIRED;
                if (unused && !pins.isPinned(segment)) {
                    return segment;
                }
            }
            return -1;
        }

        private void retire(int segment) {
            if (segment >= 0) {
                long tag = table.tag(segment);
                table.state(segment, SegmentTable.State.RETIRED);
                index.removeIf(keys[segment], 0, Location.pack(segment, 64, 64, tag));
            }
        }

        /** Fails if the pinned content belongs to another record, or changes while it is pinned. */
        @Operation
        public void read(@Param(name = "key") int key) {
            long location = index.find(key, 0);
            if (location == Location.NONE || !table.isLive(location)) {
                return;
            }
            int segment = Location.segment(location);
            pins.add(segment);
            long tag = table.tag(segment);
            if (tag != 0 && (tag & 0xFF) == Location.tag(location)) {
                for (int look = 0; look < 2; look++) {
                    long found = content.get(segment);
                    if (found != (tag << 8 | key)) {
                        throw new IllegalStateException(
                                "key " + key + ", tag " + tag + ": found " + Long.toHexString(found));
                    }
                }
            }
            pins.remove(segment);
        }
    }
}
