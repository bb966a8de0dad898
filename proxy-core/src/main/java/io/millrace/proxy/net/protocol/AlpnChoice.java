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
 * A channel handler that starts HTTP/1.1 or HTTP/2 after the TLS handshake. ALPN (RFC 7301) determines the protocol.
 *
 * <p>Placed behind the TLS handler. Removes itself from the pipeline after it has started the protocol. Confined to the
 * channel's event loop.
 */
public final class AlpnChoice extends ChannelInboundHandlerAdapter {
    /** The protocol identifier of HTTP/2 over TLS (RFC 9113 s3.2). */
    private static final String HTTP2 = "h2";

    private final ClientConnection connection;
    private final ClientProtocol http1;
    private final ClientProtocol http2;
    private final PendingConnection pending;

    /**
     * @param connections contains this connection until its protocol is known
     * @param timeoutNanos limit of the time from the connection's start to the end of the handshake; read at every tick
     * (the periodic check of all connections)
     * @param http1 the protocol for clients that do not negotiate h2, including clients without ALPN
     */
    public AlpnChoice(
            ConnectionSet connections,
            ClientConnection connection,
            LongSupplier timeoutNanos,
            ClientProtocol http1,
            ClientProtocol http2) {
        this.connection = connection;
        this.http1 = http1;
        this.http2 = http2;
        pending = new PendingConnection(connections, connection, timeoutNanos);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        pending.begin(context);
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        pending.begin(context);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent completion && completion.isSuccess() && !pending.isOver()) {
            pending.leave();
            SslHandler tls = context.pipeline().get(SslHandler.class);
            boolean isHttp2 = tls != null && HTTP2.equals(tls.applicationProtocol());
            (isHttp2 ? http2 : http1).serve(context.channel(), connection);
            context.fireUserEventTriggered(event);
            context.pipeline().remove(this);
        } else if (event instanceof ChannelInputShutdownEvent && !pending.isOver()) {
            context.close();
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        pending.leave();
        context.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        // The preceding handler, of package tls, counts failed handshakes.
        context.close();
    }
}
