package io.millrace.store.engine.filling;

import java.util.Arrays;

/**
 * The written byte ranges of one block, disjoint and in ascending order.
 *
 * <p>Not thread-safe: the caller holds the lock of the block.
 */
final class Coverage {
    /** Start and end of each range, alternating. */
    private int[] bounds = new int[4];

    private int size;

    /** Returns the end of the range that covers {@code position}, or {@code position} if no range covers it. */
    int coveredUntil(int position) {
        for (int i = 0; i < size; i += 2) {
            if (bounds[i] <= position && position < bounds[i + 1]) {
                return bounds[i + 1];
            }
        }
        return position;
    }

    /** Returns the start of the first range after {@code position}, but at most {@code limit}. */
    int nextCovered(int position, int limit) {
        for (int i = 0; i < size; i += 2) {
            if (bounds[i] > position) {
                return Math.min(limit, bounds[i]);
            }
        }
        return limit;
    }

    /** Returns the end of the last range, 0 if there is no range. */
    int end() {
        return size == 0 ? 0 : bounds[size - 1];
    }

    /** Adds the range {@code [from, to)}. It must not overlap a range that was added before. */
    void add(int from, int to) {
        int at = 0;
        while (at < size && bounds[at] < from) {
            at += 2;
        }
        boolean joinsBefore = at > 0 && bounds[at - 1] == from;
        boolean joinsAfter = at < size && bounds[at] == to;
        if (joinsBefore && joinsAfter) {
            bounds[at - 1] = bounds[at + 1];
            System.arraycopy(bounds, at + 2, bounds, at, size - at - 2);
            size -= 2;
        } else if (joinsBefore) {
            bounds[at - 1] = to;
        } else if (joinsAfter) {
            bounds[at] = from;
        } else {
            if (size == bounds.length) {
                bounds = Arrays.copyOf(bounds, size * 2);
            }
            System.arraycopy(bounds, at, bounds, at + 2, size - at);
            bounds[at] = from;
            bounds[at + 1] = to;
            size += 2;
        }
    }
}
