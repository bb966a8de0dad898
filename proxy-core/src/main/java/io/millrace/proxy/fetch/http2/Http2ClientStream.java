package io.millrace.proxy.fetch.http2;

import io.millrace.proxy.fetch.http2.StreamFailure.Kind;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.Frames;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.frame.Http2Fault;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * One request to an origin and its response, on one stream of an HTTP/2 connection.
 *
 * <p>Owns request content until it is written in a frame, and response content while its reader is paused. Confined to
 * the event loop of its connection.
 */
public final class Http2ClientStream {
    /** High-water mark of unsent request content in bytes. From it on, {@link #isWritable} is false. */
    private static final int QUEUED_BYTES_MAX = 64 << 10;
    /** Limit of interim responses before the final one, the same as for HTTP/1.1 origins. */
    private static final int INTERIM_MAX = 32;

    private final Http2ClientConnection connection;
    private final int id;
    private final StreamListener listener;
    private final int windowBytes;

    private final ArrayDeque<ByteBuf> queue = new ArrayDeque<>(0);
    private int queuedBytes;
    private long sentBytes;
    private long sendWindow;
    private boolean requestEnded;
    private boolean endSent;
    private boolean scheduled;
    /** True from the high-water mark until {@link StreamListener#onWritable} is called. */
    private boolean wasFull;

    private final UnreadContent unread = new UnreadContent();
    private final Runnable delivering = this::deliver;
    private boolean deliveryQueued;
    private int receiveWindow;
    /** Consumed bytes that no WINDOW_UPDATE has returned to the origin yet. */
    private int unacknowledged;
    /** Bytes of the current DATA frame not yet received as content. At the end of the frame, this is its padding. */
    private int framePadding;

    private int interimCount;
    private boolean headReceived;
    private boolean responseEnded;
    private boolean paused;
    private boolean ended;
    private @Nullable FieldSection trailers;

    Http2ClientStream(
            Http2ClientConnection connection, int id, StreamListener listener, int windowBytes, long sendWindow) {
        this.connection = connection;
        this.id = id;
        this.listener = listener;
        this.windowBytes = windowBytes;
        this.sendWindow = sendWindow;
        receiveWindow = windowBytes;
    }

    int id() {
        return id;
    }

    // sending

    /** Queues request content. Takes ownership; releases the content if the stream has ended. */
    public void write(ByteBuf content) {
        if (ended || requestEnded || responseEnded) {
            content.release();
            return;
        }
        queue.addLast(content);
        queuedBytes += content.readableBytes();
        wasFull |= !isWritable();
        connection.schedule(this);
    }

    /** Ends the request. */
    public void finish() {
        if (ended || requestEnded || responseEnded) {
            return;
        }
        requestEnded = true;
        connection.schedule(this);
    }

    /**
     * Returns true if more content should be written now. {@link StreamListener#onWritable} is called when this becomes
     * true again.
     */
    public boolean isWritable() {
        return !ended && queuedBytes < QUEUED_BYTES_MAX;
    }

    /** Returns true if request content waits to be sent. */
    public boolean hasUnsent() {
        return queuedBytes > 0;
    }

    /** The number of bytes of request content sent so far. */
    public long sentBytes() {
        return sentBytes;
    }

    void headSent(boolean endStream) {
        requestEnded = endStream;
        endSent = endStream;
    }

    boolean canSend() {
        return queuedBytes > 0 ? sendWindow > 0 && connection.sendWindow() > 0 : requestEnded && !endSent;
    }

    boolean isScheduled() {
        return scheduled;
    }

    void scheduled(boolean newValue) {
        scheduled = newValue;
    }

    /** Sends one DATA frame. */
    void sendFrame() {
        ByteBuf first = queue.peekFirst();
        if (first == null) {
            endSent = true;
            connection.output().data(id, connection.noContent(), true);
            return;
        }
        long lengthMax = Math.min(Math.min(sendWindow, connection.sendWindow()), Frames.PAYLOAD_BYTES_MAX);
        int length = (int) Math.min(lengthMax, first.readableBytes());
        ByteBuf piece = length == first.readableBytes() ? queue.removeFirst() : first.readRetainedSlice(length);
        queuedBytes -= length;
        sendWindow -= length;
        sentBytes += length;
        connection.takeSendWindow(length);
        endSent = requestEnded && queuedBytes == 0;
        connection.output().data(id, piece, endSent);
        if (wasFull && !requestEnded && queuedBytes <= QUEUED_BYTES_MAX / 2) {
            wasFull = false;
            listener.onWritable();
        }
    }

    /**
     * Enlarges the send window. {@code increment} is negative if the origin reduced its initial window. Returns false
     * if the window exceeds the limit.
     */
    boolean enlargeSendWindow(long increment) {
        sendWindow += increment;
        return sendWindow <= Frames.WINDOW_MAX;
    }

    // receiving

    boolean isHeadReceived() {
        return headReceived;
    }

    void onHead(ResponseHead head, boolean endStream) throws Http2Exception {
        if (head.isInterim()) {
            if (endStream) {
                throw malformed("an interim response with END_STREAM");
            }
            if (++interimCount > INTERIM_MAX) {
                throw malformed("more than " + INTERIM_MAX + " interim responses");
            }
        } else {
            headReceived = true;
        }
        listener.onHead(head);
        if (endStream) {
            responseEnded(null);
        }
    }

    /** Begins a DATA frame of this length, including padding. */
    void onData(int length) throws Http2Exception {
        if (!headReceived) {
            throw malformed("content before a response head");
        }
        if (length > receiveWindow) {
            throw Http2Exception.stream(
                    id, ErrorCode.FLOW_CONTROL_ERROR, Http2Fault.FLOW_CONTROL, "DATA exceeds the stream's window");
        }
        receiveWindow -= length;
        framePadding = length;
    }

    /** Receives content. The buffer is borrowed. */
    void onContent(ByteBuf in, int index, int length) {
        framePadding -= length;
        if (paused || !unread.isEmpty()) {
            unread.add(in, index, length, connection.alloc());
        } else {
            consumed(length);
            listener.onContent(in.retainedSlice(index, length));
        }
    }

    void onDataEnd(boolean endStream) {
        consumed(framePadding);
        if (endStream) {
            responseEnded(null);
        }
    }

    void responseEnded(@Nullable FieldSection received) {
        if (ended) {
            return;
        }
        responseEnded = true;
        trailers = received;
        connection.completed();
        dropQueue();
        if (!endSent) {
            // The response is complete, so nothing reads the rest of the request (RFC 9113 s8.1).
            connection.reset(this, ErrorCode.CANCEL);
        } else {
            connection.remove(this);
        }
        if (unread.isEmpty()) {
            ended = true;
            listener.onEnd(received);
        }
    }

    /** Pauses the delivery of content. Further content is kept, at most one window. */
    public void pause() {
        paused = true;
    }

    /** Resumes the delivery of content, but not within this call. */
    public void resume() {
        paused = false;
        if (!unread.isEmpty() && !deliveryQueued) {
            deliveryQueued = true;
            connection.eventLoop().execute(delivering);
        }
    }

    private void deliver() {
        deliveryQueued = false;
        while (!ended && !paused && !unread.isEmpty()) {
            ByteBuf piece = unread.take();
            consumed(piece.readableBytes());
            listener.onContent(piece);
        }
        if (!ended && responseEnded && unread.isEmpty()) {
            ended = true;
            listener.onEnd(trailers);
        }
    }

    /** Reopens the window after the reader has accepted content. */
    private void consumed(int bytes) {
        unacknowledged += bytes;
        if (!ended && !responseEnded && unacknowledged >= windowBytes / 2) {
            receiveWindow += unacknowledged;
            connection.windowUpdate(id, unacknowledged);
            unacknowledged = 0;
        }
    }

    // closing

    /** Cancels the stream. The listener receives no more events. */
    public void cancel() {
        if (ended) {
            return;
        }
        ended = true;
        drop();
        if (!responseEnded) {
            connection.reset(this, ErrorCode.CANCEL);
        }
    }

    /** Resets the stream because the origin violated the protocol. */
    void violated(ErrorCode code, String problem) {
        connection.reset(this, code);
        fail(Kind.BAD_RESPONSE, problem);
    }

    /** Reports the failure of the stream. The connection has already removed the stream. */
    void fail(Kind kind, String problem) {
        if (ended) {
            return;
        }
        ended = true;
        drop();
        listener.onFailure(new StreamFailure(kind, problem));
    }

    private void drop() {
        dropQueue();
        unread.release();
    }

    private void dropQueue() {
        ByteBuf piece;
        while ((piece = queue.pollFirst()) != null) {
            piece.release();
        }
        queuedBytes = 0;
    }

    private Http2Exception malformed(String problem) {
        return Http2Exception.stream(id, ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, problem);
    }
}
