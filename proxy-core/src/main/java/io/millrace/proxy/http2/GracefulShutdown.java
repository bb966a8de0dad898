package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.FrameOutput;
import io.millrace.proxy.http2.frame.Frames;

/**
 * The two steps in which a connection ends so that no request on its way is lost (RFC 9113 s6.8): the first GOAWAY asks the
 * client to begin no more requests, the second names the last one that is answered.
 *
 * <p>Confined to one event loop.
 */
final class GracefulShutdown {
    /** Ticks between the two steps. */
    private static final int TICKS = 4;
    /** Longest GOAWAY frame that is sent here. */
    static final int GOAWAY_BYTES = 17;

    private boolean begun;
    private boolean lastAnnounced;
    private int lastId = Integer.MAX_VALUE;
    private int ticksLeft;

    /** The first step; once. */
    void begin(FrameOutput output) {
        if (!begun) {
            begun = true;
            ticksLeft = TICKS;
            Frames.goAway(output.room(GOAWAY_BYTES), Integer.MAX_VALUE, ErrorCode.NO_ERROR);
        }
    }

    /** Whether it is time for the second step; once a tick. */
    boolean isSecondDue() {
        return begun && !lastAnnounced && --ticksLeft <= 0;
    }

    /**
     * The second step, also without the first.
     *
     * @param last highest stream that the client has begun
     * @return false when the client was told before
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

    /** Whether requests that begin now are not answered. */
    boolean isLastAnnounced() {
        return lastAnnounced;
    }

    /** The last stream that a GOAWAY frame may name now: never above one that was named before. */
    int lastId(int last) {
        return Math.min(lastId, last);
    }
}
