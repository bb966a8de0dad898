package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A connection that is kept open, to workers that the test plays. */
class KeptAdminConnectionTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final AdminTransport transport = AdminTransport.best();
    private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1, transport.ioHandlers());
    private final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    private final List<AutoCloseable> closed = new ArrayList<>();

    @TempDir
    Path directory;

    private Worker worker;
    private KeptAdminConnection kept;

    @BeforeEach
    void start() throws IOException {
        worker = new Worker("a");
        kept = connection(LONG);
    }

    private KeptAdminConnection connection(Duration idle) {
        AdminClient client = new AdminClient(group, transport, open);
        return new KeptAdminConnection(group.next(), transport, open, client, "/idle", idle);
    }

    @AfterEach
    void close() throws Exception {
        open.close().await();
        for (AutoCloseable one : closed) {
            one.close();
        }
        group.shutdownGracefully(0, 5, java.util.concurrent.TimeUnit.SECONDS).await();
    }

    /** A socket whose connections the test accepts and answers. */
    private final class Worker {
        final Path socket;
        final ServerSocketChannel listener;

        Worker(String name) throws IOException {
            socket = directory.resolve(name);
            listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            closed.add(listener);
            listener.bind(UnixDomainSocketAddress.of(socket));
        }

        Link accept() throws IOException {
            SocketChannel accepted = listener.accept();
            closed.add(accepted);
            return new Link(accepted);
        }
    }

    /** The worker's end of a connection. */
    private record Link(SocketChannel channel) {
        /** Reads one request. Returns an empty text at the end of the connection. */
        String read() throws IOException {
            StringBuilder text = new StringBuilder();
            ByteBuffer one = ByteBuffer.allocate(1);
            int length = -1;
            while (length < 0 || text.length() < length) {
                one.clear();
                if (channel.read(one) < 0) {
                    return text.toString();
                }
                text.append((char) one.get(0));
                if (length < 0 && text.toString().endsWith("\r\n\r\n")) {
                    String lower = text.toString().toLowerCase(java.util.Locale.ROOT);
                    String after = lower.substring(lower.indexOf("content-length: ") + 16);
                    length = text.length() + Integer.parseInt(after.substring(0, after.indexOf('\r')));
                }
            }
            return text.toString();
        }

        void write(String text) throws IOException {
            channel.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)));
        }

        void answer(int status, String fields, String body) throws IOException {
            write("HTTP/1.1 " + status + " X\r\n" + fields + "Content-Length: " + body.length() + "\r\n\r\n" + body);
        }
    }

    private CompletableFuture<AdminReply> send(String body) {
        return send(worker, body, LONG);
    }

    private CompletableFuture<AdminReply> send(Worker to, String body, Duration timeout) {
        return kept.send(to.socket, "POST", "/purge", body.getBytes(StandardCharsets.US_ASCII), timeout)
                .toCompletableFuture();
    }

    private static String body(CompletableFuture<AdminReply> reply) throws Exception {
        return new String(reply.get().body(), StandardCharsets.US_ASCII);
    }

    private static AdminException failure(CompletableFuture<AdminReply> reply) {
        return assertInstanceOf(
                AdminException.class,
                assertThrows(ExecutionException.class, reply::get).getCause());
    }

    private static void assertRequest(String body, String request) {
        assertTrue(request.startsWith("POST /purge HTTP/1.1\r\n") && request.endsWith("\r\n\r\n" + body), request);
    }

    /** Sends a first request, so that a connection is open. */
    private Link opened() throws Exception {
        CompletableFuture<AdminReply> first = send("first");
        Link link = worker.accept();
        assertRequest("first", link.read());
        link.answer(200, "", "done");
        assertEquals("done", body(first));
        return link;
    }

    @Test
    void oneConnectionCarriesAllRequests() throws Exception {
        Link link = opened();
        for (String body : List.of("second", "third", "")) {
            CompletableFuture<AdminReply> reply = send(body);
            String request = link.read();
            assertRequest(body, request);
            assertFalse(request.toLowerCase(java.util.Locale.ROOT).contains("connection: close"), request);
            link.answer(200, "", "of " + body);
            assertEquals("of " + body, body(reply));
        }
    }

    private enum Answer {
        NONE,
        HALF_A_HEAD,
        HALF_A_BODY;

        void writeAndClose(Link link) throws IOException {
            if (this == HALF_A_HEAD) {
                link.write("HTTP/1.1 200 X\r\nContent-Le");
            } else if (this == HALF_A_BODY) {
                link.write("HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\nhalf");
            }
            link.channel.close();
        }
    }

    private void assertNextIsAnsweredOn(Link link) throws Exception {
        CompletableFuture<AdminReply> reply = send("next");
        assertRequest("next", link.read());
        link.answer(200, "", "next answer");
        assertEquals("next answer", body(reply));
    }

    @ParameterizedTest
    @EnumSource
    void aRequestOnAnOpenConnectionThatBreaksIsSentOnceMore(Answer answer) throws Exception {
        Link link = opened();
        CompletableFuture<AdminReply> reply = send("second");
        assertRequest("second", link.read());
        answer.writeAndClose(link);
        Link next = worker.accept();
        assertRequest("second", next.read());
        next.answer(200, "", "done");
        assertEquals("done", body(reply));
        assertNextIsAnsweredOn(next);
    }

    @ParameterizedTest
    @EnumSource
    void aRequestOnANewConnectionThatBreaksFails(Answer answer) throws Exception {
        CompletableFuture<AdminReply> first = send("first");
        Link link = worker.accept();
        link.read();
        answer.writeAndClose(link);
        assertEquals(502, failure(first).status());
        opened();
    }

    @Test
    void aSecondBreakOfTheSameRequestFails() throws Exception {
        Link link = opened();
        CompletableFuture<AdminReply> reply = send("second");
        link.read();
        link.channel.close();
        Link next = worker.accept();
        next.read();
        next.channel.close();
        assertEquals(AdminClient.FAILED, failure(reply).code());
        opened();
    }

    @Test
    void aConnectionClosedWhileIdleIsReplaced() throws Exception {
        opened().channel.close();
        opened();
    }

    @ParameterizedTest
    @CsvSource({"409, ''", "500, ''", "404, ''", "200, Connection: close"})
    void aConnectionIsNotUsedAgainAfterAnError(int status, String field) throws Exception {
        Link link = opened();
        CompletableFuture<AdminReply> reply = send("second");
        link.read();
        link.answer(status, field.isEmpty() ? "" : field + "\r\n", "text");
        assertEquals(status, reply.get().status());
        assertEquals("text", body(reply));
        assertEquals("", link.read());
        opened();
    }

    @Test
    void aLateAnswerIsNotTheAnswerToTheNextRequest() throws Exception {
        Link link = opened();
        CompletableFuture<AdminReply> slow = send(worker, "slow", Duration.ofMillis(100));
        assertRequest("slow", link.read());
        AdminException failure = failure(slow);
        assertEquals(504, failure.status());
        assertEquals(AdminClient.TIMEOUT, failure.code());
        assertEquals("", link.read());
        CompletableFuture<AdminReply> next = send("next");
        Link other = worker.accept();
        assertRequest("next", other.read());
        other.answer(200, "", "right");
        assertEquals("right", body(next));
    }

    @Test
    void aReplacedWorkerGetsTheNextRequest() throws Exception {
        Link link = opened();
        Worker successor = new Worker("b");
        CompletableFuture<AdminReply> second = send(successor, "second", LONG);
        Link next = successor.accept();
        assertEquals("", link.read());
        assertRequest("second", next.read());
        next.answer(200, "", "successor");
        assertEquals("successor", body(second));
    }

    @Test
    void aWorkerThatIsGoneIsDown() throws Exception {
        Link link = opened();
        CompletableFuture<AdminReply> second = send("second");
        link.read();
        worker.listener.close();
        link.channel.close();
        assertEquals(AdminClient.DOWN, failure(second).code());
        assertEquals(503, failure(send("third")).status());
    }

    @Test
    void aRequestDoesNotWaitForTheAnswerToAnother() throws Exception {
        Link link = opened();
        CompletableFuture<AdminReply> slow = send("slow");
        assertRequest("slow", link.read());
        CompletableFuture<AdminReply> second = send("second");
        Link apart = worker.accept();
        assertRequest("second", apart.read());
        apart.answer(200, "", "apart");
        assertEquals("apart", body(second));
        link.answer(200, "", "slow");
        assertEquals("slow", body(slow));
        assertNextIsAnsweredOn(link);
    }

    @Test
    void anIdleConnectionStaysOpen() throws Exception {
        kept = connection(Duration.ofMillis(30));
        Link link = opened();
        for (int i = 0; i < 3; i++) {
            String idle = link.read();
            assertTrue(idle.startsWith("GET /idle HTTP/1.1\r\n"), idle);
            link.answer(200, "", "position");
        }
    }

    @Test
    void anUnexpectedAnswerClosesTheConnection() throws Exception {
        Link link = opened();
        link.answer(200, "", "nobody asked");
        assertEquals("", link.read());
        opened();
    }
}
