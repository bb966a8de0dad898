package io.millrace.proxy.fetch;

import io.millrace.proxy.memory.SlowClients;
import io.netty.buffer.ByteBuf;

/**
 * The caller's handle of one request in progress: request content, backpressure, and cancellation.
 *
 * <p>Confined to the event loop of the {@link OriginClient}.
 */
public interface OriginCall {

    /**
     * Sends a piece of the request's content. Takes ownership; drops the piece if the call has ended. A piece written
     * before the call has a connection is held.
     *
     * @throws IllegalStateException when the request has no content, is finished, or its Content-Length is exceeded;
     *     also when the held pieces exceed {@value #HELD_BYTES_MAX} bytes because the caller ignores
     *     {@link #isRequestWritable()}
     */
    void write(ByteBuf content);

    /**
     * Ends the request's content. Does nothing when the call has ended.
     *
     * @throws IllegalStateException when fewer bytes were written than the request's Content-Length; the call ends as
     *     by {@link #cancel()}
     */
    void finishRequest();

    /**
     * Returns true if the caller should write more content now. When this changes to true,
     * {@link OriginResponseHandler#onRequestWritable()} is called.
     */
    boolean isRequestWritable();

    /**
     * Stops reading from the origin's connection, so that the kernel's buffers fill and the origin stops sending. Bytes
     * already read are still delivered, at most one receive buffer. While paused, no deadline of the response runs.
     */
    void pauseReading();

    /** Resumes reading after {@link #pauseReading()}. */
    void resumeReading();

    /**
     * Ends the call: no callback follows. An HTTP/1.1 connection in use is closed, an HTTP/2 stream is reset; a
     * connection being made is kept for other calls. Idempotent; has no effect after the end of the call.
     */
    void cancel();

    /** Returns how urgently other calls need the connection of this call. */
    default SlowClients.OriginDemand demand() {
        return SlowClients.OriginDemand.NONE;
    }

    /** Limit in bytes of request content held while there is no connection. */
    int HELD_BYTES_MAX = 1 << 20;
}
