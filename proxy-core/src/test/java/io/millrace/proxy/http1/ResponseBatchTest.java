package io.millrace.proxy.http1;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.DecidedRequest;
import io.millrace.proxy.net.PlainSocket;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.net.RequestReceiver;
import io.millrace.proxy.net.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Answers to several connections that wait for one another on the event loop: whom they reach, and what ends connections meanwhile. */
class ResponseBatchTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Http1Settings SETTINGS =
            new Http1Settings(8192, 32768, 0, 0, 30 * SECOND, 30 * SECOND, 30 * SECOND, 30 * SECOND);
    private static final int WAIT_MILLIS = 20_000;
    /** More bytes than the kernel accepts for one socket at once. */
    private static final int LONG = 16 << 20;
    /**
     * Fewer bytes than are sent before the others' responses, and more than a socket with the smallest buffers accepts.
     */
    private static final int HALF = 60_000;

    /** Both ends of a connection. */
    private record Pair(PlainSocket proxy, Socket client) {}

    private EventLoopGroup group;
    private EventLoop loop;
    private ServerSocket listening;
    private ConnectionSet connections;
    private FastLane lane;
    private final List<Pair> pairs = new ArrayList<>();
    private int promoted;
    private int closed;

    @BeforeEach
    void start() throws Exception {
        Assumptions.assumeTrue(Transport.choose("auto").hasPlainSockets(), "no epoll here");
        group = new MultiThreadIoEventLoopGroup(1, Transport.EPOLL.ioHandlerFactory());
        loop = group.next();
        listening = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        connections = new ConnectionSet(loop, 1000, () -> {});
        lane = new FastLane(new FastLane.Parts(
                loop,
                ByteBufAllocator.DEFAULT,
                () -> SETTINGS,
                () -> true,
                new Refusing(),
                this::answer,
                connections,
                new Counting()));
    }

    @AfterEach
    void end() throws Exception {
        if (group != null) {
            onLoop(() -> {
                connections.close();
                lane.close();
                return null;
            });
            for (Pair pair : pairs) {
                pair.client.close();
            }
            listening.close();
            group.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
        }
    }

    private <T> T onLoop(Callable<T> task) throws Exception {
        return loop.submit(task).get();
    }

    /** Returns a connection whose client has sent a request. */
    private Pair asked(String path) throws Exception {
        boolean half = path.startsWith("/half");
        listening.setReceiveBufferSize(half ? 1 : 1 << 20);
        Channel channel = new Bootstrap()
                .group(group)
                .channel(EpollSocketChannel.class)
                .option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.SO_SNDBUF, half ? 1 : 1 << 20)
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel initialised) {}
                })
                .connect(listening.getLocalSocketAddress())
                .sync()
                .channel();
        Socket client = listening.accept();
        client.setSoTimeout(WAIT_MILLIS);
        client.setTcpNoDelay(true);
        channel.deregister().sync();
        Pair pair = new Pair(PlainSocket.of(channel, loop), client);
        pairs.add(pair);
        ask(pair, path);
        return pair;
    }

    private static void ask(Pair pair, String path) throws IOException {
        pair.client
                .getOutputStream()
                .write(("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
    }

    /** On the event loop: reads and answers the request; the response waits. */
    private void begin(Pair pair) {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        lane.onAccepted(pair.proxy, new ClientConnection(address, address, false));
    }

    private DecidedRequest answer(ClientStream stream, RequestHead head) {
        byte[] content = contentOf(head.target().asString().replaceAll("http://a", ""));
        stream.writeHead(new OutboundHead().reset(200, "OK", FieldSection.EMPTY).contentLength(content.length));
        stream.write(Unpooled.wrappedBuffer(content));
        stream.finish();
        return null;
    }

    private static byte[] contentOf(String path) {
        if (!path.startsWith("/long") && !path.startsWith("/half")) {
            return path.getBytes(StandardCharsets.US_ASCII);
        }
        byte[] content = new byte[path.startsWith("/long") ? LONG : HALF];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (i ^ i >>> 8 ^ i >>> 16);
        }
        return content;
    }

    private static void assertAnswered(Pair pair, String path) throws IOException {
        byte[] content = contentOf(path);
        byte[] head = ("HTTP/1.1 200 OK\r\nContent-Length: " + content.length + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        assertArrayEquals(head, pair.client.getInputStream().readNBytes(head.length), path);
        assertArrayEquals(content, pair.client.getInputStream().readNBytes(content.length), path);
    }

    @Test
    void answersReachEachTheirOwnConnection() throws Exception {
        for (int i = 0; i < 100; i++) {
            asked("/" + i);
        }
        onLoop(() -> {
            pairs.forEach(this::begin);
            return null;
        });
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 100; i++) {
                assertAnswered(pairs.get(i), "/" + (round * 100 + i));
            }
            for (int i = 0; i < 100; i++) {
                ask(pairs.get(i), "/" + ((round + 1) * 100 + i));
            }
        }
        assertEquals(0, onLoop(() -> promoted));
    }

    @Test
    void whatTheKernelDoesNotTakeGoesOnInAChannelAndTheOthersAreAnswered() throws Exception {
        for (int i = 0; i < 5; i++) {
            asked(i == 2 ? "/long" : "/" + i);
        }
        onLoop(() -> {
            pairs.forEach(this::begin);
            return null;
        });
        for (int i : new int[] {0, 1, 3, 4, 2}) {
            assertAnswered(pairs.get(i), i == 2 ? "/long" : "/" + i);
        }
        assertEquals(1, onLoop(() -> promoted));
    }

    @Test
    void whatTheKernelTakesHalfOfGoesOnInAChannelAndTheOthersAreAnswered() throws Exception {
        for (int i = 0; i < 40; i++) {
            asked((i % 3 == 1 ? "/half" : "/") + i);
        }
        onLoop(() -> {
            pairs.forEach(this::begin);
            return null;
        });
        for (int i = 39; i >= 0; i--) {
            assertAnswered(pairs.get(i), (i % 3 == 1 ? "/half" : "/") + i);
        }
        assertEquals(13, onLoop(() -> promoted));
    }

    @Test
    void drainEndsConnectionsBehindTheAnswersThatTheKernelTakesHalfOf() throws Exception {
        Pair half = asked("/half");
        onLoop(() -> {
            begin(half);
            connections.drain(() -> {}, () -> {});
            return null;
        });
        assertAnswered(half, "/half");
        assertEquals(-1, half.client.getInputStream().read());
        assertEquals(1, onLoop(() -> promoted));
    }

    @Test
    void clientThatResetsKeepsNoOtherFromItsAnswer() throws Exception {
        for (int i = 0; i < 5; i++) {
            asked("/" + i);
        }
        pairs.get(2).client.setSoLinger(true, 0);
        onLoop(() -> {
            pairs.forEach(this::begin);
            pairs.get(2).client.close();
            return null;
        });
        for (int i : new int[] {0, 1, 3, 4}) {
            assertAnswered(pairs.get(i), "/" + i);
        }
        assertEquals(4, onLoop(() -> connections.size()));
    }

    @Test
    void drainEndsConnectionsBehindTheAnswersThatWait() throws Exception {
        Pair small = asked("/a");
        Pair large = asked("/long");
        onLoop(() -> {
            begin(small);
            begin(large);
            connections.drain(() -> {}, () -> {});
            return null;
        });
        assertAnswered(small, "/a");
        assertEquals(-1, small.client.getInputStream().read());
        assertAnswered(large, "/long");
        assertEquals(-1, large.client.getInputStream().read());
    }

    @Test
    void closingConnectionSendsItsPendingData() throws Exception {
        Pair first = asked("/a");
        Pair second = asked("/b");
        onLoop(() -> {
            begin(first);
            begin(second);
            connections.close();
            return null;
        });
        assertAnswered(first, "/a");
        assertEquals(-1, first.client.getInputStream().read());
        assertAnswered(second, "/b");
        assertEquals(-1, second.client.getInputStream().read());
        assertEquals(2, onLoop(() -> closed));
    }

    /** Only plain requests arrive here. */
    private static final class Refusing implements RequestReceiver {
        @Override
        public RequestHandler onRequest(ClientStream stream, RequestHead head, long contentLength) {
            throw new AssertionError(head);
        }

        @Override
        public void onBadRequest(ClientStream stream, BadRequest reason) {
            throw new AssertionError(reason);
        }
    }

    private final class Counting implements FastLane.Events {
        @Override
        public void onOpened() {}

        @Override
        public void onClosed() {
            closed++;
        }

        @Override
        public void onReceived(int bytes) {}

        @Override
        public void onAnswered() {}

        @Override
        public void onPromoted() {
            promoted++;
        }

        @Override
        public void onReturned() {}
    }
}
