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
 * Content of one request on its way from the client to the exchange: its length, its limits, its window.
 *
 * <p>Owns content that the exchange does not read yet. Confined to one event loop.
 */
final class RequestContent {
    private static final int HELD_BYTES_FIRST = 1024;

    private final Http2Stream stream;
    private final Http2Connection connection;
    private final ReceiveWindow window = new ReceiveWindow();
    private final ContentRate rate = new ContentRate();
    private long length = RequestReceiver.CHUNKED;
    private long received;
    private boolean ended;
    private boolean failed;
    private boolean wanted = true;
    /** Content that came while the exchange did not read; owned. */
    private @Nullable ByteBuf held;

    private boolean awaitsContinue;
    private boolean continued;
    private long sinceNanos;

    RequestContent(Http2Stream stream, Http2Connection connection) {
        this.stream = stream;
        this.connection = connection;
    }

    /** @param announced Content-Length, or {@link RequestReceiver#CHUNKED} without one */
    void expect(long announced, boolean waitsForContinue) {
        length = announced;
        awaitsContinue = waitsForContinue;
    }

    /** 100 (Continue) was sent. */
    void continued() {
        continued = true;
    }

    /** Whether the client has ended its side of the stream. */
    boolean isEnded() {
        return ended;
    }

    /** Whether no content waits for the exchange. */
    boolean isDelivered() {
        return held == null;
    }

    /** There is no request but the response: its side counts as ended. */
    void endWithoutContent() {
        ended = true;
    }

    /** A DATA frame of that size comes, padding included. */
    void receiving(int frameBytes) throws Http2Exception {
        if (ended) {
            throw Http2Exception.stream(
                    stream.id(), ErrorCode.STREAM_CLOSED, Http2Fault.STREAM_CLOSED, "DATA behind the end of a request");
        }
        if (!window.take(frameBytes)) {
            throw Http2Exception.stream(
                    stream.id(),
                    ErrorCode.FLOW_CONTROL_ERROR,
                    Http2Fault.FLOW_CONTROL,
                    "DATA above the stream's window");
        }
    }

    /**
     * Takes content; borrows the buffer.
     *
     * @param bytesMax limit of the whole content, 0 for none
     */
    void take(ByteBuf in, int index, int count, long bytesMax) throws Http2Exception {
        received += count;
        sinceNanos = 0;
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
        } else if (wanted && held == null) {
            receiver.onContent(in.retainedSlice(index, count));
        } else {
            hold(in, index, count);
        }
    }

    /**
     * Copies content that the exchange does not read yet behind what waits. Slices would keep whole receive buffers, one for
     * each small frame. The stream's window bounds the size.
     */
    private void hold(ByteBuf in, int index, int count) {
        ByteBuf buffer = held;
        if (buffer == null) {
            buffer = connection.alloc().buffer(Math.max(count, HELD_BYTES_FIRST));
            held = buffer;
        }
        buffer.writeBytes(in, index, count);
    }

    /** The exchange reads, or pauses. */
    void read(boolean on) {
        wanted = on;
        if (on) {
            deliver();
            connection.giveWindow(stream);
        } else {
            rate.pause();
        }
    }

    /** Gives the exchange the content that it did not read, and the request's end behind it. */
    private void deliver() {
        ByteBuf buffer = held;
        RequestHandler receiver = stream.handler();
        if (buffer == null || receiver == null) {
            return;
        }
        held = null;
        receiver.onContent(buffer);
        if (ended && !failed) {
            tellEnd();
        }
    }

    private void tellEnd() {
        RequestHandler told = stream.receiver();
        if (told != null) {
            told.onRequestEnd();
        }
    }

    /** A DATA frame is over: the client may send as much again, where the exchange takes more. */
    void giveWindow(int windowBytes) {
        if (ended || !wanted) {
            return;
        }
        int increment = window.enlarge(windowBytes);
        if (increment > 0) {
            Frames.windowUpdate(connection.output().room(13), stream.id(), increment);
        }
    }

    /** The client ends the request. */
    void end(boolean isTold) throws Http2Exception {
        if (length >= 0 && received != length) {
            throw lengthError();
        }
        ended = true;
        if (held == null && !failed && isTold) {
            tellEnd();
        }
    }

    private Http2Exception lengthError() {
        return Http2Exception.stream(
                stream.id(),
                ErrorCode.PROTOCOL_ERROR,
                Http2Fault.PROTOCOL,
                "Content-Length that differs from the content");
    }

    /** The request fails by what the client sends, or does not send. */
    void fail(BadRequest reason) {
        if (failed || ended) {
            return;
        }
        failed = true;
        drop();
        RequestHandler told = stream.handler();
        if (told != null && !stream.isResponseEnded()) {
            told.onRequestFailure(reason);
        }
    }

    /** Looks at the deadlines of a request whose response is not over; once a tick. */
    void onTick(long nowNanos, Http2Settings settings) {
        if (ended || failed) {
            return;
        }
        boolean awaited = wanted && (continued || received > 0 || !awaitsContinue);
        if (rate.isTooSlow(nowNanos, awaited, settings.contentRateMin(), settings.contentRateWindowNanos())) {
            fail(BadRequest.CONTENT_RATE);
        } else if (!wanted || sinceNanos == 0) {
            sinceNanos = nowNanos;
        } else if (nowNanos - sinceNanos >= settings.contentTimeoutNanos()) {
            fail(BadRequest.CONTENT_TIMEOUT);
        }
    }

    /** Releases what waits. */
    void drop() {
        ByteBuf buffer = held;
        held = null;
        if (buffer != null) {
            buffer.release();
        }
    }
}
