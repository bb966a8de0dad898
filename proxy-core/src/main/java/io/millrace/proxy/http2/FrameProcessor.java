package io.millrace.proxy.http2;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.Method;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.forward.TrailerFields;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.DecidedRequest;
import io.millrace.proxy.net.RequestHandler;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Acts on a client's frames: begins requests, feeds them with content, keeps windows and settings (RFC 9113 s5, s6, s8).
 *
 * <p>Confined to the connection's event loop.
 */
final class FrameProcessor implements FrameReader.Receiver {
    /** A DATA frame that a window cut shorter than this allows no WINDOW_UPDATE in return. */
    private static final int CUT_FRAME_BYTES_MIN = 512;
    /** Settings of one frame that are not counted as frames; there are fewer than ten identifiers. */
    private static final int SETTINGS_IN_FRAME_FREE = 16;

    private final Http2Connection connection;
    private final Http2Loop home;
    private final HpackDecoder hpack = new HpackDecoder();
    private final FloodGuard guard = new FloodGuard();

    private int receiveWindow = Frames.WINDOW_DEFAULT;
    private int receiveWindowMax = Frames.WINDOW_DEFAULT;
    private int initialSendWindow = Frames.WINDOW_DEFAULT;
    private boolean anySettings;
    private int settingsInFrame;
    /** Whether the DATA frame under way has had content. */
    private boolean anyContent;

    private int requests;
    /** A priority that was told before its request, and the request's stream. */
    private @Nullable StreamPriority early;

    private int earlyStream;

    FrameProcessor(Http2Connection connection, Http2Loop home) {
        this.connection = connection;
        this.home = home;
    }

    /** The connection's window has been announced as so many bytes. */
    void receiveWindow(int bytes) {
        receiveWindow = bytes;
        receiveWindowMax = bytes;
    }

    /** Bytes of the client are taken apart: what they ask for came together. */
    void beginRead() {
        home.parts().direct().onTurn();
    }

    void onTick(Http2Settings settings) {
        guard.onTick(settings);
    }

    /**
     * A DATA frame was sent: the client answers with WINDOW_UPDATE.
     *
     * @param cut whether a window ended the frame before the content that waits
     */
    void sentFrame(int bytes, boolean cut) {
        // A client that opens its window by a few bytes at a time costs a frame for each (CVE-2019-9511).
        if (!cut || bytes >= CUT_FRAME_BYTES_MIN) {
            guard.earned();
        }
    }

    // requests

    @Override
    public void onHeaders(int streamId, byte[] block, int length, boolean endStream, @Nullable Http2Exception error)
            throws Http2Exception {
        StreamTable streams = connection.streams();
        Http2Settings settings = connection.settings();
        Http2Stream known = streams.get(streamId);
        RequestFields fields = home.fields();
        fields.begin(settings.headerListMax(), known != null);
        if (known != null) {
            hpack.decode(block, 0, length, fields);
            onTrailers(known, fields, endStream);
            return;
        }
        if ((streamId & 1) == 0) {
            throw protocol("a stream of an even number");
        }
        hpack.decode(block, 0, length, fields);
        if (streamId <= streams.lastId()) {
            if (streams.wasReset(streamId)) {
                guard.controlFrame(settings);
                return;
            }
            throw streams.wasOpened(streamId)
                    ? Http2Exception.connection(
                            ErrorCode.STREAM_CLOSED, Http2Fault.STREAM_CLOSED, "HEADERS on a stream that is over")
                    : protocol("a stream lower than those before");
        }
        streams.begin(streamId);
        if (connection.isLastAnnounced()) {
            // The client knows by now that it is not answered (RFC 9113 s6.8).
            streams.markReset(streamId);
            return;
        }
        if (error != null) {
            throw error;
        }
        if (streams.size() >= settings.streamsMax()) {
            throw Http2Exception.stream(
                    streamId, ErrorCode.REFUSED_STREAM, Http2Fault.STREAMS, "more streams than http2.streams allows");
        }
        begin(streamId, fields, endStream, settings);
    }

    private void onTrailers(Http2Stream stream, RequestFields fields, boolean endStream) throws Http2Exception {
        if (stream.isRequestEnded()) {
            throw Http2Exception.stream(
                    stream.id(), ErrorCode.STREAM_CLOSED, Http2Fault.STREAM_CLOSED, "HEADERS behind a request's end");
        }
        String malformed = endStream ? fields.malformed() : "trailers that do not end their stream";
        if (malformed != null) {
            throw Http2Exception.stream(stream.id(), ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, malformed);
        }
        if (fields.isTooLarge()) {
            stream.failRequest(BadRequest.HEADER_TOO_LARGE);
            return;
        }
        stream.endRequest();
    }

    private void begin(int streamId, RequestFields fields, boolean endStream, Http2Settings settings)
            throws Http2Exception {
        home.parts().events().onRequest();
        connection.onRequest();
        requests++;
        boolean last = home.parts().connections().isDraining()
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
            home.parts().events().onFault(Http2Fault.MISDIRECTED);
            refuse(streamId, BadRequest.MISDIRECTED, endStream);
            return;
        }
        DecidedRequest decided = null;
        if (endStream
                && fields.isPlain()
                && home.parts().answersDirectly().get()
                && connection.output().isWritable()) {
            decided = answerDirectly(streamId, head);
            if (decided == null) {
                home.parts().events().onAnswered();
                return;
            }
        }
        begin(streamId, fields, head, decided, endStream, settings);
    }

    /** Null when the request is answered. */
    private @Nullable DecidedRequest answerDirectly(int streamId, RequestHead head) {
        DirectStream stream = home.directStream();
        int window = Math.max(0, Math.min(connection.sendWindow(), initialSendWindow));
        stream.begin(connection.output().room(0), connection.client(), streamId, window, connection.takeTableUpdate());
        DecidedRequest decided = home.parts().direct().onDirectRequest(stream, head);
        if (decided != null) {
            stream.takeBack();
            if (stream.hadTableUpdate()) {
                connection.giveUpTable();
            }
            return decided;
        }
        connection.sentDirectly(stream.sent());
        ByteBuf rest = stream.takeRest();
        if (stream.sent() > 0) {
            sentFrame(stream.sent(), rest != null);
        }
        if (rest != null) {
            Http2Stream waiting = new Http2Stream(connection, streamId, initialSendWindow - stream.sent());
            connection.streams().put(waiting);
            waiting.drain(rest);
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
        Http2Stream stream = new Http2Stream(connection, streamId, initialSendWindow);
        long contentLength = fields.contentLength();
        boolean tunnels = head.method() == Method.CONNECT || fields.isExtendedConnect();
        if (endStream && contentLength > 0) {
            throw Http2Exception.stream(
                    streamId,
                    ErrorCode.PROTOCOL_ERROR,
                    Http2Fault.PROTOCOL,
                    "Content-Length that differs from the content");
        }
        connection.streams().put(stream);
        RequestHead owned = fields.owned(head);
        prioritize(stream, owned);
        stream.wantTrailers(TrailerFields.areWanted(owned.fields()));
        long expected = endStream ? 0 : contentLength;
        if (tunnels) {
            beginTunnel(stream, owned, endStream);
            return;
        }
        stream.expect(expected, owned.fields().hasToken(FieldName.EXPECT, "100-continue"));
        if (expected > 0 && settings.contentBytesMax() > 0 && expected > settings.contentBytesMax()) {
            refuse(stream, BadRequest.CONTENT_TOO_LARGE);
            return;
        }
        stream.handler(
                decided == null
                        ? home.parts().receiver().onRequest(stream, owned, expected)
                        : decided.resume(stream, owned));
        if (endStream) {
            stream.endRequest();
        }
    }

    /** Content is what the tunnel carries: the request itself has none. */
    private void beginTunnel(Http2Stream stream, RequestHead head, boolean endStream) throws Http2Exception {
        stream.askTunnel();
        RequestHandler exchange = home.parts().receiver().onRequest(stream, head, 0);
        stream.handler(exchange);
        exchange.onRequestEnd();
        if (endStream) {
            stream.endRequest();
        }
    }

    private void prioritize(Http2Stream stream, RequestHead head) {
        StreamPriority told = early;
        int line = head.fields().find(FieldName.PRIORITY);
        if (told != null && earlyStream == stream.id()) {
            early = null;
            connection.prioritize(stream, told);
        } else if (line >= 0) {
            StreamPriority priority = new StreamPriority();
            priority.read(
                    head.fields().bytes(),
                    head.fields().valueStart(line),
                    head.fields().valueEnd(line));
            connection.prioritize(stream, priority);
        }
    }

    /** Answers a request that is well-formed and refused all the same. */
    private void refuse(int streamId, BadRequest reason, boolean endStream) throws Http2Exception {
        Http2Stream stream = new Http2Stream(connection, streamId, initialSendWindow);
        connection.streams().put(stream);
        if (endStream) {
            stream.endRequest();
        }
        refuse(stream, reason);
    }

    private void refuse(Http2Stream stream, BadRequest reason) {
        home.parts().receiver().onBadRequest(stream, reason);
    }

    /** A malformed request is no request to be answered: its stream is reset (RFC 9113 s8.1.1), and it is logged as refused. */
    private void refuseMalformed(int streamId, String malformed) throws Http2Exception {
        Http2Stream stream = new Http2Stream(connection, streamId, 0);
        stream.onGone();
        home.parts().receiver().onBadRequest(stream, BadRequest.SYNTAX);
        throw Http2Exception.stream(streamId, ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, malformed);
    }

    // content

    @Override
    public void onData(int streamId, int length, boolean endStream) throws Http2Exception {
        if (length > receiveWindow) {
            throw Http2Exception.connection(
                    ErrorCode.FLOW_CONTROL_ERROR, Http2Fault.FLOW_CONTROL, "DATA above the connection's window");
        }
        receiveWindow -= length;
        if (receiveWindow < receiveWindowMax / 2) {
            // Each stream's own window bounds the content that it does not take.
            Frames.windowUpdate(connection.output().room(13), 0, receiveWindowMax - receiveWindow);
            receiveWindow = receiveWindowMax;
        }
        anyContent = false;
        Http2Stream stream = connection.streams().get(streamId);
        if (stream != null) {
            stream.receiving(length);
        } else if (connection.streams().isIdle(streamId)) {
            throw protocol("DATA on a stream that has not begun");
        } else if (!connection.streams().wasReset(streamId)) {
            throw Http2Exception.stream(
                    streamId, ErrorCode.STREAM_CLOSED, Http2Fault.STREAM_CLOSED, "DATA on a stream that is over");
        }
    }

    @Override
    public void onContent(int streamId, ByteBuf in, int index, int length) throws Http2Exception {
        anyContent = true;
        Http2Stream stream = connection.streams().get(streamId);
        if (stream != null) {
            stream.content(in, index, length, connection.settings().contentBytesMax());
        }
    }

    @Override
    public void onDataEnd(int streamId, boolean endStream) throws Http2Exception {
        if (!anyContent && !endStream) {
            // Empty, or padding alone.
            guard.controlFrame(connection.settings());
        }
        Http2Stream stream = connection.streams().get(streamId);
        if (stream == null) {
            return;
        }
        if (endStream) {
            stream.endRequest();
        } else {
            connection.giveWindow(stream);
        }
    }

    // the rest

    @Override
    public void onReset(int streamId, long code) throws Http2Exception {
        Http2Stream stream = connection.streams().get(streamId);
        if (stream == null) {
            if (connection.streams().isIdle(streamId)) {
                throw protocol("RST_STREAM on a stream that has not begun");
            }
            guard.controlFrame(connection.settings());
            return;
        }
        connection.remove(stream);
        stream.onGone();
        home.parts().events().onReset();
        guard.reset(connection.settings());
    }

    @Override
    public void onSetting(int identifier, long value) throws Http2Exception {
        if (++settingsInFrame > SETTINGS_IN_FRAME_FREE) {
            // Each initial window is applied to every stream.
            guard.controlFrame(connection.settings());
        }
        switch (identifier) {
            case Frames.SETTING_HEADER_TABLE_SIZE -> {
                if (value < HpackDecoder.TABLE_BYTES_MAX) {
                    connection.giveUpTable();
                }
            }
            case Frames.SETTING_ENABLE_PUSH,
                    Frames.SETTING_ENABLE_CONNECT_PROTOCOL,
                    Frames.SETTING_NO_RFC7540_PRIORITIES -> {
                if (value > 1) {
                    throw protocol("a setting that is neither 0 nor 1");
                }
            }
            case Frames.SETTING_INITIAL_WINDOW_SIZE -> initialWindow(value);
            case Frames.SETTING_MAX_FRAME_SIZE -> {
                if (value < Frames.PAYLOAD_BYTES_MAX || value > 0xff_ffff) {
                    throw protocol("SETTINGS_MAX_FRAME_SIZE out of its range");
                }
            }
            default -> {
                // The others say what this side need not know.
            }
        }
    }

    private void initialWindow(long value) throws Http2Exception {
        if (value > Frames.WINDOW_MAX) {
            throw windowOverflow();
        }
        int change = (int) value - initialSendWindow;
        initialSendWindow = (int) value;
        for (Http2Stream stream : connection.streams().all()) {
            if (!stream.enlargeWindow(change)) {
                throw windowOverflow();
            }
            connection.schedule(stream);
        }
    }

    private static Http2Exception windowOverflow() {
        return Http2Exception.connection(
                ErrorCode.FLOW_CONTROL_ERROR, Http2Fault.FLOW_CONTROL, "a window above 2^31-1");
    }

    @Override
    public void onSettingsEnd() throws Http2Exception {
        settingsInFrame = 0;
        if (anySettings) {
            guard.controlFrame(connection.settings());
        }
        anySettings = true;
        Frames.settingsAck(connection.output().room(Frames.HEADER_BYTES));
    }

    @Override
    public void onPing(long opaque) throws Http2Exception {
        guard.controlFrame(connection.settings());
        Frames.pingAck(connection.output().room(17), opaque);
    }

    @Override
    public void onWindowUpdate(int streamId, int increment) throws Http2Exception {
        guard.controlFrame(connection.settings());
        if (streamId == 0) {
            if (!connection.enlargeWindow(increment)) {
                throw windowOverflow();
            }
            return;
        }
        Http2Stream stream = connection.streams().get(streamId);
        if (stream != null) {
            if (!stream.enlargeWindow(increment)) {
                throw Http2Exception.stream(
                        streamId, ErrorCode.FLOW_CONTROL_ERROR, Http2Fault.FLOW_CONTROL, "a window above 2^31-1");
            }
            connection.schedule(stream);
        } else if (connection.streams().isIdle(streamId)) {
            throw protocol("WINDOW_UPDATE on a stream that has not begun");
        }
    }

    @Override
    public void onGoAway(int lastStreamId, long code) throws Http2Exception {
        // Requests in progress are answered; the client begins no more by itself.
        guard.controlFrame(connection.settings());
    }

    @Override
    public void onPriorityUpdate(int streamId, ByteBuf in, int index, int length) throws Http2Exception {
        guard.controlFrame(connection.settings());
        StreamPriority priority = new StreamPriority();
        priority.read(in, index, length);
        Http2Stream stream = connection.streams().get(streamId);
        if (stream != null) {
            connection.prioritize(stream, priority);
        } else if (streamId > connection.streams().lastId()) {
            early = priority;
            earlyStream = streamId;
        }
    }

    @Override
    public void onIdleFrame() throws Http2Exception {
        guard.controlFrame(connection.settings());
    }

    @Override
    public void onStreamError(Http2Exception error) throws Http2Exception {
        int streamId = error.streamId();
        if (connection.streams().isIdle(streamId)) {
            throw Http2Exception.connection(error.code(), error.fault(), String.valueOf(error.getMessage()));
        }
        home.parts().events().onFault(error.fault());
        Frames.rstStream(connection.output().room(13), streamId, error.code());
        connection.streams().markReset(streamId);
        Http2Stream stream = connection.streams().get(streamId);
        if (stream != null) {
            connection.remove(stream);
            stream.onGone();
        }
        guard.streamFault(connection.settings());
    }

    private static Http2Exception protocol(String what) {
        return Http2Exception.connection(ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, what);
    }
}
