package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests limits of requests to an origin on the packed product with four event loops: connections of the whole process,
 * the total time of a request, the source address, and a Unix domain socket.
 */
class OriginLimitsTest {
    private static final int CLIENTS = 24;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static final AtomicInteger inProgress = new AtomicInteger();
    private static final AtomicInteger most = new AtomicInteger();
    private static final CountDownLatch end = new CountDownLatch(1);

    private static Path socket;
    private static MillraceProcess proxy;

    @BeforeAll
    static void start() throws IOException {
        for (int i = 0; i < CLIENTS; i++) {
            origin.on("/few/" + i, exchange -> {
                most.accumulateAndGet(inProgress.incrementAndGet(), Math::max);
                inProgress.decrementAndGet();
                exchange.answer(200, "few", "Cache-Control: no-store");
            });
        }
        origin.on("/late/", exchange -> {
            end.await();
            exchange.answer(200, "late");
        });
        origin.on("/from/", exchange -> exchange.answer(200, exchange.peer(), "Cache-Control: no-store"));
        socket = Files.createTempDirectory("unix").resolve("app.sock");
        serve(ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket)));
        Path config = product.newDirectory().resolve("millrace.yaml");
        Files.writeString(config, """
                worker: {event_loops: 4}
                origin: {connections_total_max: 2}
                remap:
                  - {map: /late/, to: "%1$s/late/", timeouts: {transaction: 300ms}}
                  - {map: /from/, to: "%1$s/from/", origin: {source_address: 127.0.0.2}}
                  - {map: /unix/, to: "http://app.internal/", unix_socket: "%2$s"}
                  - {map: /, to: "%1$s/"}
                """.formatted(origin.url(), socket));
        proxy = product.launch().config(config).start();
    }

    /** Answers one request on each connection with its Host field. */
    private static void serve(ServerSocketChannel listening) {
        Thread thread = new Thread(
                () -> {
                    while (true) {
                        try (SocketChannel peer = listening.accept()) {
                            Wire.Head head = Objects.requireNonNull(new Wire(Channels.newInputStream(peer)).head());
                            String host = Objects.requireNonNull(head.field("Host"));
                            String answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + host.length()
                                    + "\r\n\r\n" + host;
                            peer.write(ByteBuffer.wrap(answer.getBytes(StandardCharsets.US_ASCII)));
                        } catch (IOException e) {
                            return;
                        }
                    }
                },
                "unix-origin");
        thread.setDaemon(true);
        thread.start();
    }

    @AfterAll
    static void release() throws IOException {
        end.countDown();
        Files.deleteIfExists(socket);
        Files.deleteIfExists(socket.getParent());
    }

    @Test
    void allEventLoopsShareTheConnectionsOfAnOrigin() throws Exception {
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(RawClient.connect(proxy.port()).get("/few/" + i));
        }
        for (RawClient client : clients) {
            try (client) {
                assertEquals("few", client.response().text());
            }
        }
        assertTrue(most.get() <= 2, () -> "at the same time: " + most);
    }

    @Test
    void aRequestEndsWhenItsTimeIsOver() throws Exception {
        RawResponse late = RawClient.fetch(proxy.port(), "/late/");
        assertEquals(504, late.status());
        assertTrue(late.text().contains("timeouts.transaction"), late::text);
        proxy.millctl("metric", "get", "millrace_transaction_timeouts_total").succeeds();
    }

    @Test
    void anOriginMayListenOnAUnixDomainSocket() throws Exception {
        assertEquals("app.internal", RawClient.fetch(proxy.port(), "/unix/a").text());
    }

    @Test
    void theOriginSeesTheSourceAddressOfTheRule() throws Exception {
        assertEquals("127.0.0.2", RawClient.fetch(proxy.port(), "/from/").text());
    }
}
