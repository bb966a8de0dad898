package io.millrace.proxy;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/** A TLS client that offers the session of its last connection, whichever port that had. */
final class ResumingClient {
    private ResumingClient() {}

    /**
     * Connects as to {@code one.example:443}, asks for {@code /}, and waits until the server closes.
     *
     * @return whether the session is that of an earlier connection with this context
     */
    static boolean connect(SSLContext context, InetSocketAddress address, String protocol) throws Exception {
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            SSLEngine engine = context.createSSLEngine("one.example", 443);
            engine.setUseClientMode(true);
            engine.setEnabledProtocols(new String[] {protocol});
            SslHandler tls = new SslHandler(engine);
            Channel channel = new Bootstrap()
                    .group(loop)
                    .channel(NioSocketChannel.class)
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel made) {
                            made.pipeline().addLast(tls);
                        }
                    })
                    .connect(address)
                    .sync()
                    .channel();
            tls.handshakeFuture().sync();
            boolean resumed = engine.getSession().getValue("seen") != null;
            engine.getSession().putValue("seen", "yes");
            channel.writeAndFlush(Unpooled.copiedBuffer(
                            "GET / HTTP/1.1\r\nHost: one.example\r\nConnection: close\r\n\r\n",
                            StandardCharsets.US_ASCII))
                    .sync();
            channel.closeFuture().sync();
            return resumed;
        } finally {
            loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        }
    }
}
