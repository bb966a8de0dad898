package io.millrace.proxy.net;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.unix.FileDescriptor;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SteadyEpollTest {
    /** Notes what it is first told of a listening socket. */
    private record Listening(FileDescriptor fd, CompletableFuture<EpollIoOps> told) implements EpollIoHandle {
        @Override
        public void handle(IoRegistration registration, IoEvent event) {
            told.complete(((EpollIoEvent) event).ops());
            registration.cancel();
        }

        @Override
        public void close() {}
    }

    @Test
    @Timeout(30)
    void aHandleThatWaitedForNothingWaitsForSomethingAgain() throws Exception {
        assumeTrue(Epoll.isAvailable(), "needs epoll");
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, SteadyEpoll.newFactory());
        try {
            EpollServerSocketChannel server = (EpollServerSocketChannel) new ServerBootstrap()
                    .group(loops)
                    .channel(EpollServerSocketChannel.class)
                    .option(ChannelOption.AUTO_READ, false)
                    .childHandler(new ChannelInboundHandlerAdapter())
                    .bind("127.0.0.1", 0)
                    .sync()
                    .channel();
            IoEventLoop loop = (IoEventLoop) server.eventLoop();
            server.deregister().sync();
            Listening listening = new Listening(server.fd(), new CompletableFuture<>());
            IoRegistration registration = loop.register(listening).sync().getNow();
            loop.submit(() -> {
                        registration.submit(EpollIoOps.EPOLLIN);
                        registration.submit(EpollIoOps.NONE);
                        registration.submit(EpollIoOps.NONE);
                        registration.submit(EpollIoOps.EPOLLIN);
                    })
                    .sync();

            try (Socket client = new Socket()) {
                client.connect(server.localAddress());
                assertTrue(listening.told().get().contains(EpollIoOps.EPOLLIN));
            }
        } finally {
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        }
    }
}
