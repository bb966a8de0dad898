package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.FrameReader;
import io.millrace.proxy.http2.frame.Frames;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.frame.Http2Fault;
import io.millrace.proxy.http2.hpack.HpackDecoder;
import io.millrace.proxy.net.BadRequest;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Processes the frames of a client (RFC 9113 s5, s6, s8). Begins requests, passes on their content, and maintains
 * windows and settings.
 *
 * <p>Confined to the connection's event loop.
 */
final class FrameProcessor implements FrameReader.Receiver {
    /**
     * Minimum length in bytes of a sent DATA frame that allows the client more control frames, if a flow-control window
     * has limited the length of the frame. See {@link #sentFrame}.
     */
    private static final int CUT_FRAME_BYTES_MIN = 512;
    /**
     * Number of settings in one SETTINGS frame that {@link FloodGuard} does not count. Each further setting counts as a
     * control frame. Fewer than ten settings exist.
     */
    private static final int SETTINGS_IN_FRAME_FREE = 16;

    private final Http2Connection connection;
    private final Http2Loop shared;
    private final RequestOpener requests;
    private final HpackDecoder hpack = new HpackDecoder();
    private final FloodGuard guard = new FloodGuard();
    private final StreamLimit streamLimit = new StreamLimit();

    private int receiveWindow = Frames.WINDOW_DEFAULT;
    private int receiveWindowMax = Frames.WINDOW_DEFAULT;
    private int initialSendWindow = Frames.WINDOW_DEFAULT;
    /** True once the client has sent a SETTINGS frame. */
    private boolean anySettings;

    private int settingsInFrame;
    /** True if the current DATA frame has contained a byte of content. */
    private boolean anyContent;

    FrameProcessor(Http2Connection connection, Http2Loop shared) {
        this.connection = connection;
        this.shared = shared;
        requests = new RequestOpener(connection, shared);
    }

    /** Sets the size of the connection's receive window in bytes, as announced to the client. */
    void receiveWindow(int bytes) {
        receiveWindow = bytes;
        receiveWindowMax = bytes;
    }

    /**
     * Begins the processing of client bytes. All requests of one read share one time of arrival: the fast lane, which
     * answers requests from RAM, gets them as one batch, see {@link io.millrace.proxy.net.FastReceiver#beginBatch}.
     */
    void beginRead() {
        shared.parts().fast().beginBatch();
    }

    void onTick(Http2Settings settings) {
        guard.onTick(settings);
        if (streamLimit.announced() != settings.streamsMax()) {
            ByteBuf out = connection.output().reserve(Frames.HEADER_BYTES + 6);
            Frames.header(out, 6, Frames.SETTINGS, 0, 0);
            Frames.setting(out, Frames.SETTING_MAX_CONCURRENT_STREAMS, settings.streamsMax());
            streamLimit.announce(settings.streamsMax());
        }
    }

    StreamLimit streamLimit() {
        return streamLimit;
    }

    /**
     * Allows the client two more control frames after a DATA frame was sent, because it may answer with WINDOW_UPDATE
     * frames.
     *
     * @param bytes length of the content
     * @param cut whether a flow-control window limited the length of the frame, so that more content waits
     */
    void sentFrame(int bytes, boolean cut) {
        // A client could enlarge its window by a few bytes at a time, to make this proxy send many tiny frames
        // (CVE-2019-9511). Such frames must not allow it further control frames.
        if (!cut || bytes >= CUT_FRAME_BYTES_MIN) {
            guard.allowWindowUpdates();
        }
    }

    // requests

    @Override
    public void onHeaders(int streamId, byte[] block, int length, boolean endStream, @Nullable Http2Exception error)
            throws Http2Exception {
        StreamTable streams = connection.streams();
        Http2Settings settings = connection.settings();
        Http2Stream existing = streams.get(streamId);
        RequestFields fields = shared.fields();
        fields.begin(settings.headerListMax(), existing != null);
        if (existing != null) {
            hpack.decode(block, 0, length, fields);
            onTrailers(existing, fields, endStream);
            return;
        }
        if ((streamId & 1) == 0) {
            throw protocol("a stream with an even identifier");
        }
        hpack.decode(block, 0, length, fields);
        if (streamId <= streams.lastId()) {
            if (streams.wasReset(streamId)) {
                guard.controlFrame(settings);
                return;
            }
            throw streams.wasOpened(streamId)
                    ? Http2Exception.connection(
                            ErrorCode.STREAM_CLOSED, Http2Fault.STREAM_CLOSED, "HEADERS on a closed stream")
                    : protocol("a stream identifier lower than a previous one");
        }
        streams.begin(streamId);
        if (connection.isLastAnnounced()) {
            // GOAWAY has announced that this request is not answered (RFC 9113 s6.8).
            streams.markReset(streamId);
            return;
        }
        if (error != null) {
            throw error;
        }
        if (streams.size() >= streamLimit.max()) {
            throw Http2Exception.stream(
                    streamId, ErrorCode.REFUSED_STREAM, Http2Fault.STREAMS, "more streams than http2.streams allows");
        }
        requests.open(streamId, endStream, initialSendWindow);
    }

    private void onTrailers(Http2Stream stream, RequestFields fields, boolean endStream) throws Http2Exception {
        if (stream.request().isEnded()) {
            throw Http2Exception.stream(
                    stream.id(), ErrorCode.STREAM_CLOSED, Http2Fault.STREAM_CLOSED, "HEADERS after END_STREAM");
        }
        if (stream.isTunnelRequested()) {
            throw Http2Exception.stream(
                    stream.id(), ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, "HEADERS in a tunnel");
        }
        String malformed = endStream ? fields.malformed() : "trailers without END_STREAM";
        if (malformed != null) {
            throw Http2Exception.stream(stream.id(), ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, malformed);
        }
        if (fields.isTooLarge()) {
            stream.request().fail(BadRequest.HEADER_TOO_LARGE);
            return;
        }
        stream.endRequest();
    }

    // content

    @Override
    public void onData(int streamId, int length, boolean endStream) throws Http2Exception {
        if (length > receiveWindow) {
            throw Http2Exception.connection(
                    ErrorCode.FLOW_CONTROL_ERROR, Http2Fault.FLOW_CONTROL, "DATA exceeds the connection's window");
        }
        receiveWindow -= length;
        if (receiveWindow < receiveWindowMax / 2) {
            // The connection's window is reopened although content may still wait in streams: the window of each stream
            // limits the waiting content.
            Frames.windowUpdate(connection.output().reserve(13), 0, receiveWindowMax - receiveWindow);
            receiveWindow = receiveWindowMax;
        }
        anyContent = false;
        Http2Stream stream = connection.streams().get(streamId);
        if (stream != null) {
            stream.request().receiving(length);
        } else if (connection.streams().isIdle(streamId)) {
            throw protocol("DATA on an idle stream");
        } else if (!connection.streams().wasReset(streamId)) {
            throw Http2Exception.stream(
                    streamId, ErrorCode.STREAM_CLOSED, Http2Fault.STREAM_CLOSED, "DATA on a closed stream");
        }
    }

    @Override
    public void onContent(int streamId, ByteBuf in, int index, int length) throws Http2Exception {
        anyContent = true;
        Http2Stream stream = connection.streams().get(streamId);
        if (stream != null) {
            // The bytes of a tunnel are not request content.
            long bytesMax =
                    stream.isTunnelRequested() ? 0 : connection.settings().contentBytesMax();
            stream.request().take(in, index, length, bytesMax);
        }
    }

    @Override
    public void onDataEnd(int streamId, boolean endStream) throws Http2Exception {
        if (!anyContent && !endStream) {
            // The frame was empty or contained only padding.
            guard.controlFrame(connection.settings());
        }
        Http2Stream stream = connection.streams().get(streamId);
        if (stream == null) {
            return;
        }
        if (endStream) {
            stream.endRequest();
        } else {
            connection.reopenWindow(stream);
        }
    }

    // other frames

    @Override
    public void onReset(int streamId, long code) throws Http2Exception {
        Http2Stream stream = connection.streams().get(streamId);
        if (stream == null) {
            if (connection.streams().isIdle(streamId)) {
                throw protocol("RST_STREAM on an idle stream");
            }
            guard.controlFrame(connection.settings());
            return;
        }
        connection.remove(stream);
        stream.onGone();
        shared.parts().events().onReset();
        guard.countReset(connection.settings());
    }

    @Override
    public void onSetting(int identifier, long value) throws Http2Exception {
        if (++settingsInFrame > SETTINGS_IN_FRAME_FREE) {
            // A new initial window is applied to every stream, which costs time.
            guard.controlFrame(connection.settings());
        }
        switch (identifier) {
            case Frames.SETTING_HEADER_TABLE_SIZE -> {
                if (value < HpackDecoder.TABLE_BYTES_MAX) {
                    connection.disableHpackTable();
                }
            }
            case Frames.SETTING_ENABLE_PUSH,
                    Frames.SETTING_ENABLE_CONNECT_PROTOCOL,
                    Frames.SETTING_NO_RFC7540_PRIORITIES -> {
                if (value > 1) {
                    throw protocol("a boolean setting with a value other than 0 or 1");
                }
            }
            case Frames.SETTING_INITIAL_WINDOW_SIZE -> initialWindow(value);
            case Frames.SETTING_MAX_FRAME_SIZE -> {
                if (value < Frames.PAYLOAD_BYTES_MAX || value > 0xff_ffff) {
                    throw protocol("SETTINGS_MAX_FRAME_SIZE out of its range");
                }
            }
            default -> {
                // The proxy ignores the other settings.
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
            if (!stream.content().enlargeWindow(change)) {
                throw windowOverflow();
            }
            connection.sender().schedule(stream);
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
        Frames.settingsAck(connection.output().reserve(Frames.HEADER_BYTES));
    }

    @Override
    public void onSettingsAcknowledged() throws Http2Exception {
        streamLimit.onAcknowledgement();
        guard.controlFrame(connection.settings());
    }

    @Override
    public void onPing(long opaque) throws Http2Exception {
        guard.controlFrame(connection.settings());
        Frames.pingAck(connection.output().reserve(17), opaque);
    }

    @Override
    public void onWindowUpdate(int streamId, int increment) throws Http2Exception {
        guard.controlFrame(connection.settings());
        if (streamId == 0) {
            if (!connection.sender().enlargeWindow(increment)) {
                throw windowOverflow();
            }
            return;
        }
        Http2Stream stream = connection.streams().get(streamId);
        if (stream != null) {
            if (!stream.content().enlargeWindow(increment)) {
                throw Http2Exception.stream(
                        streamId, ErrorCode.FLOW_CONTROL_ERROR, Http2Fault.FLOW_CONTROL, "a window above 2^31-1");
            }
            connection.sender().schedule(stream);
        } else if (connection.streams().isIdle(streamId)) {
            throw protocol("WINDOW_UPDATE on an idle stream");
        }
    }

    @Override
    public void onGoAway(int lastStreamId, long code) throws Http2Exception {
        // Requests in progress are still answered. After GOAWAY, the client itself begins no new requests.
        guard.controlFrame(connection.settings());
    }

    @Override
    public void onPriorityUpdate(int streamId, ByteBuf in, int index, int length) throws Http2Exception {
        guard.controlFrame(connection.settings());
        StreamPriority priority = new StreamPriority();
        priority.read(in, index, length);
        Http2Stream stream = connection.streams().get(streamId);
        if (stream != null) {
            connection.sender().prioritize(stream, priority);
        } else if (streamId > connection.streams().lastId()) {
            requests.prioritize(streamId, priority);
        }
    }

    @Override
    public void onIgnoredFrame() throws Http2Exception {
        guard.controlFrame(connection.settings());
    }

    @Override
    public void onStreamError(Http2Exception error) throws Http2Exception {
        int streamId = error.streamId();
        if (connection.streams().isIdle(streamId)) {
            throw Http2Exception.connection(error.code(), error.fault(), String.valueOf(error.getMessage()));
        }
        shared.parts().events().onFault(error.fault());
        Frames.rstStream(connection.output().reserve(13), streamId, error.code());
        connection.streams().markReset(streamId);
        Http2Stream stream = connection.streams().get(streamId);
        if (stream != null) {
            connection.remove(stream);
            stream.onGone();
        }
        if (error.code() == ErrorCode.REFUSED_STREAM && !streamLimit.isKnown()) {
            guard.controlFrame(connection.settings());
        } else {
            guard.streamFault(connection.settings());
        }
    }

    private static Http2Exception protocol(String problem) {
        return Http2Exception.connection(ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, problem);
    }
}
