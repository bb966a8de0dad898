package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.MetricFamily;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests WebSocket and other protocols through mapped rules (RFC 9110 s7.8, RFC 6455), from both sides. */
class UpgradeTest {
    private static final int LONG = 64 << 20;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private static ProxyConfig.Builder webSocket(ProxyConfig.Builder config) {
        return config.set("upgrade", "websocket");
    }

    private RawClient switched(RawClient client) throws IOException {
        assertEquals(101, client.send(WebSocketPeer.request("/chat")).head().status());
        return client;
    }

    private void awaitEnd(Counter how) {
        ProxyExtension.await("the tunnel's end", () -> proxy.counted(Counter.REQUESTS_ACTIVE) == 0);
        for (Counter end : Counter.values()) {
            if (end.family() == MetricFamily.TUNNELS_ENDED) {
                assertEquals(end == how ? 1 : 0, proxy.counted(end), end.name());
            }
        }
        assertEquals(0, proxy.counted(Counter.TUNNELS_UPGRADE));
        proxy.settle();
    }

    private static void awaitLatch(CountDownLatch latch) throws InterruptedException {
        assertTrue(latch.await(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS));
    }

    @Test
    void webSocketGoesBothWays() throws Exception {
        AtomicReference<String> asked = new AtomicReference<>();
        proxy.start(
                request -> {
                    asked.set(request.head());
                    WebSocketPeer.echo(request);
                },
                UpgradeTest::webSocket);
        RawClient client = proxy.client().send(WebSocketPeer.request("/chat?a=b", "X-One: 1\r\n"));
        RawClient.Response head = client.head();
        assertEquals(101, head.status());
        assertEquals("websocket", head.field("upgrade"));
        assertEquals("Upgrade", head.field("connection"));
        assertEquals("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", head.field("sec-websocket-accept"));
        assertNull(head.field("content-length"));
        assertNull(head.field("transfer-encoding"));
        assertEquals(1, proxy.counted(Counter.TUNNELS_UPGRADE));
        for (int length : new int[] {0, 1, 125, 126, 65535, 65536, 300_000}) {
            byte[] payload = ProxyExtension.content(length);
            client.send(WebSocketPeer.clientFrame(WebSocketPeer.BINARY, payload));
            assertArrayEquals(payload, WebSocketPeer.read(client.in, false).payload());
        }
        client.send(WebSocketPeer.clientFrame(WebSocketPeer.PING, RawInput.latin1("p")));
        assertEquals(WebSocketPeer.PONG, WebSocketPeer.read(client.in, false).opcode());
        client.send(WebSocketPeer.clientFrame(WebSocketPeer.CLOSE, new byte[] {3, (byte) 0xe8}));
        assertEquals(WebSocketPeer.CLOSE, WebSocketPeer.read(client.in, false).opcode());
        assertEquals(0, client.in.readToEnd().length);
        client.close();
        awaitEnd(Counter.TUNNELS_CLOSED);

        String head1 = asked.get();
        assertTrue(head1.startsWith("GET /chat?a=b HTTP/1.1\r\n"), head1);
        assertEquals("Upgrade", RawClient.field(head1, "connection"));
        assertEquals("websocket", RawClient.field(head1, "upgrade"));
        assertEquals(WebSocketPeer.KEY, RawClient.field(head1, "sec-websocket-key"));
        assertEquals("13", RawClient.field(head1, "sec-websocket-version"));
        assertEquals("1", RawClient.field(head1, "x-one"));
    }

    @Test
    void nothingSwitchesUnlessTheRuleAllowsIt() throws Exception {
        proxy.start(request -> {
            assertFalse(request.has("pgrade"), request.head());
            request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("plain"));
        });
        RawClient client = proxy.client();
        for (int i = 0; i < 2; i++) {
            assertEquals(
                    "plain", client.send(WebSocketPeer.request("/a")).response().text());
        }
        assertEquals(1, proxy.origin().requests());
        assertEquals(0, proxy.counted(Counter.TUNNELS_OPENED_UPGRADE));
    }

    @Test
    void onlyListedProtocolsAreOffered_RFC9110_7_8() throws Exception {
        proxy.start(
                request -> request.ok(
                        "X-Offered: " + RawClient.field(request.head(), "upgrade") + "\r\nCache-Control: no-store\r\n",
                        RawInput.latin1("x")),
                config -> config.set("upgrade", "websocket, foo"));
        RawClient client = proxy.client();
        String[][] offers = {
            {"websocket", "websocket"},
            {"WebSocket", "WebSocket"},
            {"h2c, websocket", "websocket"},
            {"foo/2, bar, websocket", "foo/2, websocket"},
            {"h2c", "null"},
            {"foobar", "null"},
            {"foo/", "null"}
        };
        for (String[] offer : offers) {
            RawClient.Response response = client.get("/a", "Upgrade: " + offer[0] + "\r\nConnection: upgrade\r\n")
                    .response();
            assertEquals(offer[1], response.field("x-offered"), offer[0]);
        }
        // There is no upgrade without Connection: upgrade, in HTTP/1.0, with content, or in another method.
        assertEquals(
                "null", client.get("/a", "Upgrade: websocket\r\n").response().field("x-offered"));
        String fields = "Host: test.example\r\nUpgrade: websocket\r\nConnection: upgrade\r\n";
        assertEquals(
                "null",
                client.send("GET /a HTTP/1.1\r\n" + fields + "Content-Length: 1\r\n\r\nx")
                        .response()
                        .field("x-offered"));
        assertEquals(
                "null",
                client.send("OPTIONS /a HTTP/1.1\r\n" + fields + "\r\n")
                        .response()
                        .field("x-offered"));
        assertEquals(
                "null",
                proxy.client()
                        .send("GET /a HTTP/1.0\r\n" + fields + "\r\n")
                        .response()
                        .field("x-offered"));
    }

    /** The origin refuses: the bytes after the request are the next request, and neither connection is switched. */
    @Test
    void answerOtherThan101IsOrdinary() throws Exception {
        proxy.start(
                request -> request.ok(
                        "Cache-Control: max-age=60\r\n",
                        RawInput.latin1(request.head().substring(4, 6) + request.has("Upgrade"))),
                UpgradeTest::webSocket);
        RawClient client = proxy.client()
                .send(WebSocketPeer.request("/a") + "GET /b HTTP/1.1\r\nHost: test.example\r\n\r\n"
                        + WebSocketPeer.request("/c"));
        assertEquals("/atrue", client.response().text());
        assertEquals("/bfalse", client.response().text());
        assertEquals("/ctrue", client.response().text());
        assertEquals(
                "/atrue", client.send(WebSocketPeer.request("/a")).response().text());
        assertEquals("/afalse", client.get("/a").response().text());
        assertEquals("/afalse", client.get("/a").response().text());
        assertEquals(5, proxy.origin().requests());
    }

    /** The bytes after the request belong to the new protocol, whatever they look like. */
    @Test
    void earlyBytesAreNotReadAsRequests() throws Exception {
        String early = "GET /smuggled HTTP/1.1\r\nHost: test.example\r\n\r\n";
        AtomicReference<String> got = new AtomicReference<>();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(
                request -> {
                    asked.countDown();
                    awaitLatch(go);
                    request.send(WebSocketPeer.accepted(request.head()) + "early too");
                    got.set(new String(request.in().read(early.length() + 4), StandardCharsets.ISO_8859_1));
                    request.send("end");
                    request.awaitClose();
                },
                UpgradeTest::webSocket);
        RawClient client = proxy.client().send(WebSocketPeer.request("/chat") + early);
        awaitLatch(asked);
        client.send("more");
        go.countDown();
        assertEquals(101, client.head().status());
        assertEquals("early tooend", new String(client.in.read(12), StandardCharsets.ISO_8859_1));
        assertEquals(early + "more", got.get());
        assertEquals(1, proxy.origin().requests());
    }

    @ParameterizedTest
    @CsvSource({
        "'Upgrade: websocket|Connection: Upgrade|Sec-WebSocket-Accept: AAAA|', Sec-WebSocket-Accept",
        "'Upgrade: websocket|Connection: Upgrade|', Sec-WebSocket-Accept",
        "'Upgrade: foo|Connection: Upgrade|Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=|', not offered",
        "'Upgrade: websocket, foo|Connection: Upgrade|Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=|', not offered",
        "'Upgrade: websocket|Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=|', without",
        "'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=|', without",
        "'Upgrade: websocket|Connection: Upgrade|Content-Length: 3|Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=|', content",
    })
    void wrong101Is502(String fields, String why) throws Exception {
        proxy.start(
                request -> {
                    request.send("HTTP/1.1 101 Switching Protocols\r\n" + fields.replace("|", "\r\n") + "\r\n");
                    request.awaitClose();
                },
                UpgradeTest::webSocket);
        RawClient client = proxy.client();
        assertEquals(502, client.send(WebSocketPeer.request("/a")).response().status(), why);
        assertEquals(0, proxy.counted(Counter.TUNNELS_OPENED_UPGRADE));
        assertEquals(1, proxy.counted(Counter.ORIGIN_FAILURES_MALFORMED));
        assertEquals(502, client.send(WebSocketPeer.request("/a")).response().status());
    }

    /** A version after the protocol's name does not bypass the check of the handshake. */
    @Test
    void handshakeIsCheckedForAnyVersion_RFC6455_4_2_2() throws Exception {
        proxy.start(
                request -> {
                    request.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket/13\r\nConnection: Upgrade\r\n"
                            + "Sec-WebSocket-Accept: AAAA\r\n\r\n");
                    request.awaitClose();
                },
                UpgradeTest::webSocket);
        RawClient client =
                proxy.client().get("/a", "Upgrade: websocket/13\r\nConnection: upgrade\r\nSec-WebSocket-Key: AAAA\r\n");
        assertEquals(502, client.response().status());
        assertEquals(0, proxy.counted(Counter.TUNNELS_OPENED_UPGRADE));
    }

    @Test
    void requestThatWasKeptHasTheTimeOfAnyOther() throws Exception {
        proxy.start(request -> request.ok("", RawInput.latin1("plain")), config -> webSocket(config)
                .set("timeouts.client_header", "1s"));
        RawClient client = proxy.client().send(WebSocketPeer.request("/a") + "GET /b HTTP/1.1\r\nHost: ");
        assertEquals(200, client.response().status());
        assertEquals(408, client.response().status());
    }

    @Test
    void unasked101Is502() throws Exception {
        proxy.start(request -> {
            request.send(WebSocketPeer.accepted(request.head()));
            request.awaitClose();
        });
        assertEquals(
                502, proxy.client().send(WebSocketPeer.request("/a")).response().status());
    }

    @Test
    void eachSideMayEndItsHalfFirst() throws Exception {
        AtomicReference<String> got = new AtomicReference<>();
        proxy.start(
                request -> {
                    request.send(WebSocketPeer.accepted(request.head()));
                    if (request.has("/origin-first")) {
                        request.send("bye");
                        request.socket().shutdownOutput();
                        got.set(new String(request.in().readToEnd(), StandardCharsets.ISO_8859_1));
                        request.socket().close();
                    } else {
                        got.set(new String(request.in().readToEnd(), StandardCharsets.ISO_8859_1));
                        request.send("answer");
                        request.socket().close();
                    }
                },
                UpgradeTest::webSocket);
        RawClient client = switched(proxy.client()).send("question");
        client.socket.shutdownOutput();
        assertEquals("answer", new String(client.in.readToEnd(), StandardCharsets.ISO_8859_1));
        assertEquals("question", got.get());
        awaitEnd(Counter.TUNNELS_CLOSED);

        RawClient second = proxy.client();
        assertEquals(
                101, second.send(WebSocketPeer.request("/origin-first")).head().status());
        assertEquals("bye", new String(second.in.readToEnd(), StandardCharsets.ISO_8859_1));
        second.send("still here");
        second.socket.shutdownOutput();
        ProxyExtension.await("the rest", () -> "still here".equals(got.get()));
        ProxyExtension.await("the end", () -> proxy.counted(Counter.TUNNELS_CLOSED) == 2);
    }

    @Test
    void clientsResetReachesTheOrigin() throws Exception {
        CountDownLatch reset = new CountDownLatch(1);
        proxy.start(
                request -> {
                    request.send(WebSocketPeer.accepted(request.head()));
                    request.in().read(1);
                    assertThrows(SocketException.class, () -> request.in().readToEnd());
                    reset.countDown();
                },
                UpgradeTest::webSocket);
        RawClient client = switched(proxy.client()).send("x");
        ProxyExtension.await("the byte", () -> proxy.counted(Counter.TUNNELS_UPGRADE) == 1);
        client.reset();
        awaitLatch(reset);
        awaitEnd(Counter.TUNNELS_CLIENT_BROKEN);
    }

    @Test
    void originsResetReachesTheClient() throws Exception {
        proxy.start(
                request -> {
                    request.send(WebSocketPeer.accepted(request.head()));
                    request.in().read(1);
                    request.reset();
                },
                UpgradeTest::webSocket);
        RawClient client = switched(proxy.client()).send("x");
        assertThrows(SocketException.class, () -> client.in.readToEnd());
        awaitEnd(Counter.TUNNELS_ORIGIN_BROKEN);
    }

    /** The sender waits for the reader; the bytes in between are limited. */
    @Test
    void slowReaderOfALongTransferCostsNoMemory() throws Exception {
        CountDownLatch slow = new CountDownLatch(1);
        AtomicLong sent = new AtomicLong();
        AtomicLong sum = new AtomicLong();
        proxy.start(
                request -> {
                    request.send(WebSocketPeer.accepted(request.head()));
                    Thread sender = new Thread(() -> send(request, sent), "sender");
                    sender.start();
                    awaitLatch(slow);
                    for (int left = LONG; left > 0; left -= 1 << 16) {
                        for (byte b : request.in().read(1 << 16)) {
                            sum.addAndGet(b & 0xff);
                        }
                    }
                    sender.join();
                    request.socket().shutdownOutput();
                    request.awaitClose();
                },
                UpgradeTest::webSocket);
        RawClient client = switched(proxy.slowClient());
        AtomicLong sentByClient = new AtomicLong();
        Thread sender = new Thread(() -> send(client, sentByClient), "client-sender");
        sender.start();
        long most = 0;
        for (long before = -1; before != sent.get() + sentByClient.get(); ) {
            before = sent.get() + sentByClient.get();
            for (int i = 0; i < 200; i++) {
                most = Math.max(most, proxy.usedBytes());
                LockSupport.parkNanos(1_000_000);
            }
        }
        assertTrue(most < 2 << 20, "direct bytes in use: " + most);
        assertTrue(sent.get() < LONG && sentByClient.get() < LONG, "nobody waited");
        slow.countDown();
        long expected = 0;
        for (byte b : ProxyExtension.content(1 << 16)) {
            expected += b & 0xff;
        }
        long read = 0;
        for (int left = LONG; left > 0; left -= 1 << 16) {
            for (byte b : client.in.read(1 << 16)) {
                read += b & 0xff;
            }
        }
        sender.join();
        client.socket.shutdownOutput();
        assertEquals(0, client.in.readToEnd().length);
        assertEquals(expected * (LONG >> 16), read);
        awaitEnd(Counter.TUNNELS_CLOSED);
        assertEquals(expected * (LONG >> 16), sum.get());
        assertEquals(LONG, proxy.counted(Counter.TUNNEL_BYTES_TO_CLIENT));
        assertEquals(LONG, proxy.counted(Counter.TUNNEL_BYTES_TO_ORIGIN));
    }

    private static void send(RawOrigin.Exchange request, AtomicLong sent) {
        try {
            byte[] piece = ProxyExtension.content(1 << 16);
            for (int left = LONG; left > 0; left -= piece.length) {
                request.send(piece);
                sent.addAndGet(piece.length);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void send(RawClient client, AtomicLong sent) {
        try {
            byte[] piece = ProxyExtension.content(1 << 16);
            for (int left = LONG; left > 0; left -= piece.length) {
                client.send(piece);
                sent.addAndGet(piece.length);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** As in Traffic Server: a rule for WebSocket applies only to requests for WebSocket. */
    @Test
    void rulesForWebSocketAreApart() throws Exception {
        proxy.start(
                request -> {
                    if (request.has("Upgrade: websocket")) {
                        request.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nws");
                    } else {
                        request.ok("", RawInput.latin1("no"));
                    }
                },
                config -> {
                    String ws = proxy.origin().url().replace("http://", "ws://");
                    return config.map("ws://only.example/chat", ws + "/a", ConfigValues.empty())
                            .map("ws://test.example/chat", ws + "/b", ConfigValues.empty());
                });
        RawClient client = proxy.client();
        assertEquals(
                "ws", client.send(WebSocketPeer.request("/chat/x")).response().text());
        assertEquals("no", client.get("/chat/x").response().text());
        assertEquals(
                "no", client.send(WebSocketPeer.request("/other")).response().text());
    }

    /** A host that refuses the connection is skipped, and the 101 of the next host starts the tunnel. */
    @Test
    void groupOfOriginsSwitchesToo() throws Exception {
        Path file = directory.resolve("millrace.yaml");
        try (RawOrigin origin = new RawOrigin(WebSocketPeer::echo)) {
            Files.writeString(
                    file,
                    "listen: ['127.0.0.1:0']\nlog: {access: {enabled: false}}\ncache: {ram_size: 32MiB}\norigins:\n"
                            + "  - name: chat\n    hosts: ['http://127.0.0.1:1', '" + origin.url() + "']\n"
                            + "remap:\n  - map: /\n    to: http://chat.example\n    origins: chat\n    upgrade: [websocket]\n");
            ProxyConfig config = ConfigLoader.load(file, Map.of()).config();
            try (ProxyServer server = ProxyServer.builder().config(config).build()) {
                server.start();
                for (int i = 0; i < 4; i++) {
                    RawClient client = switched(new RawClient(server.addresses().get(0)));
                    client.send(WebSocketPeer.clientFrame(WebSocketPeer.TEXT, RawInput.latin1("hello")));
                    assertEquals("hello", WebSocketPeer.read(client.in, false).text());
                    client.send(WebSocketPeer.clientFrame(WebSocketPeer.CLOSE, new byte[0]));
                    assertEquals(
                            WebSocketPeer.CLOSE,
                            WebSocketPeer.read(client.in, false).opcode());
                    client.close();
                }
            }
        }
    }

    @Test
    void drainLetsTunnelsGoOn_andTheEndIsLogged() throws Exception {
        Path log = directory.resolve("access.log");
        proxy.start(
                request -> {
                    request.send(WebSocketPeer.accepted(request.head()));
                    byte[] text = WebSocketPeer.read(request.in(), true).payload();
                    request.send(WebSocketPeer.serverFrame(WebSocketPeer.TEXT, text));
                    request.awaitClose();
                },
                config -> webSocket(config)
                        .set("log.access.enabled", "true")
                        .set("log.access.path", log.toString())
                        .set("log.access.format", "%<cqhm> %<cquup> %<pssc>/%<sssc> in=%<cqcl> out=%<pscl> %<detail>"));
        RawClient client = switched(proxy.client());
        var drained = proxy.proxy().drain(TimeUnit.MINUTES.toNanos(1));
        client.send(WebSocketPeer.clientFrame(WebSocketPeer.TEXT, RawInput.latin1("hello")));
        assertEquals("hello", WebSocketPeer.read(client.in, false).text());
        assertFalse(drained.toCompletableFuture().isDone());
        proxy.proxy().close();
        assertEquals(0, client.in.readToEnd().length);
        assertEquals("GET /chat 101/101 in=11 out=7 tunnel-stopped\n", Files.readString(log));
    }
}
