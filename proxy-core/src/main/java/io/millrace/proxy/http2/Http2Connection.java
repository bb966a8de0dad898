package io.millrace.proxy.http2;

import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.http2.frame.ErrorCode;
import io.millrace.proxy.http2.frame.FrameOutput;
import io.millrace.proxy.http2.frame.FrameReader;
import io.millrace.proxy.http2.frame.Frames;
import io.millrace.proxy.http2.frame.Http2Exception;
import io.millrace.proxy.http2.frame.Http2Fault;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.memory.SlowReason;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ConnectionEnd;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.Transport;
import io.millrace.proxy.net.protocol.Http2Preface;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The channel handler of a client's HTTP/2 connection, from the preface to GOAWAY.
 *
 * <p>{@link FrameProcessor} processes the frames, {@link ContentSender} sends content. Confined to one event loop.
 */
final class Http2Connection extends ChannelInboundHandlerAdapter implements ConnectionSet.Member {
    private static final Logger log = LoggerFactory.getLogger(Http2Connection.class);

    /**
     * Receive window of the connection in bytes. A client may send this much content in advance on all streams
     * together.
     */
    private static final int RECEIVE_WINDOW = 1024 * 1024;
    /** Reading from the client pauses while this many bytes or more wait in the channel. */
    private static final int UNSENT_BYTES_MAX = 256 * 1024;

    /**
     * Limit of bytes that are received and discarded after a connection error. Meanwhile the client can read
     * GOAWAY; after that, the connection is closed.
     */
    private static final int DISCARDED_BYTES_MAX = 1024 * 1024;

    private final Http2Loop shared;
    private final ClientConnection client;
    private final StreamTable streams = new StreamTable();
    private final Http2Deadlines deadlines = new Http2Deadlines();
    private final GracefulShutdown shutdown = new GracefulShutdown();
    private final FrameProcessor frames;
    private final FrameReader reader;

    private ChannelHandlerContext ctx;
    private FrameOutput output;
    private ContentSender sender;
    private ClientPace pace;
    /** The beginning of an incomplete frame; owned. */
    private @Nullable ByteBuf incompleteFrame;

    /** The hosts for which the client may use this connection; null if every host is allowed. */
    private @Nullable ConnectionNames names;
    /** Position in the {@link ConnectionSet}; negative while this connection is not registered. */
    private int slot = -1;

    private boolean prefaceSeen;
    private boolean closing;
    /** True after a connection error. */
    private boolean failed;

    /** Number of received bytes that may still be discarded after a connection error. */
    private long discardable = DISCARDED_BYTES_MAX;

    /** True if the next field block must disable the dynamic table. */
    private boolean tableUpdateDue;

    @SuppressWarnings("NullAway.Init") // set by handlerAdded, before any other call
    Http2Connection(Http2Loop shared, ClientConnection client) {
        this.shared = shared;
        this.client = client;
        this.frames = new FrameProcessor(this, shared);
        this.reader = new FrameReader(frames, shared.block());
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        output = new FrameOutput(context, () -> sender.sendAndFlush());
        sender = new ContentSender(this, frames, output);
        pace = new ClientPace(this, shared.parts().connections(), context.channel(), output, sender);
        if (!shared.parts().connections().add(this)) {
            closing = true;
            context.channel().close();
            return;
        }
        Transport.limitUnsent(context.channel());
        names = ConnectionNames.of(context.channel());
        Http2Settings settings = settings();
        ByteBuf out = output.reserve(64);
        Frames.header(out, 24, Frames.SETTINGS, 0, 0);
        Frames.setting(out, Frames.SETTING_MAX_CONCURRENT_STREAMS, settings.streamsMax());
        frames.streamLimit().announce(settings.streamsMax());
        Frames.setting(out, Frames.SETTING_MAX_HEADER_LIST_SIZE, settings.headerListMax());
        Frames.setting(out, Frames.SETTING_ENABLE_CONNECT_PROTOCOL, 1);
        Frames.setting(out, Frames.SETTING_NO_RFC7540_PRIORITIES, 1);
        Frames.windowUpdate(out, 0, RECEIVE_WINDOW - Frames.WINDOW_DEFAULT);
        frames.receiveWindow(RECEIVE_WINDOW);
        if (shared.parts().connections().isDraining()) {
            beginShutdown();
        }
    }

    // reading

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (!(message instanceof ByteBuf bytes)) {
            context.fireChannelRead(message);
            return;
        }
        if (closing) {
            discard(bytes);
            return;
        }
        ByteBuf in = incompleteFrame == null
                ? bytes
                : ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(alloc(), incompleteFrame, bytes);
        incompleteFrame = null;
        output.beginRead();
        try {
            read(in);
        } catch (Http2Exception e) {
            end(e);
        } catch (RuntimeException | Error e) {
            in.release();
            throw e;
        }
        keep(in);
    }

    /** Releases bytes that arrive while the connection closes. Limits their number after a protocol error. */
    private void discard(ByteBuf bytes) {
        discardable -= bytes.readableBytes();
        bytes.release();
        if (failed && discardable < 0) {
            closeNow();
        }
    }

    private void read(ByteBuf in) throws Http2Exception {
        if (!prefaceSeen && !readPreface(in)) {
            return;
        }
        frames.beginRead();
        int blockBytesMax = 2 * settings().headerListMax();
        while (!closing && reader.next(in, blockBytesMax)) {
            deadlines.onFrame();
        }
    }

    private boolean readPreface(ByteBuf in) throws Http2Exception {
        if (!Http2Preface.isBegun(in)) {
            throw Http2Exception.connection(
                    ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, "invalid connection preface");
        }
        if (in.readableBytes() < Http2Preface.length()) {
            return false;
        }
        in.skipBytes(Http2Preface.length());
        prefaceSeen = true;
        return true;
    }

    /** Copies an incomplete frame to a buffer of its size, because receive buffers are large. Takes ownership. */
    private void keep(ByteBuf in) {
        if (in.isReadable() && !closing) {
            incompleteFrame =
                    alloc().buffer(in.readableBytes() + Frames.HEADER_BYTES).writeBytes(in);
        }
        in.release();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        output.endRead();
        regulateReading();
        context.fireChannelReadComplete();
    }

    /** Reads from the client only while it receives the bytes that are sent to it. */
    private void regulateReading() {
        if (!closing) {
            boolean shouldRead = ctx.channel().isWritable() || output.unsent() < UNSENT_BYTES_MAX;
            ctx.channel().config().setAutoRead(shouldRead);
        }
    }

    // sending

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (context.channel().isWritable()) {
            regulateReading();
            if (!closing) {
                sender.onWritable();
            }
        }
        context.fireChannelWritabilityChanged();
    }

    /** Writes the encoder's block as HEADERS. Returns the number of bytes written. */
    int headers(int streamId, HeadEncoder block, boolean endStream) {
        ByteBuf out = output.reserve(block.length() + Frames.HEADER_BYTES);
        int before = out.writerIndex();
        Frames.headers(out, streamId, block.block(), block.length(), endStream);
        return out.writerIndex() - before;
    }

    /**
     * Records that the client chose a smaller dynamic table than the default. The next block then disables the table.
     */
    void disableHpackTable() {
        tableUpdateDue = true;
    }

    /** Returns true if the next block must disable the dynamic table, and false in further calls. */
    boolean takeTableUpdate() {
        boolean due = tableUpdateDue;
        tableUpdateDue = false;
        return due;
    }

    void reopenWindow(Http2Stream stream) {
        stream.reopenWindow(shared.parts().memory().windowBytes(settings().windowBytes()));
    }

    /** Returns true if the connection may be used for the URL: the certificate is valid for its host. */
    boolean covers(TargetUri target) {
        ConnectionNames known = names;
        return known == null
                || !target.isSecure()
                || target.form() == TargetUri.Form.AUTHORITY
                || known.covers(target.hostBytes());
    }

    // streams

    StreamTable streams() {
        return streams;
    }

    /** Restarts the idle time: a request has begun. */
    void onRequest() {
        deadlines.restartIdle();
    }

    /** Removes the stream if both sides have ended. */
    void endIfOver(Http2Stream stream) {
        if (stream.isOver()) {
            remove(stream);
        }
    }

    /** Resets a stream and notifies the object that processes its request: the client is gone. */
    void reset(Http2Stream stream, ErrorCode code) {
        if (closing || streams.get(stream.id()) != stream) {
            return;
        }
        Frames.rstStream(output.reserve(13), stream.id(), code);
        streams.markReset(stream.id());
        remove(stream);
        stream.onGone();
    }

    /** Removes a stream. */
    void remove(Http2Stream stream) {
        sender.remove(stream);
        if (streams.remove(stream) && streams.size() == 0) {
            deadlines.restartIdle();
            if (shutdown.isLastAnnounced()) {
                lingerAndClose();
            }
        }
    }

    // closing

    /** Closes the connection in two steps, so that requests in flight are still answered. */
    void beginShutdown() {
        if (!closing) {
            shutdown.begin(output);
        }
    }

    /** Runs the second step of the shutdown. Requests that the client begins from now on are not answered. */
    private void endShutdown() {
        if (!closing && shutdown.announceLast(output, streams.lastId()) && streams.size() == 0) {
            lingerAndClose();
        }
    }

    /** Returns true if new requests are no longer answered. */
    boolean isLastAnnounced() {
        return shutdown.isLastAnnounced();
    }

    /** Closes the connection after a connection error. GOAWAY carries the error code. */
    private void end(Http2Exception error) {
        if (closing) {
            return;
        }
        log.debug("{}: {}: {}", client, error.code(), error.getMessage());
        shared.parts().events().onFault(error.fault());
        Frames.goAway(output.reserve(GracefulShutdown.GOAWAY_BYTES), shutdown.lastId(streams.lastId()), error.code());
        failed = true;
        lingerAndClose();
    }

    private void lingerAndClose() {
        if (closing) {
            return;
        }
        closing = true;
        output.flushNow();
        releaseStreams();
        ConnectionEnd.shutAfterWrites(ctx);
        ctx.channel().config().setAutoRead(true);
    }

    void closeNow() {
        closing = true;
        ctx.channel().close();
    }

    private void releaseStreams() {
        for (Http2Stream stream : streams.all()) {
            streams.remove(stream);
            stream.onGone();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            // An HTTP/2 client that has shut down its output cannot send WINDOW_UPDATE either.
            if (closing) {
                ConnectionEnd.closeAfterWrites(context);
            } else {
                closeNow();
            }
        }
        context.fireUserEventTriggered(event);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        onGone();
        context.fireChannelInactive();
    }

    private void onGone() {
        closing = true;
        if (slot >= 0) {
            shared.parts().connections().remove(this);
        }
        releaseStreams();
        output.drop();
        ReferenceCountUtil.release(incompleteFrame);
        incompleteFrame = null;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        ConnectionEnd.logFault(log, context.channel(), cause);
        closeNow();
    }

    // deadlines

    @Override
    public void onTick(long nowNanos) {
        if (closing) {
            onClosingTick(nowNanos);
            return;
        }
        Http2Settings settings = settings();
        frames.onTick(settings);
        if (pace.closeIfTooSlow(settings, nowNanos) || endIfPartTooLate(settings, nowNanos)) {
            return;
        }
        for (Http2Stream stream : streams.all()) {
            stream.onTick(nowNanos, settings);
            if (stream.checkStalled(nowNanos, settings.sendTimeoutNanos())) {
                shared.parts().events().onFault(Http2Fault.STALLED);
                stream.onTooSlow(SlowReason.TIMEOUT);
                reset(stream, ErrorCode.CANCEL);
            }
        }
        if (shutdown.checkFinalGoAwayDue()) {
            endShutdown();
        }
        endIfIdle(settings, nowNanos);
    }

    /** Checks the deadlines of a closing connection. The limits for slow clients still apply to its last bytes. */
    private void onClosingTick(long nowNanos) {
        Http2Settings settings = settings();
        if (pace.closeIfTooSlow(settings, nowNanos)) {
            return;
        }
        boolean acknowledged = ConnectionEnd.isAcknowledged(ctx.channel());
        if (deadlines.isLingerOver(output.isSending(), acknowledged, nowNanos, settings.sendTimeoutNanos())) {
            closeNow();
        }
    }

    private void endIfIdle(Http2Settings settings, long nowNanos) {
        boolean busy = closing || streams.size() > 0 || output.isSending();
        if (!busy && deadlines.isIdleTooLong(nowNanos, settings.keepAliveTimeoutNanos())) {
            endShutdown();
        }
    }

    /**
     * Ends the connection if the client has not completed the preface, a frame or a field block in time. Returns true
     * if the connection was ended.
     */
    private boolean endIfPartTooLate(Http2Settings settings, long nowNanos) {
        boolean inBlock = reader.isInBlock();
        boolean partial = !prefaceSeen || inBlock || (incompleteFrame != null && !reader.isInData());
        boolean late = deadlines.isPartLate(partial, inBlock, nowNanos, settings.headerTimeoutNanos());
        if (late) {
            end(Http2Exception.connection(
                    ErrorCode.PROTOCOL_ERROR,
                    Http2Fault.TIMEOUT,
                    "timeout of the connection preface or of a field block"));
        }
        return late;
    }

    @Override
    public void addIfBehind(SlowClients slow, long nowNanos) {
        if (slot >= 0 && pace.sample(nowNanos)) {
            slow.add(pace);
        }
    }

    /** Closes the connection with a TCP reset. */
    void closeByReset() {
        closing = true;
        ConnectionEnd.reset(ctx);
        onGone();
    }

    @Override
    public void onDrain(boolean closesIdle) {
        if (closesIdle) {
            endShutdown();
        } else {
            beginShutdown();
        }
    }

    @Override
    public void onClose() {
        for (Http2Stream stream : streams.all()) {
            stream.stopTunnel();
        }
        closeNow();
    }

    @Override
    public int slot() {
        return slot;
    }

    @Override
    public void slot(int place) {
        slot = place;
    }

    FrameOutput output() {
        return output;
    }

    ContentSender sender() {
        return sender;
    }

    FrameProcessor frames() {
        return frames;
    }

    boolean isClosing() {
        return closing;
    }

    HeadEncoder encoder() {
        return shared.encoder();
    }

    EventLoop loop() {
        return ctx.channel().eventLoop();
    }

    EventExecutor eventLoop() {
        return ctx.executor();
    }

    ByteBufAllocator alloc() {
        return ctx.alloc();
    }

    Http2Settings settings() {
        return shared.parts().settings().get();
    }

    @Override
    public ClientConnection client() {
        return client;
    }
}
