package io.millrace.bench.purge;

import io.millrace.proxy.http.TargetUri;
import io.millrace.store.StoreKey;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that measures the duration of cache decisions for responses in RAM, at a low rate. A decision consists of
 * lookup, purges and freshness.
 *
 * <p>Thread-safe.
 */
final class HitLatencies implements AutoCloseable {
    private static final int HITS_IN_A_ROW = 20;
    private static final long PAUSE_NANOS = 500_000;
    private static final int TIMES_MAX = 1 << 20;

    private final TaggedStore store;
    private final int responses;
    private final StoreKey[] keys;
    private final TargetUri[] urls;
    private final long[] nanos = new long[TIMES_MAX];
    private final Thread thread = new Thread(this::run, "hits");
    private int next;
    private volatile int count;
    private volatile boolean closed;

    /**
     * Starts the thread.
     *
     * @param responses number of responses that the thread requests in turn; the thread stores a response that is not
     *     in RAM
     */
    HitLatencies(TaggedStore store, int responses) {
        this.store = store;
        this.responses = responses;
        keys = new StoreKey[responses];
        urls = new TargetUri[responses];
        for (int i = 0; i < responses; i++) {
            keys[i] = store.key(number(i));
            urls[i] = TaggedStore.url(number(i));
        }
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Returns the number of response {@code i}. Skips multiples of 100, because the regular expression in
     * {@link PurgeDriver} purges these responses.
     */
    private static long number(long i) {
        return i + i / 99 + 1;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only this thread increments the counter
    private void run() {
        while (!closed) {
            for (int i = 0; i < HITS_IN_A_ROW; i++) {
                int at = next++ % responses;
                if (!store.isInRam(keys[at])) {
                    store.put(number(at), false);
                    continue;
                }
                long before = System.nanoTime();
                store.decide(keys[at], urls[at]);
                nanos[count % TIMES_MAX] = System.nanoTime() - before;
                count = count + 1;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Forgets the times so far. The next time may be lost. */
    void restart() {
        count = 0;
    }

    /** Returns the 99th percentile of the times, in microseconds. */
    double p99Micros() {
        long[] times = Arrays.copyOf(nanos, Math.min(count, TIMES_MAX));
        Arrays.sort(times);
        return times.length == 0 ? 0 : times[times.length * 99 / 100] / 1e3;
    }

    int count() {
        return count;
    }

    @Override
    public void close() {
        closed = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
