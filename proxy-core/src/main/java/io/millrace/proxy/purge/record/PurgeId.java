package io.millrace.proxy.purge.record;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Creates identifiers of purges: a letter and a number in base 36. The upper bits of the number are the time of day, so
 * that the identifiers of a process rise. The lower bits have a random start, so that two workers of a roll create
 * different identifiers.
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
    /** Number of low bits for the purges of one millisecond; the bits above are the time of day. */
    public static final int TIME_SHIFT = 20;

    private static final char STAMPED = 's';

    private final char letter;
    private final LongSupplier clockMillis;
    private final long offset = randomOffset();
    private final AtomicLong last = new AtomicLong();

    /** Creates identifiers with a letter. */
    public PurgeId(char letter, LongSupplier clockMillis) {
        this.letter = letter;
        this.clockMillis = clockMillis;
    }

    /** Returns a random start for the low bits, less than half of their range. */
    public static long randomOffset() {
        return ThreadLocalRandom.current().nextLong(1L << (TIME_SHIFT - 1));
    }

    /** Returns the next identifier. */
    public String next() {
        long now = (clockMillis.getAsLong() << TIME_SHIFT) + offset;
        return letter + Long.toString(last.updateAndGet(before -> Math.max(before + 1, now)), Character.MAX_RADIX);
    }

    /** Returns the identifier of an invalidation. */
    public static String ofStamp(long stamp) {
        return STAMPED + Long.toString(stamp, Character.MAX_RADIX);
    }

    /** Returns the stamp in the identifier of an invalidation; 0 for other identifiers. */
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
