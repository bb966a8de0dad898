package io.millrace.proxy.observe.host;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Requests by host on one event loop, for at most {@value #HOSTS_MAX} hosts. The table has sets of {@value #WAYS}
 * hosts. Each host has a weight, which counts its requests. If the set of a new host is full, a request of that host
 * takes 1 from the least weight in the set. If the least weight is already 0, the new host replaces the host with that
 * weight (the algorithm of Misra and Gries for each set). So requests with random host names cannot displace a host
 * that has more requests. Nothing is allocated for a known host.
 *
 * <p>Counting is confined to the event loop; reading is thread-safe.
 */
public final class LoopHosts {
    static final int HOSTS_MAX = 256;
    private static final int WAYS = 4;
    private static final int SETS = HOSTS_MAX / WAYS;

    /** Limit of a weight, so that other hosts can soon replace a host without further requests. */
    private static final int WEIGHT_MAX = 1 << 12;

    // Indexes in an array of figures.
    static final int REQUESTS = 0;

    static final int HITS = 1;
    static final int MISSES = 2;
    static final int ERRORS = 3;
    static final int SENT_BYTES = 4;
    /** Number of figures of a host. */
    static final int FIGURES = 5;

    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    /** Odd number near 2^64 divided by the golden ratio, which distributes hash bits well. */
    private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

    /** The figures of one host. The event loop writes, any thread reads. */
    private static final class Entry {
        private final byte[] host;
        private final long[] figures = new long[FIGURES];
        private int weight;

        Entry(byte[] host) {
            this.host = host;
        }
    }

    private final AtomicReferenceArray<@Nullable Entry> entries = new AtomicReferenceArray<>(HOSTS_MAX);
    private final long[] totals = new long[FIGURES];
    private final long seed;
    private volatile boolean isCounting;

    /** @param seed part of the hash of hosts, unknown to clients */
    LoopHosts(long seed) {
        this.seed = seed;
    }

    /** Starts or stops the counting. */
    void setCounting(boolean on) {
        isCounting = on;
    }

    /**
     * Counts one request.
     *
     * @param host in lower case, without port; kept, and must not be changed afterwards. Empty if the request has none
     * @param isHit whether the cache answered
     * @param isMiss whether an origin answered
     * @param isError whether the status is 5xx
     */
    public void count(byte[] host, boolean isHit, boolean isMiss, boolean isError, long sentBytes) {
        if (!isCounting) {
            return;
        }
        add(totals, isHit, isMiss, isError, sentBytes);
        Entry entry = host.length == 0 ? null : entryOf(host);
        if (entry != null) {
            add(entry.figures, isHit, isMiss, isError, sentBytes);
        }
    }

    private static void add(long[] figures, boolean isHit, boolean isMiss, boolean isError, long sentBytes) {
        add(figures, REQUESTS, 1);
        if (isHit) {
            add(figures, HITS, 1);
        }
        if (isMiss) {
            add(figures, MISSES, 1);
        }
        if (isError) {
            add(figures, ERRORS, 1);
        }
        add(figures, SENT_BYTES, sentBytes);
    }

    private static void add(long[] figures, int index, long amount) {
        LONGS.setOpaque(figures, index, figures[index] + amount);
    }

    /**
     * Returns the entry of a host. Creates the entry if the set has space, or has a host of weight 0. Otherwise takes 1
     * from the least weight, and returns null.
     */
    private @Nullable Entry entryOf(byte[] host) {
        int first = setOf(host) * WAYS;
        int weakest = first;
        int least = Integer.MAX_VALUE;
        for (int i = first; i < first + WAYS; i++) {
            Entry entry = entries.getPlain(i);
            if (entry == null) {
                return put(i, host);
            }
            if (entry.host == host || Arrays.equals(entry.host, host)) {
                if (entry.weight < WEIGHT_MAX) {
                    entry.weight++;
                }
                return entry;
            }
            if (entry.weight < least) {
                least = entry.weight;
                weakest = i;
            }
        }
        Entry victim = entries.getPlain(weakest);
        if (victim != null && victim.weight > 0) {
            victim.weight--;
            return null;
        }
        return put(weakest, host);
    }

    private Entry put(int index, byte[] host) {
        Entry entry = new Entry(host);
        entries.setRelease(index, entry);
        return entry;
    }

    private int setOf(byte[] host) {
        long hash = seed;
        for (byte b : host) {
            hash = (hash ^ b) * MULTIPLIER;
        }
        return (int) (((hash ^ (hash >>> 32)) * MULTIPLIER) >>> 40) & (SETS - 1);
    }

    /** Passes each host in the table, with a copy of its figures, to the consumer. Callable by any thread. */
    void forEach(BiConsumer<byte[], long[]> consumer) {
        for (int i = 0; i < HOSTS_MAX; i++) {
            Entry entry = entries.getAcquire(i);
            if (entry != null) {
                consumer.accept(entry.host, copy(entry.figures));
            }
        }
    }

    /** The figures of all requests since the start. Callable by any thread. */
    long[] totals() {
        return copy(totals);
    }

    private static long[] copy(long[] figures) {
        long[] copy = new long[FIGURES];
        for (int i = 0; i < FIGURES; i++) {
            copy[i] = (long) LONGS.getOpaque(figures, i);
        }
        return copy;
    }
}
