package io.millrace.store.disk.segment;

import io.millrace.store.disk.Volume;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * How many readers hold each segment of a volume. A pinned segment may be given up, but is not written to.
 *
 * <p>Outlives the {@link Volume} it was made for when that is handed over and taken back, since its readers do.
 *
 * <p>Thread-safe.
 */
public final class SegmentPins {
    private final AtomicIntegerArray counts;

    /** Pins for this many segments, none set. */
    public SegmentPins(int segments) {
        counts = new AtomicIntegerArray(segments);
    }

    /** Number of segments. */
    public int segments() {
        return counts.length();
    }

    /** Adds one reader of a segment. */
    public void add(int segment) {
        counts.incrementAndGet(segment);
    }

    /** Removes one reader that was added before. */
    public void remove(int segment) {
        int left = counts.decrementAndGet(segment);
        assert left >= 0 : "segment " + segment + " unpinned more often than pinned";
    }

    /** Whether a segment has readers. */
    public boolean isPinned(int segment) {
        return counts.get(segment) != 0;
    }

    /** The segments that are pinned. */
    BitSet pinned() {
        BitSet pinned = new BitSet(counts.length());
        for (int i = 0; i < counts.length(); i++) {
            if (counts.get(i) != 0) {
                pinned.set(i);
            }
        }
        return pinned;
    }

    /** Number of segments that are pinned. */
    public int pinnedSegments() {
        int pinned = 0;
        for (int i = 0; i < counts.length(); i++) {
            pinned += counts.get(i) != 0 ? 1 : 0;
        }
        return pinned;
    }
}
