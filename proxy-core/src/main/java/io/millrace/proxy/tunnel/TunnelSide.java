package io.millrace.proxy.tunnel;

import io.millrace.proxy.net.ConnectionEnd;
import io.millrace.proxy.net.SendWatch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelOutputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The channel handler of one side of a tunnel, at the end of its pipeline.
 *
 * <p>A TLS side that has sent close_notify accepts no more bytes, because TLS implementations do not support
 * half-closed connections. Further bytes for such a side are dropped.
 *
 * <p>Confined to the channel's event loop.
 */
final class TunnelSide extends ChannelInboundHandlerAdapter {
    private final Tunnel tunnel;
    private final Tunnel.End whenBroken;
    /** Bytes from the other side that were read before this handler was added to its pipeline. */
    private final ArrayDeque<ByteBuf> early = new ArrayDeque<>(1);

    private @Nullable ChannelHandlerContext ctx;
    private boolean inputEnded;
    /** True if the output ends after the bytes that were already written. */
    private boolean outputEnding;
    /** True if the output was shut down. */
    private boolean outputShut;
    /** True if TLS accepts no more bytes, because the peer has sent close_notify. */
    private boolean discardsWrites;
    /** True if {@link #close} sends a TCP reset. */
    private boolean reset;

    TunnelSide(Tunnel tunnel, Tunnel.End whenBroken) {
        this.tunnel = tunnel;
        this.whenBroken = whenBroken;
    }

    // channel events

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        if (tunnel.isEnded() || !context.channel().isActive()) {
            tunnel.broken(this, whenBroken);
            close();
            return;
        }
        // ALLOW_HALF_CLOSURE: a FIN ends only one direction. AUTO_CLOSE: a failed write closes the channel.
        context.channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
        context.channel().config().setOption(ChannelOption.AUTO_CLOSE, true);
        tunnel.joined(this);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (message instanceof ByteBuf bytes && bytes.isReadable() && !tunnel.isEnded()) {
            tunnel.received(this, bytes);
        } else {
            ReferenceCountUtil.release(message);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (!tunnel.isEnded()) {
            tunnel.receivedAll(this);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (!tunnel.isEnded()) {
            tunnel.writable(this);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslCloseCompletionEvent) {
            discardsWrites = true;
            endInput();
        } else if (event instanceof ChannelInputShutdownEvent) {
            endInput();
        } else if (event instanceof ChannelOutputShutdownEvent && !outputEnding) {
            tunnel.broken(this, whenBroken);
        }
    }

    /** Ends the input of this side: forwards its last bytes, then the end. */
    void endInput() {
        if (!inputEnded && !tunnel.isEnded()) {
            inputEnded = true;
            tunnel.receivedAll(this);
            tunnel.inputEnded(this);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        tunnel.broken(this, whenBroken);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // Writes to a TLS side after its close_notify fail; that is expected.
        if (!discardsWrites) {
            tunnel.broken(this, whenBroken);
        }
    }

    // called by the tunnel

    boolean isJoined() {
        return ctx != null;
    }

    /** Starts the transfer. Called when both handlers were added to their pipelines. */
    void start() {
        while (!early.isEmpty()) {
            write(early.remove());
        }
        flush();
        if (outputEnding) {
            shutdown();
        }
        read(true);
    }

    /** Writes bytes of the other side. Takes ownership. */
    void write(ByteBuf bytes) {
        ChannelHandlerContext context = ctx;
        if (discardsWrites) {
            bytes.release();
        } else if (context == null) {
            early.add(bytes);
        } else {
            context.write(bytes, context.voidPromise());
        }
    }

    void flush() {
        if (ctx != null) {
            ctx.flush();
        }
    }

    boolean isWritable() {
        return ctx != null && (discardsWrites || ctx.channel().isWritable());
    }

    /** Starts or stops reading from the connection of this side. */
    void read(boolean on) {
        if (ctx != null && ctx.channel().config().isAutoRead() != on) {
            ctx.channel().config().setAutoRead(on);
        }
    }

    /** Number of bytes from the other side that are not sent yet. */
    long unsentBytes() {
        return ctx == null ? 0 : SendWatch.unsent(ctx.channel());
    }

    /** Ends the output of this side, after all bytes of the other side were written. */
    void shutdownOutput() {
        if (!outputEnding) {
            outputEnding = true;
            if (ctx != null) {
                shutdown();
            }
        }
    }

    private void shutdown() {
        ChannelHandlerContext context = ctx;
        if (context == null || outputShut) {
            return;
        }
        context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> {
            SslHandler tls = context.pipeline().get(SslHandler.class);
            if (tls == null || discardsWrites) {
                shut(context);
            } else {
                tls.closeOutbound().addListener(notified -> shut(context));
            }
        });
    }

    private void shut(ChannelHandlerContext context) {
        if (tunnel.isEnded() || outputShut) {
            return;
        }
        outputShut = true;
        if (context.channel() instanceof DuplexChannel socket && socket.isActive()) {
            socket.shutdownOutput();
        }
        tunnel.outputShut();
    }

    boolean isOutputShut() {
        return outputShut;
    }

    /** Makes {@link #close} send a TCP reset, so that truncated data does not look complete. */
    void resetAtEnd() {
        reset = true;
    }

    void close() {
        while (!early.isEmpty()) {
            early.remove().release();
        }
        ChannelHandlerContext context = ctx;
        if (context == null) {
            return;
        }
        if (reset && context.channel().isActive()) {
            ConnectionEnd.reset(context);
        } else {
            context.channel().close();
        }
    }
}
