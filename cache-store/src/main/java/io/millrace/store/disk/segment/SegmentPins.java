package io.millrace.store.disk.segment;

import io.millrace.store.disk.Volume;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The number of readers per segment of a volume. A pinned segment may be reclaimed, but is not overwritten. Such a pin
 * lasts while a reader uses the segment. The pins of {@link io.millrace.store.disk.PinPolicy} keep objects for a time.
 *
 * <p>The pins outlive a {@link Volume} instance: if a process releases a volume and takes it back, readers continue.
 *
 * <p>Thread-safe.
 */
public final class SegmentPins {
    private final AtomicIntegerArray counts;

    /** Creates the counters for this number of segments; no segment is pinned. */
    public SegmentPins(int segments) {
        counts = new AtomicIntegerArray(segments);
    }

    /** Returns the number of segments. */
    public int segments() {
        return counts.length();
    }

    /** Adds a reader of a segment. */
    public void add(int segment) {
        counts.incrementAndGet(segment);
    }

    /** Removes a reader of a segment. */
    public void remove(int segment) {
        int left = counts.decrementAndGet(segment);
        assert left >= 0 : "segment " + segment + " unpinned more often than pinned";
    }

    /** Returns true if the segment has readers. */
    public boolean isPinned(int segment) {
        return counts.get(segment) != 0;
    }

    /** Returns the pinned segments. */
    BitSet pinned() {
        BitSet pinned = new BitSet(counts.length());
        for (int i = 0; i < counts.length(); i++) {
            if (counts.get(i) != 0) {
                pinned.set(i);
            }
        }
        return pinned;
    }

    /** Returns the number of pinned segments. */
    public int pinnedSegments() {
        int pinned = 0;
        for (int i = 0; i < counts.length(); i++) {
            pinned += counts.get(i) != 0 ? 1 : 0;
        }
        return pinned;
    }
}
