package io.millrace.proxy.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PatchedEpollIoHandlerTest {
    /**
     * If another thread has taken the descriptor's number in the meantime, the test is repeated up to this number of
     * times.
     */
    private static final int TRIES = 20;

    /** Records the first event of a listening socket. */
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
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, PatchedEpollIoHandler.newFactory());
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

            try (java.net.Socket client = new java.net.Socket()) {
                client.connect(server.localAddress());
                assertTrue(listening.told().get().contains(EpollIoOps.EPOLLIN));
            }
        } finally {
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        }
    }

    /** A UDP socket on an event loop. The first of two that receives an event takes the number of the other. */
    private static final class Datagrams implements EpollIoHandle {
        final IoEventLoop loop;
        final Socket socket;
        final List<Datagrams> heard;
        IoRegistration registration;
        Datagrams other;
        Datagrams heir;

        Datagrams(IoEventLoop loop, List<Datagrams> heard) throws IOException {
            this.loop = loop;
            this.heard = heard;
            socket = Socket.newSocketDgram();
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        }

        void register() {
            registration = loop.register(this).getNow();
            registration.submit(EpollIoOps.EPOLLIN.with(EpollIoOps.EPOLLET));
        }

        @Override
        public FileDescriptor fd() {
            return socket;
        }

        @Override
        public void handle(IoRegistration of, IoEvent event) {
            heard.add(this);
            if (other != null && heard.size() == 1) {
                try {
                    other.registration.cancel();
                    other.socket.close();
                    heir = new Datagrams(loop, heard);
                    heir.register();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }

        void receive() throws IOException {
            try (DatagramSocket sender = new DatagramSocket()) {
                sender.send(new DatagramPacket(new byte[1], 1, socket.localAddress()));
            }
        }
    }

    /**
     * Returns whether the last one has the number of the closed one; then the events fetched for the closed one did not
     * reach it.
     */
    private static boolean hasTakenTheNumber(IoEventLoop loop) throws Exception {
        List<Datagrams> heard = new CopyOnWriteArrayList<>();
        Datagrams a = new Datagrams(loop, heard);
        Datagrams b = new Datagrams(loop, heard);
        a.other = b;
        b.other = a;
        int numberOfA = a.socket.intValue();
        int numberOfB = b.socket.intValue();
        loop.submit(() -> {
                    a.register();
                    b.register();
                    a.receive();
                    b.receive();
                    return null;
                })
                .sync();
        while (heard.isEmpty()) {
            loop.submit(() -> {}).sync();
        }
        // The event loop has received it before.
        loop.submit(() -> {}).sync();
        Datagrams first = heard.get(0);
        Datagrams heir = first.heir;
        boolean taken = heir.socket.intValue() == (first == a ? numberOfB : numberOfA);
        if (taken) {
            assertEquals(List.of(first), heard, "told of what another's descriptor received");
            heir.receive();
            while (heard.size() == 1) {
                loop.submit(() -> {}).sync();
            }
            assertEquals(List.of(first, heir), heard);
        }
        loop.submit(() -> first.registration.cancel() && heir.registration.cancel())
                .sync();
        first.close();
        heir.close();
        return taken;
    }

    @Test
    @Timeout(30)
    void eventsOfAClosedDescriptorDoNotReachItsSuccessor() throws Exception {
        assumeTrue(Epoll.isAvailable(), "needs epoll");
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, PatchedEpollIoHandler.newFactory());
        try {
            int tries = 0;
            while (!hasTakenTheNumber((IoEventLoop) loops.next())) {
                assertTrue(++tries < TRIES, "the number of a closed descriptor was never given to the next");
            }
        } finally {
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).sync();
        }
    }
}
