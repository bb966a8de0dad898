package io.millrace.proxy;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/** A TLS client that offers the session of its last connection, to any port. */
final class ResumingClient {
    private ResumingClient() {}

    /**
     * Connects as to {@code one.example:443}, requests {@code /}, and waits until the server closes.
     *
     * @return true if the session began on an earlier connection with this context
     * @throws SSLException if the server refuses the connection, at the handshake or, with TLS 1.3, after it
     */
    static boolean connect(SSLContext context, InetSocketAddress address, String protocol) throws Exception {
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            SSLEngine engine = context.createSSLEngine("one.example", 443);
            engine.setUseClientMode(true);
            engine.setEnabledProtocols(new String[] {protocol});
            SslHandler tls = new SslHandler(engine);
            AtomicInteger received = new AtomicInteger();
            Channel channel = new Bootstrap()
                    .group(loop)
                    .channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel made) {
                            made.pipeline().addLast(tls, new ChannelInboundHandlerAdapter() {
                                @Override
                                public void channelRead(ChannelHandlerContext context, Object message) {
                                    received.incrementAndGet();
                                    ReferenceCountUtil.release(message);
                                }

                                @Override
                                public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                                    context.close();
                                }
                            });
                        }
                    })
                    .connect(address)
                    .sync()
                    .channel();
            tls.handshakeFuture().sync();
            boolean resumed = engine.getSession().getValue("seen") != null;
            engine.getSession().putValue("seen", "yes");
            channel.writeAndFlush(Unpooled.copiedBuffer(
                    "GET / HTTP/1.1\r\nHost: one.example\r\nConnection: close\r\n\r\n", StandardCharsets.US_ASCII));
            channel.closeFuture().sync();
            if (received.get() == 0) {
                throw new SSLException("closed without an answer");
            }
            return resumed;
        } finally {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }
}
