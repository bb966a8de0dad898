package io.millrace.proxy.purge.record;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Creates identifiers of purges and of imports. The first letter tells the kind:
 *
 * <pre>
 * s…  purges with a stamp, a number that increases with each purge; the number is the stamp
 * u…  removals of one URL
 * d…  dry runs
 * i…  imports of responses by millctl cache import
 * </pre>
 *
 * <p>Thread-safe.
 */
public final class PurgeId {
    /** Number of low bits that distinguish purges of one millisecond. The upper bits are epoch milliseconds. */
    public static final int TIME_SHIFT = 20;

    /** First letter of the removal of one URL. */
    public static final char REMOVAL = 'u';

    /** First letter of a dry run. */
    public static final char DRY_RUN = 'd';

    private static final char STAMPED = 's';

    private final char letter;
    private final LongSupplier clockMillis;
    private final long offset = randomOffset();
    private final AtomicLong last = new AtomicLong();

    /** Creates a generator of identifiers that begin with {@code letter}. */
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

    /** Returns the identifier of a purge with a stamp. */
    public static String ofStamp(long stamp) {
        return STAMPED + Long.toString(stamp, Character.MAX_RADIX);
    }

    /** Returns the stamp in the identifier of a purge; 0 for identifiers without a stamp. */
    public static long stamp(String id) {
        return number(id, STAMPED);
    }

    /** Returns true if the identifier is that of a dry run, which purges nothing. */
    public static boolean isDryRun(String id) {
        return number(id, DRY_RUN) > 0;
    }

    /** Returns the number in an identifier with this first letter; 0 for other identifiers. */
    private static long number(String id, char first) {
        if (id.length() < 2 || id.charAt(0) != first) {
            return 0;
        }
        try {
            return Math.max(0, Long.parseLong(id.substring(1), Character.MAX_RADIX));
        } catch (NumberFormatException e) {
            return 0;
        }
    }
}
