package io.millrace.proxy.fetch;

import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.memory.SlowClients;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * One request to an origin through a connection pool, from {@code fetch} to its end. Passes the caller's request
 * content to the connection, and the response to the handler.
 *
 * <p>Confined to one event loop.
 */
final class PooledCall implements OriginCall {

    private enum State {
        /** The call has no connection yet, for example because the origin's limit of connections is reached. */
        WAITING,
        CONNECTING,
        ACTIVE,
        ENDED
    }

    /** The carrier of a call: an HTTP/1.1 connection, or one stream of an HTTP/2 connection. */
    interface Carrier {
        /** Sends the head of a call's request, at the end of the event loop iteration. */
        void start(PooledCall started);

        /** Sends a piece of content. Takes ownership. */
        void writeContent(ByteBuf piece, boolean chunked);

        void finishRequest();

        boolean isRequestWritable();

        void pauseReading();

        void resumeReading();

        /** Ends the call, because its caller does not need the rest of the response. */
        void abandon();

        /** Fails the connection or stream, and its call. */
        void fail(OriginFailure.Reason reason, String problem);

        /**
         * Returns true if the origin can report a request as unprocessed (REFUSED_STREAM, GOAWAY). If so, sent content
         * is kept for a retry.
         */
        default boolean mayRefuse() {
            return false;
        }
    }

    /** Limit in bytes of sent content that is kept for the retry of a request that the origin has not processed. */
    private static final int RETRY_BYTES_MAX = 64 << 10;
    /** Limit of retries of a request that the origin has not processed. */
    private static final int RETRIES_MAX = 5;

    private final OriginPool pool;
    private final OriginRequest request;
    private final OriginResponseHandler handler;
    /** Request content that waits until the call has a connection. */
    private final ArrayDeque<ByteBuf> unsentContent = new ArrayDeque<>(0);

    /** The neighbours of the call among the open calls of the client, which maintains them. */
    @Nullable
    PooledCall before;

    @Nullable
    PooledCall after;

    private State state = State.WAITING;
    private @Nullable ConnectAttempt attempt;
    private @Nullable Carrier connection;
    /** True until {@code fetch} returns; until then the handler must not be called. */
    private boolean withinFetch = true;

    private boolean requestFinished;
    private boolean paused;
    private int unsentBytes;
    private long writtenBytes;
    private boolean anyContentSent;
    /** End of the wait for a connection, in ns of the event loop's ticker. */
    private long waitsUntil;
    /** Sent content, kept for a retry. Contains all sent content while {@link #sentKept} is true. */
    private @Nullable ArrayDeque<ByteBuf> sent;

    /** Bytes in {@link #sent}. */
    private int keptBytes;

    private boolean sentKept = true;
    private int retries;

    PooledCall(OriginPool pool, OriginRequest request, OriginResponseHandler handler) {
        this.pool = pool;
        this.request = request;
        this.handler = handler;
        requestFinished = !request.hasContent();
    }

    OriginRequest request() {
        return request;
    }

    /** Called when {@code fetch} returns: from now on the handler may be called directly. */
    void started() {
        withinFetch = false;
    }

    void waitUntil(long nanos) {
        waitsUntil = nanos;
    }

    long waitsUntil() {
        return waitsUntil;
    }

    void connecting(ConnectAttempt currentAttempt) {
        state = State.CONNECTING;
        attempt = currentAttempt;
    }

    /** Sends the request head and the content that has been written so far. */
    void start(Carrier carrier) {
        state = State.ACTIVE;
        attempt = null;
        connection = carrier;
        carrier.start(this);
        while (connection == carrier && !unsentContent.isEmpty()) {
            ByteBuf piece = unsentContent.removeFirst();
            unsentBytes -= piece.readableBytes();
            send(carrier, piece);
        }
        if (connection == carrier && requestFinished && request.hasContent()) {
            carrier.finishRequest();
        }
        if (connection == carrier && !requestFinished) {
            pool.eventLoop().execute(this::requestWritable);
        }
    }

    /**
     * Returns true if the request may be retried: its method is idempotent (RFC 9110 s9.2.2) and none of its content
     * has been sent.
     */
    boolean isRetryable() {
        return !anyContentSent && request.method().isIdempotent();
    }

    /** Counts a retry. Returns true for the first one only. */
    boolean countRetry() {
        return retries++ == 0;
    }

    /**
     * Prepares the retry of a request that the origin has not processed. Returns false if sent content was dropped or
     * the limit is reached.
     */
    boolean retryUnprocessed() {
        if ((anyContentSent && !sentKept) || ++retries > RETRIES_MAX) {
            return false;
        }
        ArrayDeque<ByteBuf> kept = sent;
        ByteBuf piece;
        while (kept != null && (piece = kept.pollLast()) != null) {
            unsentContent.addFirst(piece);
            unsentBytes += piece.readableBytes();
        }
        keptBytes = 0;
        anyContentSent = false;
        return true;
    }

    /**
     * Retries the request on another connection. For HTTP/1.1 that is a new connection, so a second retry cannot become
     * necessary.
     */
    void retry() {
        state = State.WAITING;
        connection = null;
        pool.retry(this);
    }

    boolean isPaused() {
        return paused;
    }

    /** Returns true if the head was sent with {@code Expect: 100-continue} and none of the content was sent. */
    boolean awaitsContinue() {
        return !anyContentSent && !requestFinished && request.fields().hasToken(FieldName.EXPECT, "100-continue");
    }

    @Override
    public void write(ByteBuf content) {
        if (state == State.ENDED) {
            content.release();
            return;
        }
        int length = content.readableBytes();
        String misuse = null;
        if (requestFinished) {
            misuse = "the request is finished or has no content";
        } else if (request.contentLength() >= 0 && writtenBytes + length > request.contentLength()) {
            misuse = "content: actual=" + (writtenBytes + length) + ", limit=" + request.contentLength();
        } else if (connection == null && unsentBytes + length > HELD_BYTES_MAX) {
            misuse =
                    "content held without a connection: actual=" + (unsentBytes + length) + ", limit=" + HELD_BYTES_MAX;
        }
        if (misuse != null) {
            content.release();
            throw new IllegalStateException(misuse + ", where=" + request);
        }
        if (length == 0) {
            // An empty chunk would end the content.
            content.release();
            return;
        }
        writtenBytes += length;
        Carrier carrier = connection;
        if (carrier == null) {
            unsentContent.addLast(content);
            unsentBytes += length;
        } else {
            send(carrier, content);
        }
    }

    @Override
    public void finishRequest() {
        if (state == State.ENDED || requestFinished) {
            return;
        }
        if (request.contentLength() >= 0 && writtenBytes < request.contentLength()) {
            cancel();
            throw new IllegalStateException(
                    "content: actual=" + writtenBytes + ", expected=" + request.contentLength() + ", where=" + request);
        }
        requestFinished = true;
        if (connection != null) {
            connection.finishRequest();
        }
    }

    @Override
    public boolean isRequestWritable() {
        return connection != null && !requestFinished && connection.isRequestWritable();
    }

    @Override
    public SlowClients.OriginDemand demand() {
        return connection == null ? SlowClients.OriginDemand.NONE : pool.demand(request.settings());
    }

    @Override
    public void pauseReading() {
        paused = true;
        if (connection != null) {
            connection.pauseReading();
        }
    }

    @Override
    public void resumeReading() {
        paused = false;
        if (connection != null) {
            connection.resumeReading();
        }
    }

    @Override
    public void cancel() {
        State previousState = state;
        if (previousState == State.ENDED) {
            return;
        }
        Carrier carrier = connection;
        ConnectAttempt currentAttempt = attempt;
        end();
        if (previousState == State.WAITING) {
            pool.withdraw(this);
        } else if (currentAttempt != null) {
            currentAttempt.withdraw();
        } else if (carrier != null) {
            carrier.abandon();
        }
    }

    /** Called when the {@link OriginClient} was closed. */
    void clientClosed() {
        if (state == State.ENDED) {
            return;
        }
        Carrier carrier = connection;
        ConnectAttempt currentAttempt = attempt;
        if (currentAttempt != null) {
            currentAttempt.abandon();
        } else if (carrier != null) {
            carrier.fail(OriginFailure.Reason.CANCELLED, "the origin client was closed");
        }
        failed(OriginFailure.Reason.CANCELLED, request.origin() + ": the origin client was closed", carrier == null);
    }

    void interim(ResponseHead head) {
        if (head.status() == 100) {
            handler.onContinue();
        } else {
            handler.onInterim(head);
        }
    }

    /** Called when the connection has switched protocols and no longer belongs to the pool. */
    void switched(ResponseHead head, SwitchedConnection to) {
        end();
        handler.onSwitched(head, to);
    }

    void head(ResponseHead head, ResponseFraming framing) {
        dropSent();
        handler.onHead(head, framing);
    }

    void content(ByteBuf content) {
        handler.onContent(content);
    }

    void requestWritable() {
        if (isRequestWritable()) {
            handler.onRequestWritable();
        }
    }

    void completed(@Nullable FieldSection trailers) {
        if (state != State.ENDED) {
            end();
            handler.onComplete(trailers);
        }
    }

    void failed(OriginFailure.Reason reason, String message, boolean beforeHead) {
        if (state == State.ENDED) {
            return;
        }
        end();
        pool.client().statistics().failed(reason);
        OriginFailure failure = new OriginFailure(reason, message, beforeHead);
        if (withinFetch) {
            pool.eventLoop().execute(() -> handler.onFailure(failure));
        } else {
            handler.onFailure(failure);
        }
    }

    private void send(Carrier carrier, ByteBuf piece) {
        anyContentSent = true;
        if (carrier.mayRefuse() && sentKept) {
            keptBytes += piece.readableBytes();
            if (keptBytes > RETRY_BYTES_MAX) {
                dropSent();
            } else {
                if (sent == null) {
                    sent = new ArrayDeque<>(4);
                }
                sent.addLast(piece.retainedDuplicate());
            }
        }
        carrier.writeContent(piece, request.contentLength() < 0);
    }

    /** Releases the kept content. The request then cannot be retried any more. */
    private void dropSent() {
        sentKept = false;
        ArrayDeque<ByteBuf> kept = sent;
        sent = null;
        ByteBuf piece;
        while (kept != null && (piece = kept.pollFirst()) != null) {
            piece.release();
        }
    }

    private void end() {
        dropSent();
        state = State.ENDED;
        attempt = null;
        connection = null;
        ByteBuf piece;
        while ((piece = unsentContent.pollFirst()) != null) {
            piece.release();
        }
        unsentBytes = 0;
        pool.client().ended(this);
    }
}
