package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.FrameOutput;
import io.millrace.proxy.http2.frame.Frames;

/**
 * The shutdown of a connection in two steps, so that requests in flight are still answered (RFC 9113 s6.8). After the
 * first GOAWAY, clients begin no more requests. The second one has the id of the last request that is answered.
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
            Frames.goAway(output.room(GOAWAY_BYTES), Integer.MAX_VALUE, ErrorCode.NO_ERROR);
        }
    }

    /** Returns true if the second step is due. Call once per tick. */
    boolean isSecondDue() {
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
        Frames.goAway(output.room(GOAWAY_BYTES), last, ErrorCode.NO_ERROR);
        return true;
    }

    /** Returns true if new requests are no longer answered. */
    boolean isLastAnnounced() {
        return lastAnnounced;
    }

    /** Returns the last stream id for a GOAWAY frame: never higher than in an earlier frame. */
    int lastId(int last) {
        return Math.min(lastId, last);
    }
}
