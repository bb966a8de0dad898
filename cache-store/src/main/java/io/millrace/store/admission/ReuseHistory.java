package io.millrace.store.admission;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts per class how often objects were requested again within one cycle of the ring buffer, kept by reclaim or not.
 *
 * <p>A decision about a key puts it into a table, with its class and the time in segments. The next request of the key
 * takes it out: it was asked for again. What is a turn old was not. Of many keys a sample is looked at, chosen by hash.
 *
 * <pre>
 *   slot: fingerprint of the key (32 bits), class (8), segments begun (24)
 * </pre>
 *
 * <p>Thread-safe: {@link #decided} and {@link #requested} from any thread; {@link #segmentBegun}, {@link #sumUp} and
 * {@link #chance} are for one thread at a time.
 */
final class ReuseHistory {
    private static final int SLOTS_MIN = 1 << 10;
    private static final int SLOTS_MAX = 1 << 16;
    private static final long FINGERPRINT = -1L << 32;
    private static final int EPOCH_MASK = (1 << 24) - 1;
    /** Slots for each object: decisions about one may come several times in a turn. */
    private static final int SLOTS_PER_OBJECT = 4;

    private static final int FORGET_AFTER_MIN = 200;

    private final int turn;
    private final AtomicLongArray slots;
    private final int mask;
    /** Settled since the last {@link #sumUp}. */
    private final AtomicIntegerArray triedNow;

    private final AtomicIntegerArray againNow;
    private final double[] tried;
    private final double[] again;
    private volatile int epoch = 1;
    private volatile int sampleShift;
    private double sinceForgotten;

    /** An empty history of this many classes, for a ring of this many segments, with about this many slots. */
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

    /** A decision about the key was made, as one of that class. */
    void decided(long hash, int cls) {
        long mixed = mix(hash);
        if (!isSampled(mixed)) {
            return;
        }
        int at = (int) mixed & mask;
        long now = (mixed & FINGERPRINT) | ((long) (cls + 1) << 24) | (epoch & EPOCH_MASK);
        long before = slots.getAndSet(at, now);
        // The same once more is another record of the object: one decision.
        if (before != 0 && before != now && (before >>> 32 == mixed >>> 32 || isOld(before))) {
            triedNow.incrementAndGet(cls(before));
        }
    }

    /** The key was asked for. */
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

    /** Time goes on by a segment. Settles what is a turn old. */
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

    /** Makes {@link #chance} know what was settled, and forgets half of all now and then. */
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

    /** How likely one of the classes from {@code from} to before {@code to} is to be asked for again. */
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
