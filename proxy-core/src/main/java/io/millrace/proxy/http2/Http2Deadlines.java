package io.millrace.proxy.http2;

import java.util.concurrent.TimeUnit;

/**
 * The timers that end a client's HTTP/2 connection. There are three: for an incomplete frame or field block, for
 * a connection without requests, and for the linger time after the last byte.
 *
 * <p>Checked once per tick (the periodic check of all connections). Confined to one event loop.
 */
final class Http2Deadlines {
    /** Time in which a client may read the last bytes before the connection is closed. */
    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long UNSET = 0;

    /** Time of the tick that first found an incomplete preface, frame or field block. */
    private long partSinceNanos = UNSET;

    private long idleSinceNanos = UNSET;
    private long lingerSinceNanos = UNSET;
    private long framesRead;
    /** Value of {@link #framesRead} at the previous tick. */
    private long framesAtTick;

    /** Records progress: a complete frame, or a part of a DATA frame, was read. */
    void onFrame() {
        framesRead++;
    }

    /**
     * Returns true if a preface, frame or field block was begun but not completed in time.
     *
     * @param partial whether a preface, frame or field block has begun and is incomplete
     * @param inBlock whether the client is within a field block, whose frames do not count as progress
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

    /** Restarts the idle time: a request has begun, or the last one has ended. */
    void restartIdle() {
        idleSinceNanos = UNSET;
    }

    /** Returns true if the connection has been without requests for too long. */
    boolean isIdleTooLong(long nowNanos, long timeoutNanos) {
        if (idleSinceNanos == UNSET) {
            idleSinceNanos = nowNanos;
            return false;
        }
        return nowNanos - idleSinceNanos >= timeoutNanos;
    }

    /**
     * Returns true if a closing connection has lingered long enough.
     *
     * @param sending whether this process still has bytes to send; the linger time begins after the last of them
     * @param acknowledged whether the client has acknowledged all bytes at TCP level. Otherwise the send timeout
     *     applies: if the connection were closed now, the client's next WINDOW_UPDATE would cause a TCP reset, and the
     *     client would lose the last bytes
     */
    boolean isLingerOver(boolean sending, boolean acknowledged, long nowNanos, long sendTimeoutNanos) {
        if (sending || lingerSinceNanos == UNSET) {
            lingerSinceNanos = nowNanos;
            return false;
        }
        return nowNanos - lingerSinceNanos >= (acknowledged ? LINGER_NANOS : sendTimeoutNanos);
    }
}
