package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.frame.Http2Fault;

/**
 * Rate limits of costly client actions: resets, faults, and control frames. Each counter rises by one per event and
 * falls steadily, by its limit in 30 s. The connection ends when a counter exceeds its limit.
 *
 * <p>Confined to one event loop.
 */
final class FloodGuard {
    /** Number of ticks (periodic checks) of the connection set in a window of 30 s. */
    private static final int WINDOW_TICKS = 120;

    /** Limit of the extra control frames that a client may send later, because this proxy has sent it DATA frames. */
    private static final int ALLOWANCE_MAX = 20_000;

    private int resets;
    private int streamFaults;
    private int controlFrames;
    private int ticks;

    /** Lowers the counters. Call once per tick of the connection set. */
    void onTick(Http2Settings settings) {
        // The ticks of a window together lower a counter by exactly its limit. If each tick subtracted the limit
        // divided by the number of ticks, each tick would lose the fraction.
        ticks = ticks == WINDOW_TICKS ? 1 : ticks + 1;
        resets = lowered(resets, settings.resetsMax());
        streamFaults = lowered(streamFaults, settings.streamFaultsMax());
        controlFrames = lowered(controlFrames, settings.controlFramesMax());
    }

    private int lowered(int level, int max) {
        if (level <= 0) {
            return level;
        }
        long due = (long) max * ticks / WINDOW_TICKS - (long) max * (ticks - 1) / WINDOW_TICKS;
        return (int) Math.max(0, level - due);
    }

    /** Counts a reset by the client of a request that is not answered yet. */
    void countReset(Http2Settings settings) throws Http2Exception {
        if (++resets > settings.resetsMax()) {
            throw tooMany(Http2Fault.RESETS, "more resets of requests than http2.resets allows");
        }
    }

    /** Counts a stream that the proxy reset because of a fault of the client. */
    void streamFault(Http2Settings settings) throws Http2Exception {
        if (++streamFaults > settings.streamFaultsMax()) {
            throw tooMany(Http2Fault.STREAM_FAULTS, "more faulty streams than http2.stream_faults allows");
        }
    }

    /** Counts a frame that carries neither a request nor content. */
    void controlFrame(Http2Settings settings) throws Http2Exception {
        if (++controlFrames > settings.controlFramesMax()) {
            throw tooMany(Http2Fault.CONTROL_FRAMES, "more control frames than http2.control_frames allows");
        }
    }

    /**
     * Allows two more control frames because a DATA frame was sent. The client may answer the DATA frame with
     * WINDOW_UPDATE frames for the stream and the connection, at any later time.
     */
    void allowWindowUpdates() {
        controlFrames = Math.max(-ALLOWANCE_MAX, controlFrames - 2);
    }

    private static Http2Exception tooMany(Http2Fault fault, String problem) {
        return Http2Exception.connection(ErrorCode.ENHANCE_YOUR_CALM, fault, problem);
    }
}
