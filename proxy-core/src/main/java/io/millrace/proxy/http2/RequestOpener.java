package io.millrace.proxy.http2;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.forward.TrailerFields;
import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.frame.Http2Fault;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.DecidedRequest;
import io.millrace.proxy.net.RequestHandler;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Begins each request of a connection. Answers the request from RAM, passes it to an exchange (the object that
 * processes a request), or refuses it.
 *
 * <p>Confined to the connection's event loop.
 */
final class RequestOpener {
    private final Http2Connection connection;
    private final Http2Loop shared;
    private int requests;
    /** Initial send window of new streams, in bytes. */
    private int sendWindow;

    /** The priority from a PRIORITY_UPDATE frame that preceded its request; null for none. */
    private @Nullable StreamPriority earlyPriority;

    /** The stream id of the request to which {@link #earlyPriority} belongs. */
    private int earlyPriorityStream;

    RequestOpener(Http2Connection connection, Http2Loop shared) {
        this.connection = connection;
        this.shared = shared;
    }

    /** Keeps the priority of a request that has not begun. */
    void prioritize(int streamId, StreamPriority priority) {
        earlyPriority = priority;
        earlyPriorityStream = streamId;
    }

    /**
     * Begins the request whose fields were decoded last into the shared {@link RequestFields}.
     *
     * @param initialSendWindow initial send window of the stream, in bytes
     */
    void open(int streamId, boolean endStream, int initialSendWindow) throws Http2Exception {
        RequestFields fields = shared.fields();
        Http2Settings settings = connection.settings();
        sendWindow = initialSendWindow;
        shared.parts().events().onRequest();
        connection.onRequest();
        requests++;
        boolean last = shared.parts().connections().closesAfterRequest()
                || (settings.requestsPerConnectionMax() > 0 && requests >= settings.requestsPerConnectionMax());
        if (last) {
            connection.beginShutdown();
        }
        if (fields.isTooLarge()) {
            refuse(streamId, BadRequest.HEADER_TOO_LARGE, endStream);
            return;
        }
        RequestHead head = fields.head(connection.client().secure());
        String malformed = fields.malformed();
        if (malformed != null) {
            refuseMalformed(streamId, malformed);
        }
        BadRequest refused = fields.refused();
        if (head == null || refused != null) {
            refuse(streamId, refused == null ? BadRequest.SYNTAX : refused, endStream);
            return;
        }
        if (!connection.covers(head.target())) {
            shared.parts().events().onFault(Http2Fault.MISDIRECTED);
            refuse(streamId, BadRequest.MISDIRECTED, endStream);
            return;
        }
        DecidedRequest decided = null;
        if (endStream
                && fields.isPlain()
                && shared.parts().answersDirectly().get()
                && connection.output().isWritable()) {
            decided = answerFast(streamId, head);
            if (decided == null) {
                shared.parts().events().onAnswered();
                return;
            }
        }
        begin(streamId, fields, head, decided, endStream, settings);
    }

    /**
     * Tries to answer the request from RAM, without an exchange object.
     *
     * @return null if the request was answered; otherwise the cache decision, with which an exchange continues
     */
    private @Nullable DecidedRequest answerFast(int streamId, RequestHead head) {
        Http2FastStream stream = shared.fastStream();
        int window = Math.max(0, Math.min(connection.sender().window(), sendWindow));
        stream.begin(
                connection.output().reserve(0), connection.client(), streamId, window, connection.takeTableUpdate());
        DecidedRequest decided = shared.parts().fast().onFastRequest(stream, head);
        if (decided != null) {
            stream.discardResponse();
            if (stream.hadTableUpdate()) {
                connection.disableHpackTable();
            }
            return decided;
        }
        connection.sender().sentUnscheduled(stream.sent());
        ByteBuf unsent = stream.takeUnsentContent();
        if (stream.sent() > 0) {
            connection.frames().sentFrame(stream.sent(), unsent != null);
        }
        if (unsent != null) {
            Http2Stream waiting = new Http2Stream(connection, streamId, sendWindow - stream.sent());
            connection.streams().put(waiting);
            waiting.drain(unsent);
        }
        stream.end();
        return null;
    }

    private void begin(
            int streamId,
            RequestFields fields,
            RequestHead head,
            @Nullable DecidedRequest decided,
            boolean endStream,
            Http2Settings settings)
            throws Http2Exception {
        Http2Stream stream = new Http2Stream(connection, streamId, sendWindow);
        long contentLength = fields.contentLength();
        boolean tunnels = head.method() == Method.CONNECT || fields.isExtendedConnect();
        if (endStream && contentLength > 0) {
            refuseMalformed(streamId, "Content-Length does not match the content");
        }
        connection.streams().put(stream);
        RequestHead owned = fields.withOwnBytes(head);
        prioritize(stream, owned);
        stream.wantTrailers(TrailerFields.areWanted(owned.fields()));
        long expected = endStream ? 0 : contentLength;
        if (tunnels) {
            beginTunnel(stream, owned, endStream);
            return;
        }
        stream.request().expect(expected, owned.fields().hasToken(FieldName.EXPECT, "100-continue"));
        if (expected > 0 && settings.contentBytesMax() > 0 && expected > settings.contentBytesMax()) {
            refuse(stream, BadRequest.CONTENT_TOO_LARGE);
            return;
        }
        stream.handler(
                decided == null
                        ? shared.parts().receiver().onRequest(stream, owned, expected)
                        : decided.resume(stream, owned));
        if (endStream) {
            stream.endRequest();
        }
    }

    /** Begins a tunnel. The request itself has no content: DATA frames carry the bytes of the tunnel. */
    private void beginTunnel(Http2Stream stream, RequestHead head, boolean endStream) throws Http2Exception {
        stream.requestTunnel();
        RequestHandler exchange = shared.parts().receiver().onRequest(stream, head, 0);
        stream.handler(exchange);
        exchange.onRequestEnd();
        if (endStream) {
            stream.endRequest();
        }
    }

    private void prioritize(Http2Stream stream, RequestHead head) {
        StreamPriority signal = earlyPriority;
        int line = head.fields().find(FieldName.PRIORITY);
        if (signal != null && earlyPriorityStream == stream.id()) {
            earlyPriority = null;
            connection.sender().prioritize(stream, signal);
        } else if (line >= 0) {
            StreamPriority priority = new StreamPriority();
            priority.read(
                    head.fields().bytes(),
                    head.fields().valueStart(line),
                    head.fields().valueEnd(line));
            connection.sender().prioritize(stream, priority);
        }
    }

    /** Refuses a request whose frames are correct with an error response. */
    private void refuse(int streamId, BadRequest reason, boolean endStream) throws Http2Exception {
        Http2Stream stream = new Http2Stream(connection, streamId, sendWindow);
        connection.streams().put(stream);
        if (endStream) {
            stream.endRequest();
        }
        refuse(stream, reason);
    }

    private void refuse(Http2Stream stream, BadRequest reason) {
        shared.parts().receiver().onBadRequest(stream, reason);
    }

    /** Resets the stream of a malformed request without a response (RFC 9113 s8.1.1). Logs the request as refused. */
    private void refuseMalformed(int streamId, String malformed) throws Http2Exception {
        Http2Stream stream = new Http2Stream(connection, streamId, 0);
        stream.onGone();
        shared.parts().receiver().onBadRequest(stream, BadRequest.SYNTAX);
        throw Http2Exception.stream(streamId, ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, malformed);
    }
}
