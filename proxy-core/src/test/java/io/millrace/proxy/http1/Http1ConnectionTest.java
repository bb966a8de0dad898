package io.millrace.proxy.http1;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.OutboundHead;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.BadRequest;
import io.millrace.proxy.net.ClientStream;
import io.millrace.proxy.net.ConnectionSet;
import io.millrace.proxy.net.RequestHandler;
import io.millrace.proxy.net.RequestReceiver;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the deadlines of a connection, with a clock that the test sets and a socket that accepts only the bytes that
 * the test permits.
 */
class Http1ConnectionTest {
    private static final long SECOND = 1_000_000_000L;
    private static final Http1Settings SETTINGS =
            new Http1Settings(8192, 32768, 0, 0, 30 * SECOND, 5 * SECOND, 10 * SECOND, 20 * SECOND);

    /** A socket with a full buffer; {@link #takes} more bytes fit. */
    private static final class Socket extends EmbeddedChannel {
        private long takes;

        @Override
        protected void doWrite(ChannelOutboundBuffer in) {
            while (in.current() instanceof ByteBuf next && (takes > 0 || !next.isReadable())) {
                long taken = Math.min(takes, next.readableBytes());
                takes -= taken;
                in.removeBytes(taken);
            }
        }

        void take(long bytes) {
            takes = bytes;
            flush();
        }

        @Override
        protected SocketAddress localAddress0() {
            return InetSocketAddress.createUnresolved("127.0.0.1", 80);
        }

        @Override
        protected SocketAddress remoteAddress0() {
            return InetSocketAddress.createUnresolved("127.0.0.1", 50000);
        }
    }

    /** Receives requests and records their events. */
    private static final class Receiver implements RequestReceiver, RequestHandler {
        private ClientStream stream;
        private BadRequest failure;

        @Override
        public RequestHandler onRequest(ClientStream clientStream, RequestHead head, long contentLength) {
            stream = clientStream;
            return this;
        }

        @Override
        public void onBadRequest(ClientStream clientStream, BadRequest reason) {
            failure = reason;
            clientStream.abort();
        }

        @Override
        public void onContent(ByteBuf content) {
            content.release();
        }

        @Override
        public void onRequestEnd() {}

        @Override
        public void onRequestFailure(BadRequest reason) {
            failure = reason;
        }

        @Override
        public void onWritable() {}

        @Override
        public void onClientGone() {}
    }

    private final Socket socket = new Socket();
    private final Receiver receiver = new Receiver();
    private final ConnectionSet connections = new ConnectionSet(socket.eventLoop(), 10, () -> {});
    private Http1Connection connection;

    @BeforeEach
    void connect() {
        Http1Pipeline.install(socket, () -> SETTINGS, receiver, connections, null);
        connection = socket.pipeline().get(Http1Connection.class);
    }

    @AfterEach
    void close() {
        socket.close();
        socket.runPendingTasks();
        socket.finishAndReleaseAll();
    }

    private void request(String text) {
        socket.writeInbound(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
    }

    private void respond(int length) {
        receiver.stream.writeHead(
                new OutboundHead().reset(200, "OK", FieldSection.EMPTY).contentLength(length));
        receiver.stream.write(Unpooled.wrappedBuffer(new byte[length]));
        receiver.stream.finish();
    }

    /** Ticks like the connection set, until the end of a span. */
    private void pass(long fromSecond, long seconds) {
        for (long tick = fromSecond * 4; tick <= (fromSecond + seconds) * 4; tick++) {
            connection.onTick(tick * SECOND / 4);
            socket.runPendingTasks();
        }
    }

    @Test
    void keepAliveTimeBeginsWhenTheResponseHasLeft() {
        request("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        respond(1_000_000);
        pass(100, 15);
        assertTrue(socket.isOpen());
        socket.take(Long.MAX_VALUE);
        pass(115, 4);
        assertTrue(socket.isOpen());
        pass(119, 2);
        assertFalse(socket.isOpen());
    }

    @Test
    void lingerTimeBeginsWhenTheResponseHasLeft() {
        request("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        respond(1_000_000);
        pass(100, 15);
        assertTrue(socket.isOpen());
        socket.take(Long.MAX_VALUE);
        socket.runPendingTasks();
        pass(115, 3);
        assertFalse(socket.isOpen());
    }

    @Test
    void clientThatTakesAPartOfALargeBufferIsAlive() {
        request("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        respond(1_000_000);
        for (int i = 0; i < 10; i++) {
            pass(100 + i * 15, 15);
            assertTrue(socket.isOpen());
            socket.take(100);
        }
    }

    @Test
    void clientThatTakesNothingIsClosed() {
        request("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        respond(1_000_000);
        pass(100, 19);
        assertTrue(socket.isOpen());
        pass(119, 2);
        assertFalse(socket.isOpen());
    }

    /** A client that sends a byte now and then has no more time for a head than others. */
    @Test
    void bytesOfAHeadDoNotMoveItsDeadline() {
        String head = "GET / HTTP/1.1\r\nHost: a\r\nX: " + "y".repeat(100);
        for (int i = 0; i < 29; i++) {
            request(head.substring(i, i + 1));
            pass(100 + i, 1);
        }
        assertEquals(null, receiver.failure);
        request(head.substring(29, 30));
        pass(129, 2);
        assertEquals(BadRequest.HEADER_TIMEOUT, receiver.failure);
        assertFalse(socket.isOpen());
    }

    /** The same after an answered request: the head's time begins with its first byte. */
    @Test
    void bytesOfASecondHeadDoNotMoveItsDeadline() {
        socket.take(Long.MAX_VALUE);
        request("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        respond(1);
        pass(100, 4);
        for (int i = 0; i < 29; i++) {
            request("G");
            pass(104 + i, 1);
        }
        assertEquals(null, receiver.failure);
        request("G");
        pass(133, 2);
        assertEquals(BadRequest.HEADER_TIMEOUT, receiver.failure);
    }

    @Test
    void contentTimeRunsOnlyWhileContentIsWanted() {
        request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
        pass(100, 9);
        receiver.stream.readContent(false);
        pass(109, 60);
        receiver.stream.readContent(true);
        pass(169, 9);
        assertEquals(null, receiver.failure);
        pass(178, 2);
        assertEquals(BadRequest.CONTENT_TIMEOUT, receiver.failure);
    }

    @Test
    void contentThatIsNotReadAfterAnEarlyAnswerIsTimedOut() {
        socket.take(Long.MAX_VALUE);
        request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
        receiver.stream.readContent(false);
        respond(1);
        pass(100, 11);
        assertFalse(socket.isOpen());
    }

    @Test
    void contentBeyondTheAnnouncedLengthIsAFaultThatTheExchangeHears() {
        request("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        receiver.stream.writeHead(
                new OutboundHead().reset(200, "OK", FieldSection.EMPTY).contentLength(1));
        assertThrows(IllegalStateException.class, () -> receiver.stream.write(Unpooled.wrappedBuffer(new byte[2])));
        assertThrows(IllegalStateException.class, () -> receiver.stream.finish());
    }
}
