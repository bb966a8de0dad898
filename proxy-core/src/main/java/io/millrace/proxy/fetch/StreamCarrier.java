package io.millrace.proxy.fetch;

import io.millrace.proxy.fetch.http2.Http2ClientConnection;
import io.millrace.proxy.fetch.http2.Http2ClientStream;
import io.millrace.proxy.fetch.http2.StreamFailure;
import io.millrace.proxy.fetch.http2.StreamListener;
import io.millrace.proxy.fetch.http2.StreamRequest;
import io.millrace.proxy.fetch.response.FramingDecision;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.ResponseHead;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Carries one call on one stream of an HTTP/2 connection.
 *
 * <p>The deadline depends on the awaited event, as for an HTTP/1.1 connection. While both sides may still send and no
 * request content waits to be sent, no deadline runs: the PING of the connection detects an unreachable origin.
 *
 * <p>Confined to one event loop.
 */
final class StreamCarrier implements PooledCall.Carrier, StreamListener {

    /** The event that the deadline waits for. */
    private enum Awaited {
        /** No deadline runs: the caller must act next, or both sides may act next. */
        CALLER,
        /** The origin must accept more of the unsent request content. */
        REQUEST_PROGRESS,
        HEAD,
        CONTENT
    }

    private final MultiplexedConnection connection;
    private final boolean reused;
    private final PooledCall call;
    private final Deadline deadline;
    private final Http2ClientStream stream;
    private boolean requestFinished;
    private boolean headReceived;
    private boolean ended;
    /** Bytes of content still to come, by Content-Length; negative when unknown. */
    private long contentLeft = -1;

    /** The event for which the deadline was last set. */
    private Awaited armedFor = Awaited.CALLER;
    /** Sent bytes of content when the deadline was set; more bytes mean progress. */
    private long sentBefore;
    /** True if the origin has sent anything since the deadline for request progress began. */
    private boolean receivedSince;

    /** Sends the head of the call's request. */
    StreamCarrier(
            MultiplexedConnection connection, Http2ClientConnection http2Connection, PooledCall call, boolean reused) {
        this.connection = connection;
        this.call = call;
        this.reused = reused;
        OriginRequest request = call.request();
        requestFinished = !request.hasContent();
        deadline = new Deadline(connection.pool().eventLoop(), this::deadlineReached);
        stream = http2Connection.open(head(request), this);
        if (call.isPaused()) {
            stream.pause();
        }
    }

    private static StreamRequest head(OriginRequest request) {
        byte[] target = request.target();
        boolean secure = request.origin().isSecure();
        if (target[0] != '/' && target[0] != '*') {
            // The request goes to a proxy: its target is a URI.
            String uri = new String(target, StandardCharsets.ISO_8859_1);
            int path = uri.indexOf('/', uri.indexOf("://") + 3);
            secure = uri.startsWith("https:");
            target = path < 0 ? new byte[] {'/'} : Arrays.copyOfRange(target, path, target.length);
        }
        FieldSection fields = request.fields();
        int host = fields.find(FieldName.HOST);
        byte[] authority = host < 0
                ? request.origin().authority().getBytes(StandardCharsets.ISO_8859_1)
                : Arrays.copyOfRange(fields.bytes(), fields.valueStart(host), fields.valueEnd(host));
        return new StreamRequest(
                request.methodName(),
                secure,
                authority,
                target,
                fields,
                request.hasContent() ? request.contentLength() : -1,
                request.hasContent(),
                request.isTrailersWanted());
    }

    @Override
    public void start(PooledCall started) {
        armDeadline();
    }

    @Override
    public boolean mayRefuse() {
        return true;
    }

    @Override
    public void writeContent(ByteBuf piece, boolean chunked) {
        stream.write(piece);
        armDeadline();
    }

    @Override
    public void finishRequest() {
        requestFinished = true;
        stream.finish();
        armDeadline();
    }

    @Override
    public boolean isRequestWritable() {
        return stream.isWritable();
    }

    @Override
    public void pauseReading() {
        stream.pause();
        armDeadline();
    }

    @Override
    public void resumeReading() {
        stream.resume();
        armDeadline();
    }

    @Override
    public void abandon() {
        if (end(false)) {
            stream.cancel();
            connection.streamEnded();
        }
    }

    @Override
    public void fail(OriginFailure.Reason reason, String problem) {
        if (end(false)) {
            stream.cancel();
            failCall(reason, problem);
        }
    }

    @Override
    public void onHead(ResponseHead head) {
        receivedSince = true;
        if (head.isInterim()) {
            armedFor = Awaited.CALLER;
            call.interim(head);
            armDeadline();
            return;
        }
        FramingDecision decision = FramingDecision.of(head, call.request().method() == Method.HEAD, null);
        if (decision instanceof FramingDecision.Rejected rejected) {
            fail(OriginFailure.Reason.BAD_RESPONSE, rejected.problem());
        } else if (decision instanceof FramingDecision.Framed framed) {
            // Without a length in the head, the end of the stream ends the content.
            ResponseFraming framing =
                    framed.framing().isCloseDelimited() ? ResponseFraming.BY_CHUNKS : framed.framing();
            headReceived = true;
            contentLeft = framing.contentLength();
            call.head(head, framing);
            armDeadline();
        }
    }

    @Override
    public void onContent(ByteBuf content) {
        receivedSince = true;
        int length = content.readableBytes();
        if (contentLeft >= 0 && length > contentLeft) {
            content.release();
            fail(
                    OriginFailure.Reason.BAD_RESPONSE,
                    "more content than the response head allows, limit=" + contentLeft + " more bytes");
            return;
        }
        if (contentLeft >= 0) {
            contentLeft -= length;
        }
        call.content(content);
        armDeadline();
    }

    @Override
    public void onEnd(@Nullable FieldSection trailers) {
        if (contentLeft > 0) {
            fail(
                    OriginFailure.Reason.TRUNCATED,
                    "the content ended " + contentLeft + " bytes before its Content-Length");
        } else if (end(true)) {
            connection.streamEnded();
            call.completed(trailers);
        }
    }

    @Override
    public void onWritable() {
        armDeadline();
        call.requestWritable();
    }

    @Override
    public void onFailure(StreamFailure failure) {
        if (!end(false)) {
            return;
        }
        switch (failure.kind()) {
            case NOT_PROCESSED -> {
                connection.pool().client().statistics().http2NotProcessed++;
                if (call.retryUnprocessed()) {
                    connection.streamEnded();
                    call.retry();
                } else {
                    failCall(OriginFailure.Reason.RESET, failure.problem());
                }
            }
            case RESET -> {
                if (reused && !headReceived && call.isRetryable() && call.countRetry()) {
                    connection.streamEnded();
                    call.retry();
                } else {
                    failCall(
                            headReceived ? OriginFailure.Reason.TRUNCATED : OriginFailure.Reason.RESET,
                            failure.problem() + (headReceived ? " in the middle of a response" : " before a response"));
                }
            }
            case BAD_RESPONSE -> failCall(OriginFailure.Reason.BAD_RESPONSE, failure.problem());
            case TLS -> failCall(OriginFailure.Reason.TLS, failure.problem());
            case MEMORY -> failCall(OriginFailure.Reason.MEMORY, failure.problem());
            case INTERNAL -> failCall(OriginFailure.Reason.INTERNAL, failure.problem());
        }
    }

    private void failCall(OriginFailure.Reason reason, String problem) {
        connection.streamEnded();
        call.failed(reason, connection.pool().origin() + ": " + problem, !headReceived);
    }

    /** Ends the carrier. Returns false if it had already ended. */
    private boolean end(boolean complete) {
        if (ended) {
            return false;
        }
        ended = true;
        deadline.cancel();
        if (complete) {
            connection.served();
        }
        return true;
    }

    /**
     * Sets the deadline for the currently awaited event. The time restarts when the event changes, and at every piece
     * of content.
     */
    private void armDeadline() {
        if (ended) {
            return;
        }
        Awaited next = awaited();
        if (next == armedFor && next != Awaited.CONTENT) {
            return;
        }
        armedFor = next;
        FetchSettings limits = call.request().settings();
        switch (next) {
            case CALLER -> deadline.clear();
            case REQUEST_PROGRESS -> {
                sentBefore = stream.sentBytes();
                receivedSince = false;
                deadline.set(limits.requestIdleTimeoutNanos());
            }
            case HEAD -> deadline.set(limits.firstByteTimeoutNanos());
            case CONTENT -> deadline.set(limits.responseIdleTimeoutNanos());
        }
    }

    private Awaited awaited() {
        if (stream.hasUnsent()) {
            return Awaited.REQUEST_PROGRESS;
        }
        if (call.isPaused()) {
            return Awaited.CALLER;
        }
        if (headReceived) {
            return requestFinished ? Awaited.CONTENT : Awaited.CALLER;
        }
        return requestFinished || call.awaitsContinue() ? Awaited.HEAD : Awaited.CALLER;
    }

    private void deadlineReached() {
        FetchSettings limits = call.request().settings();
        switch (armedFor) {
            case CALLER -> {}
            case REQUEST_PROGRESS -> {
                // An origin that is sending its response may accept the rest of the request later, as in a
                // bidirectional stream of messages.
                if (!stream.hasUnsent() || stream.sentBytes() > sentBefore || receivedSince) {
                    armedFor = Awaited.CALLER;
                    armDeadline();
                } else {
                    failLate(
                            OriginFailure.Reason.REQUEST_TIMEOUT,
                            "the origin read none of the request's content within "
                                    + PooledOriginClient.millis(limits.requestIdleTimeoutNanos()));
                }
            }
            case HEAD ->
                failLate(
                        OriginFailure.Reason.FIRST_BYTE_TIMEOUT,
                        "no response head within " + PooledOriginClient.millis(limits.firstByteTimeoutNanos()));
            case CONTENT ->
                failLate(
                        OriginFailure.Reason.IDLE_TIMEOUT,
                        "no content for " + PooledOriginClient.millis(limits.responseIdleTimeoutNanos()));
        }
    }

    /** Fails the stream after a deadline. A PING then checks whether the connection still works. */
    private void failLate(OriginFailure.Reason reason, String problem) {
        connection.probe();
        fail(reason, problem);
    }
}
