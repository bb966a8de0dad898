package io.millrace.proxy.observe.log.live;

import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogOutcome;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The live log of one event loop. One ring takes slow, failed and refused requests. While there are viewers, a second
 * ring takes all other requests. So other requests cannot displace the record of a failed request.
 *
 * <p>The event loop calls {@link #ringFor}. All other methods are called with the lock of {@link LiveLog}.
 */
public final class LoopLiveLog {
    /** Size of the ring of kept requests, in bytes. About 300 records fit in; the ring is read every 500 ms. */
    static final int KEPT_BYTES = 128 << 10;

    /** Size of the ring of other requests, in bytes. About 1,500 records fit in; the ring is read every 50 ms. */
    static final int WATCHED_BYTES = 512 << 10;

    private final AccessLogRing kept = new AccessLogRing(KEPT_BYTES, List.of(), true);
    private volatile LiveLogSettings settings;
    /** The ring for all other requests while there are viewers; null while there are none. */
    private volatile @Nullable AccessLogRing watched;
    /** The ring of records that only viewers need; null before the first viewer. Kept for later viewers. */
    private @Nullable AccessLogRing ring;

    LoopLiveLog(LiveLogSettings settings) {
        this.settings = settings;
    }

    /**
     * Returns the ring for the record of a finished request; null if nobody needs the record. Call on the event loop.
     *
     * @param status the status sent to the client; 0 if none was sent
     * @param firstByteNanos time to the first byte of the response; 0 if not measured
     */
    public @Nullable AccessLogRing ringFor(int status, LogOutcome outcome, long firstByteNanos) {
        LiveLogSettings now = settings;
        if (KeptKind.includesAny(status, outcome, firstByteNanos, now.slowNanos()) && now.keptMax() > 0) {
            return kept;
        }
        return watched;
    }

    void apply(LiveLogSettings changed) {
        settings = changed;
    }

    /**
     * Begins or ends the collection of all records. Discards the records that an earlier collection left in the ring.
     */
    void watch(boolean isWatched) {
        if (!isWatched) {
            watched = null;
            return;
        }
        AccessLogRing existing = ring;
        if (existing == null) {
            existing = new AccessLogRing(WATCHED_BYTES, List.of(), true);
            ring = existing;
        }
        existing.drain(leftOver -> true);
        watched = existing;
    }

    void drainKept(AccessLogRing.Reader reader) {
        kept.drain(reader);
    }

    void drainWatched(AccessLogRing.Reader reader) {
        AccessLogRing now = watched;
        if (now != null) {
            now.drain(reader);
        }
    }

    /** The number of records that did not fit into a ring. */
    long dropped() {
        AccessLogRing existing = ring;
        return kept.dropped() + (existing == null ? 0 : existing.dropped());
    }
}
