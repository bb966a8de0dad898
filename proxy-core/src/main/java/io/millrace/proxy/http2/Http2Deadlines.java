package io.millrace.proxy.http2;

import java.util.concurrent.TimeUnit;

/**
 * The times after which a client's HTTP/2 connection ends: with a part of a frame or field block, without a request, and behind
 * its last byte.
 *
 * <p>Looked at once a tick. Confined to one event loop.
 */
final class Http2Deadlines {
    /** Time in which a client may read the last bytes before the connection is closed. */
    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long UNSET = 0;

    private long partSinceNanos = UNSET;
    private long idleSinceNanos = UNSET;
    private long lingerSinceNanos = UNSET;
    private long framesRead;
    private long framesAtTick;

    /** A whole frame, or a part of a DATA frame, was read. */
    void onFrame() {
        framesRead++;
    }

    /**
     * Whether a preface, frame or field block that has begun does not come in time.
     *
     * @param partial whether one has begun
     * @param inBlock whether it is a field block: other frames cannot come within it
     */
    boolean isPartLate(boolean partial, boolean inBlock, long nowNanos, long timeoutNanos) {
        boolean progress = framesRead != framesAtTick && !inBlock;
        framesAtTick = framesRead;
        if (!partial || progress) {
            partSinceNanos = UNSET;
        } else if (partSinceNanos == UNSET) {
            partSinceNanos = nowNanos;
        } else {
            return nowNanos - partSinceNanos >= timeoutNanos;
        }
        return false;
    }

    /** A request has begun, or the last one is over. */
    void restartIdle() {
        idleSinceNanos = UNSET;
    }

    /** Whether a connection without requests has been so for too long. */
    boolean isIdleTooLong(long nowNanos, long timeoutNanos) {
        if (idleSinceNanos == UNSET) {
            idleSinceNanos = nowNanos;
            return false;
        }
        return nowNanos - idleSinceNanos >= timeoutNanos;
    }

    /**
     * Whether a connection that ends has lingered for long enough.
     *
     * @param sending whether bytes have not left this process: the time begins behind them
     * @param acknowledged whether the client has all bytes: else it is given the time of a client that takes nothing, since its
     *     next WINDOW_UPDATE would reset a connection that is closed
     */
    boolean isLingerOver(boolean sending, boolean acknowledged, long nowNanos, long sendTimeoutNanos) {
        if (sending || lingerSinceNanos == UNSET) {
            lingerSinceNanos = nowNanos;
            return false;
        }
        return nowNanos - lingerSinceNanos >= (acknowledged ? LINGER_NANOS : sendTimeoutNanos);
    }
}
