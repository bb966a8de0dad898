package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.FrameOutput;
import io.millrace.proxy.http2.frame.Frames;

/**
 * The state of a graceful shutdown in two steps (RFC 9113 s6.8). The first GOAWAY asks the client to begin no more
 * requests. Requests that the client sent before it received this frame are still answered. The second GOAWAY, some
 * ticks (periodic checks of the connection) later, contains the id of the last answered request.
 *
 * <p>Confined to one event loop.
 */
final class GracefulShutdown {
    /** Number of ticks between the two steps. */
    private static final int TICKS = 4;
    /** Size of the GOAWAY frames sent by this class. */
    static final int GOAWAY_BYTES = 17;

    private boolean begun;
    private boolean lastAnnounced;
    private int lastId = Integer.MAX_VALUE;
    private int ticksLeft;

    /** Runs the first step. Repeated calls have no effect. */
    void begin(FrameOutput output) {
        if (!begun) {
            begun = true;
            ticksLeft = TICKS;
            Frames.goAway(output.reserve(GOAWAY_BYTES), Integer.MAX_VALUE, ErrorCode.NO_ERROR);
        }
    }

    /** Counts one tick. Returns true if the second step is due. Call once per tick. */
    boolean checkFinalGoAwayDue() {
        return begun && !lastAnnounced && --ticksLeft <= 0;
    }

    /**
     * Runs the second step, even if the first has not been run.
     *
     * @param last highest id of a stream that the client has begun
     * @return false if the second step was run before
     */
    boolean announceLast(FrameOutput output, int last) {
        if (lastAnnounced) {
            return false;
        }
        begun = true;
        lastAnnounced = true;
        lastId = last;
        Frames.goAway(output.reserve(GOAWAY_BYTES), last, ErrorCode.NO_ERROR);
        return true;
    }

    /** Returns true after the second step: new requests of the client are no longer answered. */
    boolean isLastAnnounced() {
        return lastAnnounced;
    }

    /**
     * Returns the last stream id for a further GOAWAY frame. RFC 9113 forbids an id above the one of an earlier frame.
     */
    int lastId(int last) {
        return Math.min(lastId, last);
    }
}
