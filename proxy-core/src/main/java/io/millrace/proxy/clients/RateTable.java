package io.millrace.proxy.clients;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.security.SecureRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of request rate limits for all event loops. A burst is the number of requests that may arrive at once. For
 * each key, the table has the time at which the whole burst is available again (refilled), as in the generic cell rate
 * algorithm (GCRA, ITU-T I.371).
 *
 * <p>A flat table of 2,097,152 slots (32 MiB, allocated with the first request that a limit counts). A key belongs to a
 * group of eight slots. A slot whose key has a refilled burst is free. If a group has no free slot, the key
 * whose burst is refilled first is forgotten, and {@link #evictions} counts it.
 *
 * <p>Thread-safe without locks: loops change a slot by compare-and-set. Two loops that see a new key at the same moment
 * may use two slots for it, which admits at most one more request.
 */
public final class RateTable {
    /** Slots of the table of a proxy. */
    static final int SLOTS = 1 << 21;

    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

    /** Slots of a group: their hashes fill one cache line, and their times the next. */
    private static final int WAYS = 8;

    /** Unused longs in front of the first group, so that groups begin with a cache line. */
    private static final int PADDING = 6;

    private final int slots;
    private final LongSupplier nanoTime;
    private final long startNanos;
    /** The halves of the secret key of the hashes. */
    private final long k0;

    private final long k1;
    private final LongAdder evictions = new LongAdder();
    private final ReentrantLock creation = new ReentrantLock();

    /**
     * Groups of eight hashes, each followed by eight times at which a burst is refilled, in nanoseconds since
     * {@link #startNanos}. Null until the first request is counted.
     */
    private volatile long @Nullable [] table;

    /** Creates the table of a new proxy, with a new secret key. */
    RateTable() {
        this(SLOTS, System::nanoTime, new SecureRandom());
    }

    /**
     * Creates an empty table.
     *
     * @param slots a power of two, at least 8
     * @param nanoTime as {@link System#nanoTime}
     */
    RateTable(int slots, LongSupplier nanoTime, SecureRandom random) {
        this.slots = slots;
        this.nanoTime = nanoTime;
        this.startNanos = nanoTime.getAsLong() - 1;
        this.k0 = random.nextLong();
        this.k1 = random.nextLong();
    }

    /** Returns a hash with the secret key of this table, for one thread. */
    public KeyHash newHash() {
        return new KeyHash(k0, k1);
    }

    /** Number of keys that were forgotten before their burst was refilled. */
    public long evictions() {
        return evictions.sum();
    }

    /**
     * Counts a request.
     *
     * @param key result of {@link KeyHash#end}
     * @param intervalNanos time between two requests at the rate
     * @param burst requests that may arrive at once
     * @return if the request is within the limit, the time until the burst is refilled, in nanoseconds; else the
     *     negative time until the next request is within the limit
     */
    long take(long key, long intervalNanos, int burst) {
        long[] entries = table;
        if (entries == null) {
            entries = create();
        }
        long now = nanoTime.getAsLong() - startNanos;
        int group = groupOf(key);
        int slot = find(entries, group, key);
        boolean isNew = slot < 0;
        if (isNew) {
            slot = claim(entries, group, key, now);
        }
        long tolerance = intervalNanos * (burst - 1);
        while (true) {
            long before = (long) LONGS.getOpaque(entries, slot + WAYS);
            // A newly claimed slot still contains the time of its previous key, which is ignored.
            long from = isNew ? now : Math.max(before, now);
            if (from - now > tolerance) {
                return now + tolerance - from;
            }
            if (LONGS.compareAndSet(entries, slot + WAYS, before, from + intervalNanos)) {
                return from + intervalNanos - now;
            }
            isNew = false;
        }
    }

    /** Returns the result that {@link #take} would have, without counting. */
    long peek(long key, long intervalNanos, int burst) {
        long[] entries = table;
        long now = nanoTime.getAsLong() - startNanos;
        int slot = entries == null ? -1 : find(entries, groupOf(key), key);
        long from = entries == null || slot < 0 ? now : Math.max((long) LONGS.getOpaque(entries, slot + WAYS), now);
        long tolerance = intervalNanos * (burst - 1);
        return from - now > tolerance ? now + tolerance - from : from + intervalNanos - now;
    }

    /** Number of keys whose burst is not refilled yet. Reads the whole table. */
    public long keys() {
        long[] entries = table;
        long now = nanoTime.getAsLong() - startNanos;
        long keys = 0;
        for (int group = PADDING; entries != null && group < entries.length; group += 2 * WAYS) {
            for (int slot = group + WAYS; slot < group + 2 * WAYS; slot++) {
                keys += (long) LONGS.getOpaque(entries, slot) > now ? 1 : 0;
            }
        }
        return keys;
    }

    private long[] create() {
        creation.lock();
        try {
            long[] entries = table;
            if (entries == null) {
                entries = new long[PADDING + 2 * slots];
                table = entries;
            }
            return entries;
        } finally {
            creation.unlock();
        }
    }

    private int groupOf(long key) {
        return PADDING + 2 * WAYS * (int) (key & (slots / WAYS - 1));
    }

    private static int find(long[] entries, int group, long key) {
        for (int slot = group; slot < group + WAYS; slot++) {
            if ((long) LONGS.getOpaque(entries, slot) == key) {
                return slot;
            }
        }
        return -1;
    }

    /** Takes the slot of a group whose burst is refilled first, which may be a free slot. */
    private int claim(long[] entries, int group, long key, long now) {
        while (true) {
            int best = group;
            long least = Long.MAX_VALUE;
            for (int slot = group; slot < group + WAYS; slot++) {
                long time = (long) LONGS.getOpaque(entries, slot + WAYS);
                if (time < least) {
                    best = slot;
                    least = time;
                }
            }
            long before = (long) LONGS.getOpaque(entries, best);
            if (before == key || LONGS.compareAndSet(entries, best, before, key)) {
                if (before != key && least > now) {
                    evictions.increment();
                }
                return best;
            }
        }
    }
}
