package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.Frames;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.frame.Http2Fault;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ContentRate;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.net.RequestReceiver;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Passes the content of one request from the client to the exchange (the object that processes the request). Checks the
 * length and the limits of the content, and maintains the receive window of the stream.
 *
 * <p>Owns content that the exchange has not read yet. Confined to one event loop.
 */
final class RequestContent {
    /** Minimum initial size in bytes of the buffer for content that waits for the exchange. */
    private static final int WAITING_BYTES_FIRST = 1024;

    private final Http2Stream stream;
    private final Http2Connection connection;
    private final ReceiveWindow window = new ReceiveWindow();
    private final ContentRate rate = new ContentRate();
    /** The announced length in bytes; {@link RequestReceiver#CHUNKED} if the client announced none. */
    private long length = RequestReceiver.CHUNKED;

    private long received;
    private boolean ended;
    private boolean failed;
    private boolean reading = true;
    /** Content that arrived while the exchange was not reading; owned. */
    private @Nullable ByteBuf waiting;

    private boolean awaitsContinue;
    private boolean continued;
    /** Time of the first tick without new content; 0 if content has arrived since the last tick. */
    private long idleSinceNanos;

    RequestContent(Http2Stream stream, Http2Connection connection) {
        this.stream = stream;
        this.connection = connection;
    }

    /**
     * @param announced value of Content-Length; {@link RequestReceiver#CHUNKED} if absent
     */
    void expect(long announced, boolean waitsForContinue) {
        length = announced;
        awaitsContinue = waitsForContinue;
    }

    /** Records that 100 (Continue) was sent. */
    void continued() {
        continued = true;
    }

    /** Returns true if the client has ended the request with END_STREAM. */
    boolean isEnded() {
        return ended;
    }

    /** Returns true if no content waits for the exchange. */
    boolean isDelivered() {
        return waiting == null;
    }

    /** Marks the request side as ended, for a stream that carries only the rest of a response. */
    void endWithoutContent() {
        ended = true;
    }

    /** Subtracts a DATA frame from the receive window. The size includes padding. */
    void receiving(int frameBytes) throws Http2Exception {
        if (ended) {
            throw Http2Exception.stream(
                    stream.id(), ErrorCode.STREAM_CLOSED, Http2Fault.STREAM_CLOSED, "DATA after END_STREAM");
        }
        if (!window.take(frameBytes)) {
            throw Http2Exception.stream(
                    stream.id(),
                    ErrorCode.FLOW_CONTROL_ERROR,
                    Http2Fault.FLOW_CONTROL,
                    "DATA exceeds the stream's window");
        }
    }

    /**
     * Passes content to the exchange or keeps a copy. The buffer is borrowed.
     *
     * @param bytesMax limit of the whole content in bytes; 0 for no limit
     */
    void take(ByteBuf in, int index, int count, long bytesMax) throws Http2Exception {
        received += count;
        idleSinceNanos = 0;
        if (length >= 0 && received > length) {
            throw lengthError();
        }
        rate.received(count);
        RequestHandler receiver = stream.receiver();
        if (receiver == null || failed) {
            return;
        }
        if (bytesMax > 0 && received > bytesMax) {
            fail(BadRequest.CONTENT_TOO_LARGE);
        } else if (reading && waiting == null) {
            receiver.onContent(in.retainedSlice(index, count));
        } else {
            keep(in, index, count);
        }
    }

    /**
     * Keeps content until the exchange reads. Copies the content, because a slice of a small frame would retain a
     * whole receive buffer. The stream's window limits the size.
     */
    private void keep(ByteBuf in, int index, int count) {
        ByteBuf buffer = waiting;
        if (buffer == null) {
            buffer = connection.alloc().buffer(Math.max(count, WAITING_BYTES_FIRST));
            waiting = buffer;
        }
        buffer.writeBytes(in, index, count);
    }

    /** Sets whether the exchange accepts content. While it accepts none, arriving content is kept here. */
    void read(boolean on) {
        reading = on;
        if (on) {
            deliver();
            connection.reopenWindow(stream);
        } else {
            rate.pause();
        }
    }

    /** Passes the waiting content to the exchange, and the end of the request after it. */
    private void deliver() {
        ByteBuf buffer = waiting;
        RequestHandler receiver = stream.handler();
        if (buffer == null || receiver == null) {
            return;
        }
        waiting = null;
        receiver.onContent(buffer);
        if (ended && !failed) {
            notifyEnd();
        }
    }

    private void notifyEnd() {
        RequestHandler handler = stream.receiver();
        if (handler != null) {
            handler.onRequestEnd();
        }
    }

    /** Reopens the window after a DATA frame, unless the exchange has stopped reading. */
    void reopenWindow(int windowBytes) {
        if (ended || !reading) {
            return;
        }
        int increment = window.enlarge(windowBytes);
        if (increment > 0) {
            Frames.windowUpdate(connection.output().reserve(13), stream.id(), increment);
        }
    }

    /**
     * Ends the request.
     *
     * @param notifies whether to notify the exchange; if content waits, {@link #deliver} notifies it later
     */
    void end(boolean notifies) throws Http2Exception {
        if (length >= 0 && received != length) {
            throw lengthError();
        }
        ended = true;
        if (waiting == null && !failed && notifies) {
            notifyEnd();
        }
    }

    private Http2Exception lengthError() {
        return Http2Exception.stream(
                stream.id(),
                ErrorCode.PROTOCOL_ERROR,
                Http2Fault.PROTOCOL,
                "Content-Length does not match the content");
    }

    /** Fails the request because of invalid or missing input of the client. */
    void fail(BadRequest reason) {
        if (failed || ended) {
            return;
        }
        failed = true;
        drop();
        RequestHandler handler = stream.handler();
        if (handler != null && !stream.isResponseEnded()) {
            handler.onRequestFailure(reason);
        }
    }

    /**
     * Checks the deadlines of a request whose response has not ended. Call once per tick (the periodic check of all
     * connections).
     */
    void onTick(long nowNanos, Http2Settings settings) {
        if (ended || failed) {
            return;
        }
        boolean awaited = reading && (continued || received > 0 || !awaitsContinue);
        if (rate.checkTooSlow(nowNanos, awaited, settings.contentRateMin(), settings.contentRateWindowNanos())) {
            fail(BadRequest.CONTENT_RATE);
        } else if (!reading || idleSinceNanos == 0) {
            idleSinceNanos = nowNanos;
        } else if (nowNanos - idleSinceNanos >= settings.contentTimeoutNanos()) {
            fail(BadRequest.CONTENT_TIMEOUT);
        }
    }

    /** Releases the waiting content. */
    void drop() {
        ByteBuf buffer = waiting;
        waiting = null;
        if (buffer != null) {
            buffer.release();
        }
    }
}
