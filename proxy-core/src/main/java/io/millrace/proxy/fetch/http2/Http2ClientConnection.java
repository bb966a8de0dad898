package io.millrace.proxy.fetch.http2;

import io.millrace.proxy.fetch.http2.StreamFailure.Kind;
import io.millrace.proxy.http2.HeadEncoder;
import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.FrameOutput;
import io.millrace.proxy.http2.frame.FrameReader;
import io.millrace.proxy.http2.frame.Frames;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ChannelOutputShutdownEvent;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.DecoderException;
import io.netty.util.collection.IntObjectHashMap;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An HTTP/2 connection to an origin, as the last handler of its channel (RFC 9113).
 *
 * <p>Field blocks are sent without the dynamic table of HPACK. Streams share the connection by round robin, one frame
 * each. The connection's receive window is large, and reopens when bytes arrive and not when readers consume them. So a
 * slow reader delays only its own stream.
 *
 * <p>Confined to the channel's event loop.
 */
public final class Http2ClientConnection extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(Http2ClientConnection.class);

    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] HTTP_1 = "HTTP/1".getBytes(StandardCharsets.US_ASCII);

    /** Receive window of the connection: the sum of 64 stream windows of 256 KiB, their default. */
    private static final int RECEIVE_WINDOW = 16 << 20;
    /** Limit of streams until the origin has announced its limit. */
    private static final int STREAMS_INITIAL = 100;
    /** Limit of stream ids, half of the range of HTTP/2. Beyond it no stream begins on the connection. */
    private static final int STREAM_ID_MAX = 1 << 30;

    private final Http2ClientBuffers buffers;
    private final Http2ClientSettings settings;
    private final ConnectionListener listener;
    private final ClientFrames frames;
    private final FrameReader reader;
    private final IntObjectHashMap<Http2ClientStream> streams = new IntObjectHashMap<>(8);
    private final ArrayDeque<Http2ClientStream> sendable = new ArrayDeque<>(4);
    private ChannelHandlerContext ctx;
    private FrameOutput output;
    /** Received bytes of an incomplete frame; owned. Null for none. */
    private @Nullable ByteBuf incompleteFrame;

    private boolean settingsSeen;
    private int nextId = 1;
    private int streamsMax = STREAMS_INITIAL;
    /** Limit of streams since the origin last refused a stream. Rises by one with each complete response. */
    private int refusalLimit = Integer.MAX_VALUE;

    private long sendWindow = Frames.WINDOW_DEFAULT;
    private int initialSendWindow = Frames.WINDOW_DEFAULT;
    /** True if the next field block must set the size of the dynamic table to 0. */
    private boolean tableUpdateDue;

    private boolean sending;
    private boolean draining;
    private boolean closed;

    @SuppressWarnings("NullAway.Init") // set by handlerAdded, before any other call
    public Http2ClientConnection(
            Http2ClientBuffers buffers, Http2ClientSettings settings, ConnectionListener listener) {
        this.buffers = buffers;
        this.settings = settings;
        this.listener = listener;
        frames = new ClientFrames(this, buffers.fields(), settings.headerListMax(), RECEIVE_WINDOW);
        reader = new FrameReader(frames, buffers.block());
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        output = new FrameOutput(context, this::endIteration);
        ByteBuf out = output.reserve(PREFACE.length + 64);
        out.writeBytes(PREFACE);
        Frames.header(out, 18, Frames.SETTINGS, 0, 0);
        Frames.setting(out, Frames.SETTING_ENABLE_PUSH, 0);
        Frames.setting(out, Frames.SETTING_INITIAL_WINDOW_SIZE, settings.windowBytes());
        Frames.setting(out, Frames.SETTING_MAX_HEADER_LIST_SIZE, settings.headerListMax());
        Frames.windowUpdate(out, 0, RECEIVE_WINDOW - Frames.WINDOW_DEFAULT);
    }

    // streams

    /** Returns the number of further streams that may begin now. */
    public int capacity() {
        return closed || draining ? 0 : Math.max(0, streamsLimit() - streams.size());
    }

    private int streamsLimit() {
        return Math.min(Math.min(streamsMax, refusalLimit), settings.streamsMax());
    }

    /** The number of streams that have begun and not ended. */
    public int streams() {
        return streams.size();
    }

    /** Begins a stream and sends its request head. Call only if {@link #capacity} is positive. */
    public Http2ClientStream open(StreamRequest request, StreamListener receiver) {
        int id = nextId;
        nextId += 2;
        Http2ClientStream stream = new Http2ClientStream(this, id, receiver, settings.windowBytes(), initialSendWindow);
        streams.put(id, stream);
        HeadEncoder encoder = buffers.encoder();
        encoder.encodeRequest(
                request.method(),
                request.secure(),
                request.authority(),
                request.path(),
                request.fields(),
                request.contentLength(),
                request.acceptsTrailers(),
                tableUpdateDue);
        tableUpdateDue = false;
        boolean endStream = !request.hasContent();
        int frameHeaders = Frames.HEADER_BYTES * (2 + encoder.length() / Frames.PAYLOAD_BYTES_MAX);
        ByteBuf out = output.reserve(encoder.length() + frameHeaders);
        Frames.headers(out, id, encoder.block(), encoder.length(), endStream);
        stream.headSent(endStream);
        if (nextId > STREAM_ID_MAX) {
            drain();
        }
        return stream;
    }

    @Nullable
    Http2ClientStream stream(int id) {
        return streams.get(id);
    }

    /** Returns true if no stream with this id has begun. This side begins the odd ids and disables server push. */
    boolean isIdle(int id) {
        return (id & 1) == 0 || id >= nextId;
    }

    Iterable<Http2ClientStream> all() {
        return new ArrayList<>(streams.values());
    }

    /** Removes a stream that has ended. */
    void remove(Http2ClientStream stream) {
        if (streams.remove(stream.id()) == null) {
            return;
        }
        if (draining && streams.isEmpty()) {
            close();
        } else if (!closed) {
            listener.onCapacity();
        }
    }

    /** Sends a reset and removes the stream. */
    void reset(Http2ClientStream stream, ErrorCode code) {
        if (!closed && streams.get(stream.id()) == stream) {
            Frames.rstStream(output.reserve(Frames.HEADER_BYTES + 4), stream.id(), code);
        }
        remove(stream);
    }

    // sending

    FrameOutput output() {
        return output;
    }

    ByteBuf noContent() {
        return Unpooled.EMPTY_BUFFER;
    }

    ByteBufAllocator alloc() {
        return ctx.alloc();
    }

    EventLoop eventLoop() {
        return ctx.channel().eventLoop();
    }

    long sendWindow() {
        return sendWindow;
    }

    void takeSendWindow(int bytes) {
        sendWindow -= bytes;
        frames.onProgress();
    }

    /** Enlarges the connection's send window. Returns false if it exceeds the limit. */
    boolean enlargeSendWindow(int increment) {
        sendWindow += increment;
        if (sendWindow > Frames.WINDOW_MAX) {
            return false;
        }
        for (Http2ClientStream stream : streams.values()) {
            enqueue(stream);
        }
        send();
        return true;
    }

    /** Schedules the content of a stream for sending, in round robin with other streams. */
    void schedule(Http2ClientStream stream) {
        enqueue(stream);
        send();
    }

    private void enqueue(Http2ClientStream stream) {
        if (!stream.isScheduled() && stream.canSend()) {
            stream.scheduled(true);
            sendable.addLast(stream);
        }
    }

    private void send() {
        if (sending || closed) {
            return;
        }
        sending = true;
        try {
            Http2ClientStream stream;
            while (!closed && output.isWritable() && (stream = sendable.pollFirst()) != null) {
                stream.scheduled(false);
                // The stream may have been reset, or the window used up, since the stream was scheduled.
                if (streams.get(stream.id()) == stream && stream.canSend()) {
                    stream.sendFrame();
                    enqueue(stream);
                }
            }
        } finally {
            sending = false;
        }
    }

    void windowUpdate(int streamId, int increment) {
        if (!closed) {
            Frames.windowUpdate(output.reserve(Frames.HEADER_BYTES + 4), streamId, increment);
        }
    }

    /** Sends a PING to check the origin. {@link ConnectionListener#onActivity} is called when the reply arrives. */
    public void ping() {
        if (!closed) {
            ByteBuf out = output.reserve(Frames.HEADER_BYTES + 8);
            Frames.header(out, 8, Frames.PING, 0, 0);
            out.writeLong(nextId);
        }
    }

    private void endIteration() {
        output.flushNow();
        send();
    }

    // settings of the origin

    void streamsMax(long max) {
        streamsMax = (int) Math.min(max, Integer.MAX_VALUE);
    }

    /** Handles a stream that the origin refused: the current number of streams becomes the limit. */
    void refused() {
        refusalLimit = Math.max(1, streams.size());
    }

    /** Handles a complete response. If a refused stream has lowered the limit of streams, the limit rises by one. */
    void completed() {
        if (refusalLimit < Integer.MAX_VALUE) {
            refusalLimit++;
        }
    }

    /**
     * Acknowledges a SETTINGS frame.
     *
     * @param withStreams whether the origin has announced a limit of streams. If the origin's first SETTINGS frame
     *     contains no such limit, {@link #STREAMS_INITIAL} no longer applies
     */
    void settingsReceived(boolean withStreams) {
        if (!settingsSeen) {
            settingsSeen = true;
            if (!withStreams) {
                streamsMax = Integer.MAX_VALUE;
            }
        }
        Frames.settingsAck(output.reserve(Frames.HEADER_BYTES));
        listener.onCapacity();
    }

    /**
     * Changes the initial window of streams. Returns false if a stream's window exceeds the limit (RFC 9113 s6.9.2).
     */
    boolean initialSendWindow(int window) {
        long change = (long) window - initialSendWindow;
        initialSendWindow = window;
        for (Http2ClientStream stream : all()) {
            if (!stream.enlargeSendWindow(change)) {
                return false;
            }
            enqueue(stream);
        }
        send();
        return true;
    }

    /**
     * Records that the origin chose a smaller dynamic table than the default. The next block then disables the table.
     */
    void tableSmaller() {
        tableUpdateDue = true;
    }

    // reading

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (!(message instanceof ByteBuf bytes)) {
            context.fireChannelRead(message);
            return;
        }
        if (closed) {
            bytes.release();
            return;
        }
        ByteBuf in = incompleteFrame == null
                ? bytes
                : ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(context.alloc(), incompleteFrame, bytes);
        incompleteFrame = null;
        output.beginRead();
        try {
            if (isHttp1(in)) {
                failConnection(
                        Kind.BAD_RESPONSE, "the origin answered in HTTP/1 and does not support HTTP/2 at this address");
            }
            int blockBytesMax = 2 * settings.headerListMax();
            while (!closed && reader.next(in, blockBytesMax)) {
                // Each call reads a frame or a part of one.
            }
        } catch (Http2Exception e) {
            violated(e);
        } finally {
            if (closed || !in.isReadable()) {
                in.release();
            } else {
                incompleteFrame = in;
            }
            output.endRead();
        }
        if (!closed) {
            listener.onActivity();
        }
    }

    private boolean isHttp1(ByteBuf in) {
        if (settingsSeen || in.readableBytes() < HTTP_1.length) {
            return false;
        }
        for (int i = 0; i < HTTP_1.length; i++) {
            if (in.getByte(in.readerIndex() + i) != HTTP_1[i]) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        send();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelOutputShutdownEvent && !closed) {
            // The origin accepts no more bytes; responses may still arrive.
            drain();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        failConnection(Kind.RESET, "the connection was closed");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        Throwable root = cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
        if (root instanceof SSLException) {
            failConnection(Kind.TLS, text(root));
        } else if (root instanceof IOException) {
            failConnection(Kind.RESET, text(root));
        } else if (root instanceof OutOfMemoryError) {
            // The failed allocation was already counted and logged.
            failConnection(Kind.MEMORY, "no memory to receive the response");
        } else {
            LOG.warn("{}: the HTTP/2 connection was closed after an internal error", context.channel(), root);
            failConnection(Kind.INTERNAL, root.toString());
        }
    }

    // closing

    /** Handles GOAWAY: streams with an id above {@code lastStreamId} fail as not processed, the others continue. */
    void goAway(int lastStreamId, long code) {
        drain();
        for (Http2ClientStream stream : all()) {
            if (stream.id() > lastStreamId) {
                streams.remove(stream.id());
                stream.fail(Kind.NOT_PROCESSED, "the origin sent GOAWAY (code " + code + ") before this request");
            }
        }
        if (streams.isEmpty()) {
            close();
        }
    }

    private void drain() {
        if (!draining) {
            draining = true;
            listener.onDraining();
        }
    }

    /** Ends the connection because the origin violated the protocol. */
    private void violated(Http2Exception e) {
        if (!closed) {
            Frames.goAway(output.reserve(Frames.HEADER_BYTES + 8), 0, e.code());
            output.flushNow();
        }
        failConnection(Kind.BAD_RESPONSE, "HTTP/2: " + e.getMessage());
    }

    /** Closes the connection. Call when it has no streams in use. */
    public void close() {
        if (!closed) {
            Frames.goAway(output.reserve(Frames.HEADER_BYTES + 8), 0, ErrorCode.NO_ERROR);
            output.flushNow();
            failConnection(Kind.RESET, "the connection was closed");
        }
    }

    /** Fails the connection and all its streams. */
    public void failConnection(Kind kind, String problem) {
        if (closed) {
            return;
        }
        closed = true;
        output.drop();
        sendable.clear();
        ByteBuf unreadBytes = incompleteFrame;
        incompleteFrame = null;
        if (unreadBytes != null) {
            unreadBytes.release();
        }
        ctx.close();
        listener.onClosed();
        for (Http2ClientStream stream : all()) {
            streams.remove(stream.id());
            stream.fail(kind, problem);
        }
    }

    private static String text(Throwable cause) {
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }
}
