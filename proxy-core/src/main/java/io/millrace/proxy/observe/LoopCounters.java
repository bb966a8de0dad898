package io.millrace.proxy.observe;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The counters of one event loop: plain longs that only this loop writes, summed over the loops at a scrape.
 *
 * <p>Stores are opaque, so that another thread reads whole values that are at most a moment old; no counter is atomic, and
 * none needs to be. Writing belongs to one event loop; reading is thread-safe.
 */
public final class LoopCounters {
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int COUNTERS = Counter.values().length;

    /** Eight longs are a cache line: the counters of two loops never share one. */
    private static final int PADDING = 8;

    private final long[] values = new long[PADDING + COUNTERS + PADDING];
    private final LatencyHistogram[] requestDurations = new LatencyHistogram[CacheResult.ServedFrom.values().length];
    private final LatencyHistogram originRequestDuration = new LatencyHistogram();
    private final NamedCounts filterDenials = new NamedCounts();

    /** Counters at 0. Use {@link MetricsRegistry#newLoopCounters()} for ones that are scraped. */
    public LoopCounters() {
        for (int i = 0; i < requestDurations.length; i++) {
            requestDurations[i] = new LatencyHistogram();
        }
    }

    /** Adds one. */
    public void increment(Counter counter) {
        add(counter, 1);
    }

    /** Subtracts one; for counters of a gauge family only. */
    public void decrement(Counter counter) {
        assert counter.family().kind() == MetricFamily.Kind.GAUGE : counter;
        add(counter, -1);
    }

    /** Adds {@code amount}, which is negative for counters of a gauge family only. */
    public void add(Counter counter, long amount) {
        int index = PADDING + counter.index();
        LONGS.setOpaque(values, index, values[index] + amount);
    }

    /**
     * Counts one answered client request: its cache result, its status class and its duration.
     *
     * @param status the final status sent, or 0 when none was
     * @param durationNanos from the first byte of the request to the last byte of the response
     */
    public void requestCompleted(CacheResult result, int status, long durationNanos) {
        increment(Counter.requests(result));
        increment(Counter.responses(status));
        requestDurations[result.servedFrom().index()].record(durationNanos);
    }

    /** Records the time from a request sent to an origin to the head of its response. */
    public void originResponded(long durationNanos) {
        originRequestDuration.record(durationNanos);
    }

    /** Counts one request that a filter denied. */
    public void filterDenied(String filter) {
        increment(Counter.DENIED_FILTER);
        filterDenials.increment(filter);
    }

    NamedCounts filterDenials() {
        return filterDenials;
    }

    /** The value of one counter. Any thread. */
    public long value(Counter counter) {
        return (long) LONGS.getOpaque(values, PADDING + counter.index());
    }

    LatencyHistogram requestDuration(CacheResult.ServedFrom servedFrom) {
        return requestDurations[servedFrom.index()];
    }

    LatencyHistogram originRequestDuration() {
        return originRequestDuration;
    }
}
