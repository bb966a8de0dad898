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
 * <p>Field blocks are sent without the dynamic table. Streams share the connection in turn, a frame each. The window of
 * the connection is large and opens with what arrives, so that a slow reader holds back its own stream only.
 *
 * <p>Confined to the channel's event loop.
 */
public final class Http2ClientConnection extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(Http2ClientConnection.class);

    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] HTTP_1 = "HTTP/1".getBytes(StandardCharsets.US_ASCII);

    /** Window of the connection: enough for a full stream window of each of 64 streams of the default size. */
    private static final int RECEIVE_WINDOW = 16 << 20;
    /** Streams that are begun before the origin has said how many it allows. */
    private static final int STREAMS_AT_FIRST = 100;
    /** Beyond this id no stream begins: the ids of a connection are used up. */
    private static final int STREAM_ID_MAX = 1 << 30;

    private final Http2ClientLoop loop;
    private final Http2ClientSettings settings;
    private final ConnectionListener listener;
    private final ClientFrames frames;
    private final FrameReader reader;
    private final IntObjectHashMap<Http2ClientStream> streams = new IntObjectHashMap<>(8);
    private final ArrayDeque<Http2ClientStream> sendable = new ArrayDeque<>(4);
    private ChannelHandlerContext ctx;
    private FrameOutput output;
    private @Nullable ByteBuf rest;
    private boolean begun;
    private int nextId = 1;
    private int streamsMax = STREAMS_AT_FIRST;
    /** Limit after refusals; grows again by one with each complete response. */
    private int streamsTaken = Integer.MAX_VALUE;

    private long sendWindow = Frames.WINDOW_DEFAULT;
    private int initialSendWindow = Frames.WINDOW_DEFAULT;
    private boolean tableUpdateDue;
    private boolean sending;
    private boolean draining;
    private boolean closed;

    @SuppressWarnings("NullAway.Init") // set by handlerAdded, before anything else
    public Http2ClientConnection(Http2ClientLoop loop, Http2ClientSettings settings, ConnectionListener listener) {
        this.loop = loop;
        this.settings = settings;
        this.listener = listener;
        frames = new ClientFrames(this, loop.fields(), settings.headerListMax(), RECEIVE_WINDOW);
        reader = new FrameReader(frames, loop.block());
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        output = new FrameOutput(context, this::turn);
        ByteBuf out = output.room(PREFACE.length + 64);
        out.writeBytes(PREFACE);
        Frames.header(out, 18, Frames.SETTINGS, 0, 0);
        Frames.setting(out, Frames.SETTING_ENABLE_PUSH, 0);
        Frames.setting(out, Frames.SETTING_INITIAL_WINDOW_SIZE, settings.windowBytes());
        Frames.setting(out, Frames.SETTING_MAX_HEADER_LIST_SIZE, settings.headerListMax());
        Frames.windowUpdate(out, 0, RECEIVE_WINDOW - Frames.WINDOW_DEFAULT);
    }

    // streams

    /** How many more streams may begin now. */
    public int capacity() {
        return closed || draining ? 0 : Math.max(0, streamsLimit() - streams.size());
    }

    private int streamsLimit() {
        return Math.min(Math.min(streamsMax, streamsTaken), settings.streamsMax());
    }

    /** Streams that have begun and are not over on the wire. */
    public int streams() {
        return streams.size();
    }

    /** Begins a stream with its request head. Only while there is {@link #capacity}. */
    public Http2ClientStream open(StreamRequest request, StreamListener of) {
        int id = nextId;
        nextId += 2;
        Http2ClientStream stream = new Http2ClientStream(this, id, of, settings.windowBytes(), initialSendWindow);
        streams.put(id, stream);
        HeadEncoder encoder = loop.encoder();
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
        ByteBuf out = output.room(encoder.length() + frameHeaders);
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

    /** Whether no stream of that id has begun; this side begins the odd ones, and allows no others. */
    boolean isIdle(int id) {
        return (id & 1) == 0 || id >= nextId;
    }

    Iterable<Http2ClientStream> all() {
        return new ArrayList<>(streams.values());
    }

    /** Forgets a stream that is over on the wire. */
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

    /** Sends a reset and forgets the stream. */
    void reset(Http2ClientStream stream, ErrorCode code) {
        if (!closed && streams.get(stream.id()) == stream) {
            Frames.rstStream(output.room(Frames.HEADER_BYTES + 4), stream.id(), code);
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

    /** False where the window gets too large. */
    boolean enlargeSendWindow(int by) {
        sendWindow += by;
        if (sendWindow > Frames.WINDOW_MAX) {
            return false;
        }
        for (Http2ClientStream stream : streams.values()) {
            enqueue(stream);
        }
        send();
        return true;
    }

    /** Sends what a stream has to send, in its turn. */
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
                // It may have been reset, or the window may have been used up, since it was scheduled.
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
            Frames.windowUpdate(output.room(Frames.HEADER_BYTES + 4), streamId, increment);
        }
    }

    /** Asks the origin for a sign of life: {@link ConnectionListener#onActivity} follows its answer. */
    public void ping() {
        if (!closed) {
            ByteBuf out = output.room(Frames.HEADER_BYTES + 8);
            Frames.header(out, 8, Frames.PING, 0, 0);
            out.writeLong(nextId);
        }
    }

    private void turn() {
        output.flushNow();
        send();
    }

    // the origin's settings

    void streamsMax(long max) {
        streamsMax = (int) Math.min(max, Integer.MAX_VALUE);
    }

    /** The origin has refused a stream: no more are begun than it has now. */
    void refused() {
        streamsTaken = Math.max(1, streams.size());
    }

    /** A response was complete: the origin may take one more stream than it last refused. */
    void completed() {
        if (streamsTaken < Integer.MAX_VALUE) {
            streamsTaken++;
        }
    }

    void settingsReceived(boolean withStreams) {
        if (!begun) {
            begun = true;
            if (!withStreams) {
                streamsMax = Integer.MAX_VALUE;
            }
        }
        Frames.settingsAck(output.room(Frames.HEADER_BYTES));
        listener.onCapacity();
    }

    /** False where the window of a stream gets too large (RFC 9113 s6.9.2). */
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

    /** The origin's decoder keeps a smaller table than ours would be: the next block says that it is empty. */
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
        ByteBuf in = rest == null ? bytes : ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(context.alloc(), rest, bytes);
        rest = null;
        output.beginRead();
        try {
            if (isHttp1(in)) {
                die(Kind.BAD_RESPONSE, "the origin answered in HTTP/1 and does not support HTTP/2 at this address");
            }
            int blockBytesMax = 2 * settings.headerListMax();
            while (!closed && reader.next(in, blockBytesMax)) {
                // Each call takes a frame or a part of one.
            }
        } catch (Http2Exception e) {
            violated(e);
        } finally {
            if (closed || !in.isReadable()) {
                in.release();
            } else {
                rest = in;
            }
            output.endRead();
        }
        if (!closed) {
            listener.onActivity();
        }
    }

    private boolean isHttp1(ByteBuf in) {
        if (begun || in.readableBytes() < HTTP_1.length) {
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
            // The origin takes nothing more; responses may be on the way.
            drain();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        die(Kind.RESET, "the connection was closed");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        Throwable root = cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
        if (root instanceof SSLException) {
            die(Kind.TLS, text(root));
        } else if (root instanceof IOException) {
            die(Kind.RESET, text(root));
        } else if (root instanceof OutOfMemoryError) {
            // Counted and logged where the allocation failed.
            die(Kind.MEMORY, "no memory to receive the response");
        } else {
            LOG.warn("{}: the HTTP/2 connection was closed after an internal error", context.channel(), root);
            die(Kind.INTERNAL, root.toString());
        }
    }

    // ends

    /** The origin takes no stream above the last one; the others go on. */
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

    /** Ends the connection for a violation by the origin. */
    private void violated(Http2Exception e) {
        if (!closed) {
            Frames.goAway(output.room(Frames.HEADER_BYTES + 8), 0, e.code());
            output.flushNow();
        }
        die(Kind.BAD_RESPONSE, "HTTP/2: " + e.getMessage());
    }

    /** Ends the connection, which has no streams that anybody wants. */
    public void close() {
        if (!closed) {
            Frames.goAway(output.room(Frames.HEADER_BYTES + 8), 0, ErrorCode.NO_ERROR);
            output.flushNow();
            die(Kind.RESET, "the connection was closed");
        }
    }

    /** Ends the connection and its streams. */
    public void die(Kind kind, String problem) {
        if (closed) {
            return;
        }
        closed = true;
        output.drop();
        sendable.clear();
        ByteBuf left = rest;
        rest = null;
        if (left != null) {
            left.release();
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
