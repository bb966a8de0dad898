package io.millrace.proxy.observe.trace;

import io.millrace.proxy.observe.log.AccessLogRing;
import java.security.SecureRandom;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The traces of one event loop: the settings in force, a generator of ids, and the ring of finished spans. The event
 * loop never waits and allocates nothing per hit: a full ring drops spans and counts them.
 *
 * <p>Confined to the event loop, except {@link #apply}, {@link #drain} and {@link #dropped}.
 */
public final class LoopTraces {
    /** Size of the ring in bytes. About 2,500 spans fit in; the ring is read every 20 ms. */
    static final int RING_BYTES = 1 << 20;

    /**
     * Limit of spans of finished origin requests that wait for the end of their exchange; further spans are dropped.
     */
    static final int WAITING_MAX = 64;

    /**
     * The settings that event loops need. Immutable.
     *
     * @param sampledBelow a request is sampled if the low 63 bits of its trace id are below this number
     * @param slowNanos as in {@link TraceConfig}
     */
    record Sampling(long sampledBelow, long slowNanos) {
        static Sampling of(TraceConfig config) {
            double ratio = config.sampleRatio();
            return new Sampling(ratio >= 1 ? Long.MAX_VALUE : (long) (ratio * 0x1p63), config.slowNanos());
        }

        boolean includes(long traceLow) {
            return sampledBelow == Long.MAX_VALUE || (traceLow & Long.MAX_VALUE) < sampledBelow;
        }
    }

    private final SplittableRandom random = new SplittableRandom(new SecureRandom().nextLong());
    private final ExchangeTrace traceOfHits = new ExchangeTrace(this);
    private volatile @Nullable Sampling sampling;
    private volatile @Nullable AccessLogRing ring;
    /** Number of spans that were dropped because too many waited. */
    private volatile long lost;

    LoopTraces() {}

    /**
     * Applies the settings. With null, requests that begin from now on are not traced. Called by one thread at a time.
     */
    void apply(@Nullable Sampling next) {
        if (next != null && ring == null) {
            ring = new AccessLogRing(RING_BYTES, List.of(), false);
        }
        sampling = next;
    }

    /** Reads finished spans. Called by one thread at a time. */
    int drain(AccessLogRing.Reader reader) {
        AccessLogRing existing = ring;
        return existing == null ? 0 : existing.drain(reader);
    }

    /** The number of spans that were dropped because the ring was full or too many waited. Callable by any thread. */
    long dropped() {
        AccessLogRing existing = ring;
        return lost + (existing == null ? 0 : existing.dropped());
    }

    /** Returns a new trace for a request that may go to an origin; null if requests are not traced. */
    public @Nullable ExchangeTrace newTrace() {
        Sampling now = sampling;
        return now == null ? null : new ExchangeTrace(this).begin(now);
    }

    /**
     * Returns the trace for a request that the fast lane (the short path for RAM hits) has answered; null if requests
     * are not traced. The object is valid until the next call.
     */
    public @Nullable ExchangeTrace reusedTrace() {
        Sampling now = sampling;
        return now == null ? null : traceOfHits.begin(now);
    }

    /** Returns an id that is not 0. */
    long nextId() {
        long id;
        do {
            id = random.nextLong();
        } while (id == 0);
        return id;
    }

    @Nullable
    AccessLogRing ring() {
        return ring;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only the event loop writes
    void countLost() {
        lost++;
    }
}
