package io.millrace.proxy.observe;

import io.millrace.proxy.observe.host.LoopHosts;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The counters of one event loop, which alone writes them. A scrape sums them over all loops.
 *
 * <p>With a single writer, stores in opaque mode ({@code VarHandle.setOpaque}) suffice instead of atomic operations:
 * other threads read complete values, with a short delay. Writing is confined to one event loop; reading is
 * thread-safe.
 */
public final class LoopCounters {
    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final int COUNTERS = Counter.values().length;

    /** Lowest status that counts as an error of a host. */
    private static final int ERROR_MIN = 500;

    /** Eight longs fill a cache line, so that the counters of two loops never share a line. */
    private static final int PADDING = 8;

    private final long[] values = new long[PADDING + COUNTERS + PADDING];
    private final LatencyHistogram[] requestDurations = new LatencyHistogram[CacheResult.ServedFrom.values().length];
    private final LatencyHistogram originRequestDuration = new LatencyHistogram();
    private final NamedCounts filterDenials = new NamedCounts();
    private final NamedCounts splitRequests = new NamedCounts();
    private final NamedCounts limitedRequests = new NamedCounts();
    private final NamedCounts limitedInDryRun = new NamedCounts();

    /** Requests by host; null if they are not counted. */
    private final @Nullable LoopHosts hosts;

    /**
     * Creates counters at 0 that no scrape reads. For counters in a scrape, use
     * {@link MetricsRegistry#newLoopCounters()}.
     */
    public LoopCounters() {
        this(null);
    }

    LoopCounters(@Nullable LoopHosts hosts) {
        this.hosts = hosts;
        for (int i = 0; i < requestDurations.length; i++) {
            requestDurations[i] = new LatencyHistogram();
        }
    }

    /** Adds one. */
    public void increment(Counter counter) {
        add(counter, 1);
    }

    /** Subtracts one. Only for counters of a gauge family. */
    public void decrement(Counter counter) {
        assert counter.family().kind() == Metric.Kind.GAUGE : counter;
        add(counter, -1);
    }

    /** Adds {@code amount}, which may be negative only for counters of a gauge family. */
    public void add(Counter counter, long amount) {
        int index = PADDING + counter.index();
        LONGS.setOpaque(values, index, values[index] + amount);
    }

    /**
     * Counts one answered client request: its cache result, its status class and its duration.
     *
     * @param status the final status sent, or 0 for none
     * @param durationNanos time from the first byte of the request to the last byte of the response
     */
    public void requestCompleted(CacheResult result, int status, long durationNanos) {
        increment(Counter.requests(result));
        increment(Counter.responses(status));
        requestDurations[result.servedFrom().index()].record(durationNanos);
    }

    /**
     * Counts one answered client request for its host.
     *
     * @param host as in {@link LoopHosts#count}
     * @param status the final status sent, or 0 for none
     */
    public void requestOfHost(byte[] host, CacheResult result, int status, long sentBytes) {
        if (hosts != null) {
            CacheResult.ServedFrom from = result.servedFrom();
            hosts.count(
                    host,
                    from == CacheResult.ServedFrom.CACHE,
                    from == CacheResult.ServedFrom.ORIGIN,
                    status >= ERROR_MIN,
                    sentBytes);
        }
    }

    /**
     * Keeps a traced request as an exemplar of the histogram of request durations.
     *
     * @param endNanos its end, as {@link System#nanoTime}
     * @param endMillis its end, in milliseconds since 1970
     * @param traceHigh first half of the trace id
     * @param traceLow second half of the trace id
     */
    public void requestTraced(
            CacheResult result,
            long durationNanos,
            long endNanos,
            long endMillis,
            long traceHigh,
            long traceLow,
            long spanId) {
        requestDurations[result.servedFrom().index()].keepExemplar(
                durationNanos, endNanos, endMillis, traceHigh, traceLow, spanId);
    }

    /** Records the time from the transmission of a request to an origin to the head of its response. */
    public void originResponded(long durationNanos) {
        originRequestDuration.record(durationNanos);
    }

    /** Counts one request denied by a filter. */
    public void filterDenied(String filter) {
        increment(Counter.DENIED_FILTER);
        filterDenials.increment(filter);
    }

    NamedCounts filterDenials() {
        return filterDenials;
    }

    /** Counts one request of a rule with a canary split, by the name of the branch. */
    public void splitRequest(String branch) {
        splitRequests.increment(branch);
    }

    NamedCounts splitRequests() {
        return splitRequests;
    }

    /**
     * Counts one request beyond a request limit.
     *
     * @param limit name of the limit
     * @param dryRun whether the limit only counts, so that the request is not refused
     */
    public void requestLimited(String limit, boolean dryRun) {
        (dryRun ? limitedInDryRun : limitedRequests).increment(limit);
    }

    NamedCounts limitedRequests() {
        return limitedRequests;
    }

    NamedCounts limitedInDryRun() {
        return limitedInDryRun;
    }

    /** Returns the value of one counter. Callable by any thread. */
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
