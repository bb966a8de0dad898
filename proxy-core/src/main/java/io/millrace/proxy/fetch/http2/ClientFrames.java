package io.millrace.proxy.fetch.http2;

import io.millrace.proxy.fetch.http2.StreamFailure.Kind;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.FrameReader;
import io.millrace.proxy.http2.frame.Frames;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.frame.Http2Fault;
import io.millrace.proxy.http2.hpack.HpackDecoder;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponseStatus;
import org.jspecify.annotations.Nullable;

/**
 * Processes the HTTP/2 frames that an origin sends: heads, content, windows and settings.
 *
 * <p>Confined to one event loop.
 */
final class ClientFrames implements FrameReader.Receiver {
    /**
     * Limit of consecutive control frames from an origin, without a head or content between them. Each may need a
     * reply, so a flood of control frames costs memory. Well-behaved origins send only a few for each frame of content
     * in either direction.
     */
    private static final int CONTROL_FRAMES_MAX = 10_000;

    private final Http2ClientConnection connection;
    private final ResponseFields fields;
    private final int headerListMax;
    private final HpackDecoder decoder = new HpackDecoder();
    private final int windowBytes;
    private int receiveWindow;
    /** Received bytes that no WINDOW_UPDATE has returned to the origin yet. */
    private int unacknowledged;

    private int controlFrames;
    /** True if the origin has announced its limit of streams. */
    private boolean streamLimitReceived;

    ClientFrames(Http2ClientConnection connection, ResponseFields fields, int headerListMax, int windowBytes) {
        this.connection = connection;
        this.fields = fields;
        this.headerListMax = headerListMax;
        this.windowBytes = windowBytes;
        receiveWindow = windowBytes;
    }

    /** Resets the count of control frames: content was sent, or a part of a response was received. */
    void onProgress() {
        controlFrames = 0;
    }

    @Override
    public void onData(int streamId, int length, boolean endStream) throws Http2Exception {
        if (connection.isIdle(streamId)) {
            throw protocol("DATA on an idle stream");
        }
        if (length > receiveWindow) {
            throw Http2Exception.connection(
                    ErrorCode.FLOW_CONTROL_ERROR, Http2Fault.FLOW_CONTROL, "DATA exceeds the connection's window");
        }
        if (length == 0 && !endStream) {
            controlFrame();
        } else {
            onProgress();
        }
        receiveWindow -= length;
        unacknowledged += length;
        if (unacknowledged >= windowBytes / 4) {
            receiveWindow += unacknowledged;
            connection.windowUpdate(0, unacknowledged);
            unacknowledged = 0;
        }
        Http2ClientStream stream = connection.stream(streamId);
        if (stream != null) {
            stream.onData(length);
        }
    }

    @Override
    public void onContent(int streamId, ByteBuf in, int index, int length) {
        Http2ClientStream stream = connection.stream(streamId);
        if (stream != null) {
            stream.onContent(in, index, length);
        }
    }

    @Override
    public void onDataEnd(int streamId, boolean endStream) {
        Http2ClientStream stream = connection.stream(streamId);
        if (stream != null) {
            stream.onDataEnd(endStream);
        }
    }

    @Override
    public void onHeaders(int streamId, byte[] block, int length, boolean endStream, @Nullable Http2Exception error)
            throws Http2Exception {
        if (connection.isIdle(streamId)) {
            throw protocol("HEADERS on an idle stream");
        }
        onProgress();
        Http2ClientStream stream = connection.stream(streamId);
        boolean trailers = stream != null && stream.isHeadReceived();
        fields.begin(headerListMax, trailers);
        // Decodes the blocks of ended streams too, because the HPACK tables of both sides must agree.
        decoder.decode(block, 0, length, fields);
        if (stream == null) {
            return;
        }
        if (error != null) {
            throw error;
        }
        String problem = fields.problem();
        if (problem != null) {
            throw stream(streamId, problem);
        }
        if (!trailers) {
            stream.onHead(ResponseHead.ofHttp2(fields.status(), reason(fields.status()), fields.section()), endStream);
        } else if (endStream) {
            FieldSection section = fields.section();
            stream.responseEnded(section.size() == 0 ? null : section);
        } else {
            throw stream(streamId, "trailers without END_STREAM");
        }
    }

    /** Returns the reason phrase for HTTP/1.1 clients; empty for an unknown status. */
    private static String reason(int status) {
        String phrase = HttpResponseStatus.valueOf(status).reasonPhrase();
        return phrase.indexOf('(') < 0 ? phrase : "";
    }

    @Override
    public void onReset(int streamId, long code) throws Http2Exception {
        if (connection.isIdle(streamId)) {
            throw protocol("RST_STREAM on an idle stream");
        }
        controlFrame();
        Http2ClientStream stream = connection.stream(streamId);
        if (stream == null) {
            return;
        }
        connection.remove(stream);
        if (code == ErrorCode.REFUSED_STREAM.code() && !stream.isHeadReceived()) {
            connection.refused();
            stream.fail(Kind.NOT_PROCESSED, "the origin refused the stream");
        } else {
            stream.fail(Kind.RESET, "the origin reset the stream (" + name(code) + ")");
        }
    }

    private static String name(long code) {
        for (ErrorCode known : ErrorCode.values()) {
            if (known.code() == code) {
                return known.name();
            }
        }
        return "code " + code;
    }

    @Override
    public void onSetting(int identifier, long value) throws Http2Exception {
        switch (identifier) {
            case Frames.SETTING_MAX_CONCURRENT_STREAMS -> {
                streamLimitReceived = true;
                connection.streamsMax(value);
            }
            case Frames.SETTING_INITIAL_WINDOW_SIZE -> {
                if (value > Frames.WINDOW_MAX) {
                    throw Http2Exception.connection(
                            ErrorCode.FLOW_CONTROL_ERROR, Http2Fault.FLOW_CONTROL, "an initial window above 2^31-1");
                }
                if (!connection.initialSendWindow((int) value)) {
                    throw windowOverflow();
                }
            }
            case Frames.SETTING_HEADER_TABLE_SIZE -> {
                if (value < HpackDecoder.TABLE_BYTES_MAX) {
                    connection.tableSmaller();
                }
            }
            case Frames.SETTING_MAX_FRAME_SIZE -> {
                if (value < Frames.PAYLOAD_BYTES_MAX || value > 0xffffff) {
                    throw protocol("SETTINGS_MAX_FRAME_SIZE out of its range");
                }
            }
            case Frames.SETTING_ENABLE_PUSH -> {
                if (value != 0) {
                    throw protocol("SETTINGS_ENABLE_PUSH from a server");
                }
            }
            default -> {
                // An unknown setting, or one that this side does not use.
            }
        }
    }

    @Override
    public void onSettingsEnd() throws Http2Exception {
        controlFrame();
        connection.settingsReceived(streamLimitReceived);
    }

    @Override
    public void onSettingsAcknowledged() throws Http2Exception {
        controlFrame();
    }

    @Override
    public void onPing(long opaque) throws Http2Exception {
        controlFrame();
        Frames.pingAck(connection.output().reserve(Frames.HEADER_BYTES + 8), opaque);
    }

    @Override
    public void onWindowUpdate(int streamId, int increment) throws Http2Exception {
        controlFrame();
        if (streamId == 0) {
            if (!connection.enlargeSendWindow(increment)) {
                throw windowOverflow();
            }
            return;
        }
        if (connection.isIdle(streamId)) {
            throw protocol("WINDOW_UPDATE on an idle stream");
        }
        Http2ClientStream stream = connection.stream(streamId);
        if (stream != null && !stream.enlargeSendWindow(increment)) {
            throw Http2Exception.stream(
                    streamId, ErrorCode.FLOW_CONTROL_ERROR, Http2Fault.FLOW_CONTROL, "a window above 2^31-1");
        }
        if (stream != null) {
            connection.schedule(stream);
        }
    }

    @Override
    public void onGoAway(int lastStreamId, long code) {
        connection.goAway(lastStreamId, code);
    }

    @Override
    public void onPriorityUpdate(int streamId, ByteBuf in, int index, int length) throws Http2Exception {
        throw protocol("PRIORITY_UPDATE from a server");
    }

    @Override
    public void onIgnoredFrame() throws Http2Exception {
        controlFrame();
    }

    @Override
    public void onStreamError(Http2Exception error) {
        Http2ClientStream stream = connection.stream(error.streamId());
        if (stream != null) {
            stream.violated(error.code(), String.valueOf(error.getMessage()));
        }
    }

    private void controlFrame() throws Http2Exception {
        if (++controlFrames > CONTROL_FRAMES_MAX) {
            throw Http2Exception.connection(
                    ErrorCode.ENHANCE_YOUR_CALM,
                    Http2Fault.CONTROL_FRAMES,
                    "more than " + CONTROL_FRAMES_MAX + " control frames without a response or content");
        }
    }

    private static Http2Exception windowOverflow() {
        return Http2Exception.connection(
                ErrorCode.FLOW_CONTROL_ERROR, Http2Fault.FLOW_CONTROL, "a window above 2^31-1");
    }

    private static Http2Exception protocol(String problem) {
        return Http2Exception.connection(ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, problem);
    }

    private static Http2Exception stream(int streamId, String problem) {
        return Http2Exception.stream(streamId, ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, problem);
    }
}
