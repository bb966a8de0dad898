package io.millrace.proxy.fetch;

import io.millrace.proxy.memory.SlowClients;
import io.netty.buffer.ByteBuf;

/**
 * The caller's side of one request under way: its content, back-pressure, and the way out.
 *
 * <p>Confined to one event loop, that of the {@link OriginClient}.
 */
public interface OriginCall {

    /**
     * Sends a piece of the request's content. Takes ownership, also when the call has already ended: the piece is then dropped. A piece written before there
     * is a connection is held until there is one.
     *
     * @throws IllegalStateException when the request has no content, is finished, more comes than its Content-Length, or a caller that ignores {@link
     *     #isRequestWritable()} makes the held pieces grow beyond {@value #HELD_BYTES_MAX} bytes
     */
    void write(ByteBuf content);

    /**
     * Ends the request's content. Nothing when the call has already ended.
     *
     * @throws IllegalStateException when less was written than the request's Content-Length; the connection is closed and the call is over, unreported
     */
    void finishRequest();

    /** Whether more content should be written now; when false, {@link OriginResponseHandler#onRequestWritable()} tells when that changes. */
    boolean isRequestWritable();

    /**
     * Stops reading from the origin's connection, so that the kernel's buffers fill and the origin stops sending. What was read already still comes: at most one
     * receive buffer. No deadline runs while paused.
     */
    void pauseReading();

    /** Reads on after {@link #pauseReading()}. */
    void resumeReading();

    /**
     * Ends the call without interest in the rest: nothing is reported any more. A connection in use is closed, one still being made is kept for others.
     * Idempotent, and nothing when the call has already ended.
     */
    void cancel();

    /** How much others want the connection that carries the call. */
    default SlowClients.OriginDemand demand() {
        return SlowClients.OriginDemand.NONE;
    }

    /** How much request content is held, in bytes, while there is no connection. */
    int HELD_BYTES_MAX = 1 << 20;
}
