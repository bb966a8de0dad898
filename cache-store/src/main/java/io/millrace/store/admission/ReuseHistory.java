package io.millrace.store.admission;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The reuse rates of classes of objects. A rate is the fraction of objects, kept or not, that were requested again
 * within one pass through the ring.
 *
 * <p>A decision about a key adds it to a table, with its class and the time in segments. The next request of the key
 * removes it and counts as reuse. An entry that is older than one pass through the ring counts as no reuse. With many
 * keys, only a sample chosen by hash is recorded.
 *
 * <pre>
 *   slot: fingerprint of the key (32 bits), class (8), segments begun (24)
 * </pre>
 *
 * <p>Thread-safe: {@link #decided} and {@link #requested} from any thread; {@link #segmentBegun}, {@link #sumUp} and
 * {@link #chance} by one thread at a time.
 */
final class ReuseHistory {
    private static final int SLOTS_MIN = 1 << 10;
    private static final int SLOTS_MAX = 1 << 16;
    private static final long FINGERPRINT = -1L << 32;
    private static final int EPOCH_MASK = (1 << 24) - 1;
    /** Slots per object. There may be several decisions about an object in one pass through the ring. */
    private static final int SLOTS_PER_OBJECT = 4;

    private static final int FORGET_AFTER_MIN = 200;

    private final int turn;
    private final AtomicLongArray slots;
    private final int mask;
    /** Results since the last {@link #sumUp}. */
    private final AtomicIntegerArray triedNow;

    private final AtomicIntegerArray againNow;
    private final double[] tried;
    private final double[] again;
    private volatile int epoch = 1;
    private volatile int sampleShift;
    private double sinceForgotten;

    /** Creates an empty history of this many classes, for a ring of this many segments, with about this many slots. */
    ReuseHistory(int classes, int segments, long slotsWanted) {
        turn = segments;
        int count = SLOTS_MIN;
        while (count < SLOTS_MAX && count < slotsWanted) {
            count <<= 1;
        }
        slots = new AtomicLongArray(count);
        mask = count - 1;
        triedNow = new AtomicIntegerArray(classes);
        againNow = new AtomicIntegerArray(classes);
        tried = new double[classes];
        again = new double[classes];
    }

    /** Records a decision about the key, as one of that class. */
    void decided(long hash, int cls) {
        long mixed = mix(hash);
        if (!isSampled(mixed)) {
            return;
        }
        int at = (int) mixed & mask;
        long now = (mixed & FINGERPRINT) | ((long) (cls + 1) << 24) | (epoch & EPOCH_MASK);
        long before = slots.getAndSet(at, now);
        // An equal value comes from another record of the same object, and counts as the same decision.
        if (before != 0 && before != now && (before >>> 32 == mixed >>> 32 || isOld(before))) {
            triedNow.incrementAndGet(cls(before));
        }
    }

    /** Records a request for the key. */
    void requested(long hash) {
        long mixed = mix(hash);
        int at = (int) mixed & mask;
        long found = slots.getOpaque(at);
        if (found >>> 32 == mixed >>> 32 && found != 0 && slots.compareAndSet(at, found, 0)) {
            triedNow.incrementAndGet(cls(found));
            if (!isOld(found)) {
                againNow.incrementAndGet(cls(found));
            }
        }
    }

    private boolean isSampled(long mixed) {
        return ((mixed >>> 16) & ((1L << sampleShift) - 1)) == 0;
    }

    private boolean isOld(long slot) {
        return ((epoch - (int) slot) & EPOCH_MASK) > turn;
    }

    private static int cls(long slot) {
        return (int) ((slot >>> 24) & 0xFF) - 1;
    }

    private static long mix(long hash) {
        long z = (hash ^ (hash >>> 31)) * 0xD6E8_FEB8_6659_FD93L;
        return z ^ (z >>> 32);
    }

    /** Advances the time by one segment. Counts entries older than one pass through the ring as not reused. */
    void segmentBegun(long objects) {
        epoch = (epoch + 1) & EPOCH_MASK;
        int shift = 0;
        while ((objects * SLOTS_PER_OBJECT) >>> shift > slots.length()) {
            shift++;
        }
        sampleShift = shift;
        for (int at = 0; at < slots.length(); at++) {
            long slot = slots.getOpaque(at);
            if (slot != 0 && isOld(slot) && slots.compareAndSet(at, slot, 0)) {
                triedNow.incrementAndGet(cls(slot));
            }
        }
        sumUp(objects);
    }

    /** Includes recent results in {@link #chance}; halves all results periodically. */
    void sumUp(long objects) {
        for (int cls = 0; cls < tried.length; cls++) {
            int now = triedNow.getAndSet(cls, 0);
            tried[cls] += now;
            again[cls] += againNow.getAndSet(cls, 0);
            sinceForgotten += now;
        }
        if (sinceForgotten > Math.max(FORGET_AFTER_MIN, (2 * objects) >>> sampleShift)) {
            sinceForgotten = 0;
            for (int cls = 0; cls < tried.length; cls++) {
                tried[cls] /= 2;
                again[cls] /= 2;
            }
        }
    }

    /** Returns the reuse probability of the classes from {@code from} (inclusive) to {@code to} (exclusive). */
    double chance(int from, int to, double expected) {
        double sumTried = 1;
        double sumAgain = expected;
        for (int cls = from; cls < to; cls++) {
            sumTried += tried[cls];
            sumAgain += again[cls];
        }
        return Math.min(1, sumAgain / sumTried);
    }
}
