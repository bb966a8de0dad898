package io.millrace.proxy.http2;

import io.millrace.proxy.http.TargetUri;
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
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's HTTP/2 connection: its life from the preface to GOAWAY, its deadlines, and the order in which it sends.
 *
 * <p>The {@link FrameProcessor} acts on frames. Confined to one event loop.
 */
final class Http2Connection extends ChannelInboundHandlerAdapter implements ConnectionSet.Member, SlowClients.Client {
    private static final Logger log = LoggerFactory.getLogger(Http2Connection.class);

    /** Content of requests that the client may send on this connection before this side has taken any. */
    private static final int RECEIVE_WINDOW = 1024 * 1024;
    /** While so many bytes wait in the channel the client is not read. */
    private static final int UNSENT_BYTES_MAX = 256 * 1024;
    /** Turns of sending, each up to the channel's high-water mark, before other connections have theirs. */
    private static final int TURNS_MAX = 16;
    /** Ticks between the two steps of a graceful end. */
    private static final int SHUTDOWN_TICKS = 4;

    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long UNSET = 0;

    private final Http2Loop home;
    private final ClientConnection facts;
    private final StreamTable streams = new StreamTable();
    private final SendScheduler<Http2Stream> scheduler = new SendScheduler<>();
    private final FrameProcessor frames;
    private final FrameReader reader;

    private ChannelHandlerContext ctx;
    private FrameOutput output;
    private @Nullable ByteBuf rest;
    private @Nullable ConnectionNames names;
    private int slot = -1;

    private boolean prefaceSeen;
    private boolean closing;
    private boolean inTurn;
    private boolean tableUpdateDue;
    private int sendWindow = Frames.WINDOW_DEFAULT;
    private long queuedBytes;

    private boolean goAwaySent;
    private boolean lastAnnounced;
    private int announcedId = Integer.MAX_VALUE;
    private int ticksToLast;
    private long partialSinceNanos = UNSET;
    private long idleSinceNanos = UNSET;
    private long lingerSinceNanos = UNSET;
    private long framesRead;
    private long framesAtTick;

    @SuppressWarnings("NullAway.Init") // set by handlerAdded, before anything else
    Http2Connection(Http2Loop home, ClientConnection facts) {
        this.home = home;
        this.facts = facts;
        this.frames = new FrameProcessor(this, home);
        this.reader = new FrameReader(frames, home.block());
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        output = new FrameOutput(context, this::turn);
        if (!home.parts().connections().add(this)) {
            closing = true;
            context.channel().close();
            return;
        }
        Transport.limitUnsent(context.channel());
        names = ConnectionNames.of(context.channel());
        Http2Settings settings = settings();
        ByteBuf out = output.room(64);
        Frames.header(out, 24, Frames.SETTINGS, 0, 0);
        Frames.setting(out, Frames.SETTING_MAX_CONCURRENT_STREAMS, settings.streamsMax());
        Frames.setting(out, Frames.SETTING_MAX_HEADER_LIST_SIZE, settings.headerListMax());
        Frames.setting(out, Frames.SETTING_ENABLE_CONNECT_PROTOCOL, 1);
        Frames.setting(out, Frames.SETTING_NO_RFC7540_PRIORITIES, 1);
        Frames.windowUpdate(out, 0, RECEIVE_WINDOW - Frames.WINDOW_DEFAULT);
        frames.receiveWindow(RECEIVE_WINDOW);
        if (home.parts().connections().isDraining()) {
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
            bytes.release();
            return;
        }
        ByteBuf in = rest == null ? bytes : ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(alloc(), rest, bytes);
        rest = null;
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

    private void read(ByteBuf in) throws Http2Exception {
        if (!prefaceSeen && !readPreface(in)) {
            return;
        }
        frames.beginRead();
        int blockBytesMax = 2 * settings().headerListMax();
        while (!closing && reader.next(in, blockBytesMax)) {
            framesRead++;
        }
    }

    private boolean readPreface(ByteBuf in) throws Http2Exception {
        if (!Http2Preface.isBegun(in)) {
            throw Http2Exception.connection(
                    ErrorCode.PROTOCOL_ERROR, Http2Fault.PROTOCOL, "no connection preface of HTTP/2");
        }
        if (in.readableBytes() < Http2Preface.length()) {
            return false;
        }
        in.skipBytes(Http2Preface.length());
        prefaceSeen = true;
        return true;
    }

    /** Keeps what is no whole frame yet, in a buffer of its own size: receive buffers are large. Takes ownership. */
    private void keep(ByteBuf in) {
        if (in.isReadable() && !closing) {
            rest = alloc().buffer(in.readableBytes() + Frames.HEADER_BYTES).writeBytes(in);
        }
        in.release();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        output.endRead();
        regulateReading();
        context.fireChannelReadComplete();
    }

    /** Stops to read a client that does not take what was sent to it. */
    private void regulateReading() {
        if (!closing) {
            boolean wanted = ctx.channel().isWritable() || output.unsent() < UNSENT_BYTES_MAX;
            ctx.channel().config().setAutoRead(wanted);
        }
    }

    // sending

    /** Sends what streams have and windows and channel take, then all that was written. */
    private void turn() {
        if (inTurn) {
            return;
        }
        inTurn = true;
        try {
            int turns = 0;
            do {
                sendContent();
                output.flushNow();
                turns++;
            } while (!closing && sendWindow > 0 && !scheduler.isEmpty() && output.isWritable() && turns < TURNS_MAX);
        } finally {
            inTurn = false;
        }
        if (!scheduler.isEmpty() && sendWindow > 0 && output.isWritable()) {
            output.flush();
        }
    }

    private void sendContent() {
        while (sendWindow > 0 && output.isWritable()) {
            Http2Stream stream = scheduler.take();
            if (stream == null) {
                break;
            }
            int sent = stream.send(sendWindow);
            sendWindow -= sent;
            boolean cut = stream.queuedBytes() > 0 && (sendWindow == 0 || stream.sendWindow() <= 0);
            frames.sentFrame(sent, cut);
            stream.wakeExchange();
            schedule(stream);
        }
    }

    /** Has the stream's content sent in its turn. */
    void schedule(Http2Stream stream) {
        if (stream.isSendable()) {
            scheduler.add(stream);
            output.flush();
        }
    }

    /** Takes over another priority. */
    void prioritize(Http2Stream stream, StreamPriority priority) {
        scheduler.remove(stream);
        scheduler.prioritized();
        stream.priority.set(priority);
        schedule(stream);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (context.channel().isWritable()) {
            regulateReading();
            if (!inTurn && !closing) {
                wakeStreams();
                output.flush();
            }
        }
        context.fireChannelWritabilityChanged();
    }

    private void wakeStreams() {
        for (Http2Stream stream : streams.all()) {
            stream.wakeExchange();
        }
    }

    /** Writes the encoder's block as HEADERS. Returns the bytes of the frames. */
    int headers(int streamId, HeadEncoder block, boolean endStream) {
        ByteBuf out = output.room(block.length() + Frames.HEADER_BYTES);
        int before = out.writerIndex();
        Frames.headers(out, streamId, block.block(), block.length(), endStream);
        return out.writerIndex() - before;
    }

    /** Whether no content can be sent now, whatever stream it is of. */
    boolean isBlocked() {
        return sendWindow == 0 || !output.isWritable();
    }

    int sendWindow() {
        return sendWindow;
    }

    /** Content was sent past the scheduler. */
    void sentDirectly(int bytes) {
        sendWindow -= bytes;
    }

    /** Enlarges the client's window of the connection; false when it becomes larger than it may. */
    boolean enlargeWindow(int by) {
        long window = (long) sendWindow + by;
        if (window > Frames.WINDOW_MAX) {
            return false;
        }
        boolean wasBlocked = sendWindow == 0;
        sendWindow = (int) window;
        if (wasBlocked) {
            wakeStreams();
        }
        output.flush();
        return true;
    }

    void queued(int bytes) {
        queuedBytes += bytes;
    }

    void unqueued(int bytes) {
        queuedBytes -= bytes;
    }

    /** The client uses a smaller dynamic table than the default: the next block has to say that none is used. */
    void giveUpTable() {
        tableUpdateDue = true;
    }

    /** Whether the next block has to say so; once. */
    boolean takeTableUpdate() {
        boolean due = tableUpdateDue;
        tableUpdateDue = false;
        return due;
    }

    void giveWindow(Http2Stream stream) {
        stream.giveWindow(home.parts().memory().windowBytes(settings().windowBytes()));
    }

    /** Whether the connection may be used for the URL: the client would check the certificate for it. */
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

    /** A request began: the connection is not idle. */
    void onRequest() {
        idleSinceNanos = UNSET;
    }

    /** A stream may be over on both sides. */
    void endIfOver(Http2Stream stream) {
        if (stream.isOver()) {
            remove(stream);
        }
    }

    /** Resets a stream; its exchange is told that the client is gone. */
    void reset(Http2Stream stream, ErrorCode code) {
        if (closing || streams.get(stream.id()) != stream) {
            return;
        }
        Frames.rstStream(output.room(13), stream.id(), code);
        streams.markReset(stream.id());
        remove(stream);
        stream.onGone();
    }

    /** Forgets a stream. */
    void remove(Http2Stream stream) {
        scheduler.remove(stream);
        if (streams.remove(stream) && streams.size() == 0) {
            idleSinceNanos = UNSET;
            if (lastAnnounced) {
                lingerAndClose();
            }
        }
    }

    // the end

    /** Ends the connection in two steps, so that no request on its way is lost (RFC 9113 s6.8). */
    void beginShutdown() {
        if (!goAwaySent && !closing) {
            goAwaySent = true;
            ticksToLast = SHUTDOWN_TICKS;
            Frames.goAway(output.room(17), Integer.MAX_VALUE, ErrorCode.NO_ERROR);
        }
    }

    /** The second step: what the client begins from now on is not answered. */
    private void endShutdown() {
        if (!lastAnnounced && !closing) {
            goAwaySent = true;
            lastAnnounced = true;
            announcedId = streams.lastId();
            Frames.goAway(output.room(17), announcedId, ErrorCode.NO_ERROR);
            if (streams.size() == 0) {
                lingerAndClose();
            }
        }
    }

    /** Whether requests that begin now are not answered. */
    boolean isLastAnnounced() {
        return lastAnnounced;
    }

    /** An error of the connection: GOAWAY says which, then it ends. */
    private void end(Http2Exception error) {
        if (closing) {
            return;
        }
        log.debug("{}: {}: {}", facts, error.code(), error.getMessage());
        home.parts().events().onFault(error.fault());
        Frames.goAway(output.room(17), Math.min(announcedId, streams.lastId()), error.code());
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
            // A client of HTTP/2 that sends nothing more cannot open windows either.
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
            home.parts().connections().remove(this);
        }
        releaseStreams();
        output.drop();
        ReferenceCountUtil.release(rest);
        rest = null;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        if (cause instanceof IOException || cause.getCause() instanceof javax.net.ssl.SSLException) {
            log.debug("{}: connection failed", context.channel(), cause);
        } else if (cause instanceof OutOfMemoryError) {
            log.debug("{}: connection closed for want of memory", context.channel());
        } else {
            log.warn("{}: connection closed after a fault", context.channel(), cause);
        }
        closeNow();
    }

    // deadlines

    @Override
    public void onTick(long nowNanos) {
        if (closing) {
            if (lingerSinceNanos == UNSET) {
                lingerSinceNanos = nowNanos;
            } else if (nowNanos - lingerSinceNanos >= LINGER_NANOS) {
                closeNow();
            }
            return;
        }
        Http2Settings settings = settings();
        frames.onTick(settings);
        if ((output.look(queuedBytes, nowNanos) && isTooSlow(settings, nowNanos))
                || isPartTooLate(settings, nowNanos)) {
            return;
        }
        for (Http2Stream stream : streams.all()) {
            stream.onTick(nowNanos, settings);
            if (stream.isStalled(nowNanos, settings.sendTimeoutNanos())) {
                home.parts().events().onFault(Http2Fault.STALLED);
                stream.onTooSlow(SlowReason.TIMEOUT);
                reset(stream, ErrorCode.CANCEL);
            }
        }
        if (goAwaySent && !lastAnnounced && --ticksToLast <= 0) {
            endShutdown();
        }
        endIfIdle(settings, nowNanos);
    }

    private void endIfIdle(Http2Settings settings, long nowNanos) {
        if (closing || streams.size() > 0 || output.isSending()) {
            return;
        }
        if (idleSinceNanos == UNSET) {
            idleSinceNanos = nowNanos;
        } else if (nowNanos - idleSinceNanos >= settings.keepAliveTimeoutNanos()) {
            endShutdown();
        }
    }

    /** Whether the preface, or a frame or block that has begun, does not come in time; then the connection ends. */
    private boolean isPartTooLate(Http2Settings settings, long nowNanos) {
        boolean partial = !prefaceSeen || reader.isInBlock() || (rest != null && !reader.isInData());
        if (!partial || (framesRead != framesAtTick && !reader.isInBlock())) {
            partialSinceNanos = UNSET;
        } else if (partialSinceNanos == UNSET) {
            partialSinceNanos = nowNanos;
        } else if (nowNanos - partialSinceNanos >= settings.headerTimeoutNanos()) {
            end(Http2Exception.connection(
                    ErrorCode.PROTOCOL_ERROR,
                    Http2Fault.TIMEOUT,
                    "a preface or field block that did not come in time"));
            return true;
        }
        framesAtTick = framesRead;
        return false;
    }

    private boolean isTooSlow(Http2Settings settings, long nowNanos) {
        SlowReason reason = null;
        SlowClients slow = home.parts().connections().slowClients();
        // Each stream watches the bytes that wait for its window.
        if (output.unsent() > 0 && output.watch().isStuck(ctx.channel(), nowNanos, settings.sendTimeoutNanos())) {
            reason = SlowReason.TIMEOUT;
        } else if (slow != null && output.watch().isBelow(ctx.channel(), slow.rateMin(), nowNanos)) {
            reason = SlowReason.RATE;
        }
        if (reason == null) {
            return false;
        }
        if (slow == null) {
            closeSlow(reason);
        } else {
            slow.close(this, reason);
        }
        return true;
    }

    @Override
    public void addIfBehind(SlowClients slow, long nowNanos) {
        if (slot >= 0 && output.look(queuedBytes, nowNanos)) {
            slow.add(this);
        }
    }

    @Override
    public long silentNanos(long nowNanos) {
        return output.watch().silentNanos(ctx.channel(), nowNanos);
    }

    @Override
    public long behindNanos(long nowNanos) {
        return output.watch().behindNanos(nowNanos);
    }

    @Override
    public long bytesPerSecond(long nowNanos) {
        return output.watch().bytesPerSecond(nowNanos);
    }

    @Override
    public SlowClients.OriginDemand originDemand() {
        SlowClients.OriginDemand most = SlowClients.OriginDemand.NONE;
        for (Http2Stream stream : streams.all()) {
            SlowClients.OriginDemand demand = stream.originDemand();
            most = demand.compareTo(most) > 0 ? demand : most;
        }
        return most;
    }

    @Override
    public void closeSlow(SlowReason reason) {
        for (Http2Stream stream : streams.all()) {
            stream.onTooSlow(reason);
        }
        closing = true;
        ConnectionEnd.reset(ctx);
        onGone();
    }

    @Override
    public void onDrain(boolean idleToo) {
        if (idleToo) {
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

    HeadEncoder encoder() {
        return home.encoder();
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
        return home.parts().settings().get();
    }

    @Override
    public ClientConnection client() {
        return facts;
    }
}
