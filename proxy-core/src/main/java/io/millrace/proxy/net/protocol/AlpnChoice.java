package io.millrace.proxy.net.protocol;

import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientProtocol;
import io.millrace.proxy.net.ConnectionSet;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.util.function.LongSupplier;

/**
 * Waits for the end of the TLS handshake, then has the connection served by the protocol that was agreed on (RFC 7301).
 *
 * <p>Stands behind the TLS handler, and leaves the pipeline with the choice. Confined to the channel's event loop.
 */
public final class AlpnChoice extends ChannelInboundHandlerAdapter implements ConnectionSet.Member {
    /** The protocol identifier of HTTP/2 over TLS (RFC 9113 s3.2). */
    private static final String HTTP2 = "h2";

    private final ConnectionSet connections;
    private final ClientConnection facts;
    private final LongSupplier timeoutNanos;
    private final ClientProtocol http1;
    private final ClientProtocol http2;
    private final long startNanos = System.nanoTime();

    private int slot = -1;
    private boolean over;

    @SuppressWarnings("NullAway.Init") // set by handlerAdded, before anything else
    private ChannelHandlerContext ctx;

    /**
     * @param connections has this connection until its protocol is known
     * @param timeoutNanos from the connection's start to the end of the handshake; asked whenever it counts
     * @param http1 serves clients that agreed on nothing, too
     */
    public AlpnChoice(
            ConnectionSet connections,
            ClientConnection facts,
            LongSupplier timeoutNanos,
            ClientProtocol http1,
            ClientProtocol http2) {
        this.connections = connections;
        this.facts = facts;
        this.timeoutNanos = timeoutNanos;
        this.http1 = http1;
        this.http2 = http2;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        if (context.channel().isActive()) {
            begin();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        begin();
    }

    private void begin() {
        if (slot < 0 && !over && !connections.add(this)) {
            over = true;
            ctx.close();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent completion && completion.isSuccess() && !over) {
            leave();
            SslHandler tls = context.pipeline().get(SslHandler.class);
            boolean agreed = tls != null && HTTP2.equals(tls.applicationProtocol());
            (agreed ? http2 : http1).serve(context.channel(), facts);
            context.fireUserEventTriggered(event);
            context.pipeline().remove(this);
        } else if (event instanceof ChannelInputShutdownEvent && !over) {
            context.close();
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    private void leave() {
        over = true;
        if (slot >= 0) {
            connections.remove(this);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        leave();
        context.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // A handshake that fails is counted where TLS is.
        context.close();
    }

    @Override
    public void onTick(long nowNanos) {
        if (nowNanos - startNanos > timeoutNanos.getAsLong()) {
            onClose();
        }
    }

    /** A request may be on its way behind the handshake. */
    @Override
    public void onDrain(boolean idleToo) {}

    @Override
    public void onClose() {
        over = true;
        ctx.close();
    }

    @Override
    public ClientConnection client() {
        return facts;
    }

    @Override
    public int slot() {
        return slot;
    }

    @Override
    public void slot(int place) {
        slot = place;
    }
}
