package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.frame.Http2Fault;

/**
 * Counts what a client may do now and then but not all the time: resets, faults, frames that carry nothing. Each has a level
 * that rises by one with every event and falls by the allowed number within the window.
 *
 * <p>Confined to one event loop.
 */
final class FloodGuard {
    /** Ticks of the connection set in a window of 30 s. */
    private static final int WINDOW_TICKS = 120;

    private static final int EARNED_MAX = 20_000;

    private int resets;
    private int streamFaults;
    private int controlFrames;
    private int ticks;

    /** A tick of the connection set. */
    void onTick(Http2Settings settings) {
        // The levels fall in whole numbers: each tick by what is due since the window began.
        ticks = ticks == WINDOW_TICKS ? 1 : ticks + 1;
        resets = fall(resets, settings.resetsMax());
        streamFaults = fall(streamFaults, settings.streamFaultsMax());
        controlFrames = fall(controlFrames, settings.controlFramesMax());
    }

    private int fall(int level, int max) {
        if (level <= 0) {
            return level;
        }
        long due = (long) max * ticks / WINDOW_TICKS - (long) max * (ticks - 1) / WINDOW_TICKS;
        return (int) Math.max(0, level - due);
    }

    /** The client resets a request that is not answered yet. */
    void reset(Http2Settings settings) throws Http2Exception {
        if (++resets > settings.resetsMax()) {
            throw tooMany(Http2Fault.RESETS, "more resets of requests than http2.resets allows");
        }
    }

    /** The client makes this side reset a stream. */
    void streamFault(Http2Settings settings) throws Http2Exception {
        if (++streamFaults > settings.streamFaultsMax()) {
            throw tooMany(Http2Fault.STREAM_FAULTS, "more faulty streams than http2.stream_faults allows");
        }
    }

    /** A frame that carries neither a request nor content. */
    void controlFrame(Http2Settings settings) throws Http2Exception {
        if (++controlFrames > settings.controlFramesMax()) {
            throw tooMany(Http2Fault.CONTROL_FRAMES, "more control frames than http2.control_frames allows");
        }
    }

    /** A DATA frame was sent: two WINDOW_UPDATE frames in return are in order, perhaps much later. */
    void earned() {
        controlFrames = Math.max(-EARNED_MAX, controlFrames - 2);
    }

    private static Http2Exception tooMany(Http2Fault fault, String what) {
        return Http2Exception.connection(ErrorCode.ENHANCE_YOUR_CALM, fault, what);
    }
}
