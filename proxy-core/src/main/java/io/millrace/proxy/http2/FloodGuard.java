package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.frame.Http2Fault;

/**
 * Counters of client actions that are allowed at a limited rate: resets, faults, and frames without content. Each
 * counter rises by one per event and falls by the allowed number within 30 s.
 *
 * <p>Confined to one event loop.
 */
final class FloodGuard {
    /** Number of ticks of the connection set in a window of 30 s. */
    private static final int WINDOW_TICKS = 120;

    private static final int EARNED_MAX = 20_000;

    private int resets;
    private int streamFaults;
    private int controlFrames;
    private int ticks;

    /** Lowers the counters. Call once per tick of the connection set. */
    void onTick(Http2Settings settings) {
        // The counters fall by whole numbers: each tick subtracts the part due since the start of the window.
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

    /** Counts a reset by the client of a request that is not answered yet. */
    void reset(Http2Settings settings) throws Http2Exception {
        if (++resets > settings.resetsMax()) {
            throw tooMany(Http2Fault.RESETS, "more resets of requests than http2.resets allows");
        }
    }

    /** Counts a stream that this side reset because of a fault of the client. */
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

    /** Counts a sent DATA frame, for which the client may send two WINDOW_UPDATE frames, perhaps much later. */
    void earned() {
        controlFrames = Math.max(-EARNED_MAX, controlFrames - 2);
    }

    private static Http2Exception tooMany(Http2Fault fault, String what) {
        return Http2Exception.connection(ErrorCode.ENHANCE_YOUR_CALM, fault, what);
    }
}
