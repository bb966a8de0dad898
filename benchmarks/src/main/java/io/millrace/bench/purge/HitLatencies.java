package io.millrace.bench.purge;

import io.millrace.proxy.http.TargetUri;
import io.millrace.store.StoreKey;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that decides about responses in RAM at a low rate, and measures the time of each decision.
 *
 * <p>Thread-safe.
 */
final class HitLatencies implements AutoCloseable {
    private static final int HITS_IN_A_ROW = 20;
    private static final long PAUSE_NANOS = 500_000;
    private static final int TIMES_MAX = 1 << 20;

    private final TaggedStore store;
    private final StoreKey[] keys;
    private final TargetUri[] urls;
    private final long[] nanos = new long[TIMES_MAX];
    private final Thread thread = new Thread(this::run, "hits");
    private int next;
    private volatile int count;
    private volatile boolean closed;

    HitLatencies(TaggedStore store, StoreKey[] keys, TargetUri[] urls) {
        this.store = store;
        this.keys = keys;
        this.urls = urls;
        thread.setDaemon(true);
        thread.start();
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
    private void run() {
        while (!closed) {
            for (int i = 0; i < HITS_IN_A_ROW; i++) {
                int at = next++ % keys.length;
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

    /** Returns the time of which 99 of 100 decisions take less, in microseconds. */
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
