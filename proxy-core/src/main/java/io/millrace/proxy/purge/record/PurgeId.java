package io.millrace.proxy.purge.record;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Identifiers of purges: a letter and a number in base 36. The number has the time of day in its upper bits, so that identifiers
 * of one process rise, and a random start in the lower ones, so that two workers of a roll give different ones.
 *
 * <pre>
 *   s…  invalidations; the number is their stamp
 *   u…  removals of one URL
 *   d…  dry runs
 * </pre>
 *
 * Thread-safe.
 */
public final class PurgeId {
    /** Bits for the purges of one millisecond; above them is the time of day. */
    public static final int TIME_SHIFT = 20;

    private static final char STAMPED = 's';

    private final char letter;
    private final LongSupplier clockMillis;
    private final long offset = randomOffset();
    private final AtomicLong last = new AtomicLong();

    /** Gives identifiers with that letter. */
    public PurgeId(char letter, LongSupplier clockMillis) {
        this.letter = letter;
        this.clockMillis = clockMillis;
    }

    /** A start for the numbers of one process within a millisecond: less than half of their range. */
    public static long randomOffset() {
        return ThreadLocalRandom.current().nextLong(1L << (TIME_SHIFT - 1));
    }

    /** The next identifier. */
    public String next() {
        long now = (clockMillis.getAsLong() << TIME_SHIFT) + offset;
        return letter + Long.toString(last.updateAndGet(before -> Math.max(before + 1, now)), Character.MAX_RADIX);
    }

    /** The identifier of an invalidation. */
    public static String ofStamp(long stamp) {
        return STAMPED + Long.toString(stamp, Character.MAX_RADIX);
    }

    /** The stamp of an invalidation with that identifier; 0 where it is of something else. */
    public static long stamp(String id) {
        if (id.length() < 2 || id.charAt(0) != STAMPED) {
            return 0;
        }
        try {
            return Math.max(0, Long.parseLong(id.substring(1), Character.MAX_RADIX));
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
