package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.DATA;
import static io.millrace.proxy.http2.Http2Client.END_STREAM;
import static io.millrace.proxy.http2.Http2Client.HEADERS;
import static io.millrace.proxy.http2.Http2Client.PING;
import static io.millrace.proxy.http2.Http2Client.RST_STREAM;
import static io.millrace.proxy.http2.Http2Client.SETTINGS;
import static io.millrace.proxy.http2.Http2Client.WINDOW_UPDATE;
import static io.millrace.proxy.http2.Http2Client.number;
import static io.millrace.proxy.http2.Http2Client.setting;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** WebSocket over a stream (RFC 8441) and CONNECT over HTTP/2 (RFC 9113 s8.5). */
class Http2TunnelTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final List<Http2Client> clients = new ArrayList<>();
    private final CountDownLatch go = new CountDownLatch(1);

    private Http2Client start(RawOrigin.Script script, UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(
                script,
                fresh -> more.apply(fresh.listen(
                        "127.0.0.1:0",
                        ConfigValues.builder().set(Http2Keys.LISTEN_CLEAR, true).build())));
        Http2Client client = new Http2Client(proxy.proxy().addresses().get(1));
        clients.add(client);
        return client;
    }

    @AfterEach
    void closeClients() throws IOException {
        go.countDown();
        for (Http2Client client : clients) {
            client.close();
        }
    }

    private static ProxyConfig.Builder webSocket(ProxyConfig.Builder config) {
        return config.set("upgrade", "websocket");
    }

    private String authority() {
        return proxy.origin().url().substring("http://".length());
    }

    private ProxyConfig.Builder forwarding(ProxyConfig.Builder config) {
        return config.set("forward_proxy.enabled", "true")
                .set("forward_proxy.allow", "127.0.0.1")
                .set("forward_proxy.connect_ports", authority().replaceFirst(".*:", ""))
                .set("forward_proxy.allow_destinations", "127.0.0.1");
    }

    private static Http2Client extended(Http2Client client, int id, String protocol, String... more)
            throws IOException {
        List<String> fields = new ArrayList<>(List.of(
                ":method",
                "CONNECT",
                ":protocol",
                protocol,
                ":scheme",
                "http",
                ":authority",
                "test.example",
                ":path",
                "/chat?a=b",
                "sec-websocket-version",
                "13"));
        fields.addAll(List.of(more));
        return client.headers(id, false, fields.toArray(String[]::new));
    }

    private static String head(Http2Client client) throws IOException {
        return Http2Client.decode(client.await(HEADERS).payload());
    }

    /** Reads content of a stream, and opens the windows as it arrives. */
    private static byte[] content(Http2Client client, int id, int length) throws IOException {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        while (content.size() < length) {
            Http2Client.Frame frame = client.await(DATA);
            assertEquals(id, frame.streamId());
            content.writeBytes(frame.payload());
            if (frame.payload().length > 0) {
                client.frame(WINDOW_UPDATE, 0, 0, number(frame.payload().length));
                client.frame(WINDOW_UPDATE, 0, id, number(frame.payload().length));
            }
        }
        return content.toByteArray();
    }

    private void awaitEnd(Counter open) {
        ProxyExtension.await("the tunnel's end", () -> proxy.counted(open) == 0);
        ProxyExtension.await("the request's end", () -> proxy.counted(Counter.REQUESTS_ACTIVE) == 0);
    }

    @Test
    void webSocketGoesBothWays_rfc8441() throws Exception {
        AtomicReference<String> asked = new AtomicReference<>("");
        Http2Client client = start(
                request -> {
                    asked.set(request.head());
                    WebSocketPeer.echo(request);
                },
                Http2TunnelTest::webSocket);
        // SETTINGS_ENABLE_CONNECT_PROTOCOL.
        byte[] settings = client.await(SETTINGS).payload();
        assertTrue(java.util.HexFormat.of().formatHex(settings).contains("000800000001"));
        extended(client, 1, "websocket", "x-one", "1");
        String answer = head(client);
        assertTrue(answer.startsWith(":status: 200\n"), answer);
        assertFalse(answer.contains("upgrade") || answer.contains("connection") || answer.contains("accept"), answer);
        assertEquals(1, proxy.counted(Counter.TUNNELS_UPGRADE));
        for (int length : new int[] {0, 1, 125, 126, 30_000}) {
            byte[] payload = ProxyExtension.content(length);
            byte[] sent = WebSocketPeer.clientFrame(WebSocketPeer.BINARY, payload);
            for (int at = 0; at < sent.length; at += 16_000) {
                client.data(1, false, java.util.Arrays.copyOfRange(sent, at, Math.min(sent.length, at + 16_000)));
            }
            byte[] expected = WebSocketPeer.serverFrame(WebSocketPeer.BINARY, payload);
            assertArrayEquals(expected, content(client, 1, expected.length));
        }
        client.data(1, true, WebSocketPeer.clientFrame(WebSocketPeer.CLOSE, new byte[] {3, (byte) 0xe8}));
        Http2Client.Frame last = client.await(DATA);
        while ((last.flags() & END_STREAM) == 0) {
            last = client.await(DATA);
        }
        awaitEnd(Counter.TUNNELS_UPGRADE);
        assertEquals(1, proxy.counted(Counter.TUNNELS_CLOSED));
        String head = asked.get();
        assertTrue(head.startsWith("GET /chat?a=b HTTP/1.1\r\n"), head);
        assertEquals("Upgrade", RawClient.field(head, "connection"));
        assertEquals("websocket", RawClient.field(head, "upgrade"));
        assertEquals("13", RawClient.field(head, "sec-websocket-version"));
        assertEquals("1", RawClient.field(head, "x-one"));
        assertFalse(head.contains(":protocol"), head);
        // The connection stays open.
        client.frame(PING, 0, 0, new byte[8]).await(PING);
    }

    /** A 2xx response without a switch would look like a tunnel to the client. */
    @Test
    void noTunnelWithoutARuleThatAllowsIt() throws Exception {
        Http2Client client = start(request -> request.ok("", new byte[10]), config -> config);
        extended(client, 1, "websocket");
        assertEquals("stream CONNECT_ERROR", client.outcome());
        client.frame(PING, 0, 0, new byte[8]).await(PING);
        awaitEnd(Counter.TUNNELS_UPGRADE);
    }

    @Test
    void refusalsOfOriginsReachTheClient() throws Exception {
        Http2Client client = start(
                request -> request.send("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno"), Http2TunnelTest::webSocket);
        extended(client, 1, "websocket");
        assertTrue(head(client).startsWith(":status: 403\n"));
        assertArrayEquals(new byte[] {'n', 'o'}, content(client, 1, 2));
    }

    @ParameterizedTest
    @CsvSource({
        "foo, , , status 501",
        "websocket, sec-websocket-key, x, stream PROTOCOL_ERROR",
        "websocket, content-length, 0, stream PROTOCOL_ERROR",
        "websocket, connection, upgrade, stream PROTOCOL_ERROR",
    })
    void otherFormsAreRefused(String protocol, String name, String value, String outcome) throws Exception {
        Http2Client client = start(request -> request.ok("", new byte[1]), Http2TunnelTest::webSocket);
        if (name == null) {
            extended(client, 1, protocol);
        } else {
            extended(client, 1, protocol, name, value);
        }
        assertEquals(outcome, client.outcome());
        assertEquals(0, proxy.origin().requests());
    }

    private Http2Client connect(Http2Client client, int id) throws IOException {
        return client.headers(id, false, ":method", "CONNECT", ":authority", authority());
    }

    /** Bytes that the client sends before the response belong to the tunnel, and each direction ends separately. */
    @Test
    void connectJoinsAStreamAndAnOrigin() throws Exception {
        Http2Client client = start(
                request -> {
                    request.in().readToEnd();
                    request.ok("", RawInput.latin1(request.head()));
                    request.socket().shutdownOutput();
                },
                this::forwarding);
        String inside = "GET /inside HTTP/1.1\r\nHost: inside.example\r\n\r\n";
        connect(client, 1).data(1, true, RawInput.latin1(inside));
        assertTrue(head(client).startsWith(":status: 200\n"));
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        Http2Client.Frame frame = client.await(DATA);
        all.writeBytes(frame.payload());
        while ((frame.flags() & END_STREAM) == 0) {
            frame = client.await(DATA);
            all.writeBytes(frame.payload());
        }
        String answer = all.toString(java.nio.charset.StandardCharsets.ISO_8859_1);
        assertTrue(answer.startsWith("HTTP/1.1 200 OK\r\n") && answer.endsWith(inside), answer);
        awaitEnd(Counter.TUNNELS_CONNECT);
        assertEquals(1, proxy.counted(Counter.TUNNELS_CLOSED));
        assertEquals(inside.length(), proxy.counted(Counter.TUNNEL_BYTES_TO_ORIGIN));
    }

    @Test
    void aSideThatBreaksBreaksTheOther() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        Http2Client client = start(
                request -> {
                    if (request.has(" /reset ")) {
                        request.reset();
                    } else {
                        request.awaitClose();
                        gone.countDown();
                    }
                },
                this::forwarding);
        connect(client, 1).await(HEADERS);
        client.data(1, false, RawInput.latin1("GET /reset HTTP/1.1\r\nHost: x\r\n\r\n"));
        assertEquals("CONNECT_ERROR", client.await(RST_STREAM).error());
        connect(client, 3).await(HEADERS);
        client.data(3, false, RawInput.latin1("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"));
        ProxyExtension.await("the second request", () -> proxy.origin().requests() == 2);
        client.frame(RST_STREAM, 0, 3, number(8));
        ProxyExtension.await("the end at the origin", () -> gone.getCount() == 0);
        awaitEnd(Counter.TUNNELS_CONNECT);
        connect(client, 5).await(HEADERS);
        client.reset();
        awaitEnd(Counter.TUNNELS_CONNECT);
    }

    /** A window that stays closed stops the origin, and an origin that does not read stops the client. */
    @Test
    void flowControlHoldsBothWays() throws Exception {
        AtomicLong sent = new AtomicLong();
        int piece = 1 << 20;
        Http2Client client = start(
                request -> {
                    for (int i = 0; i < 64; i++) {
                        request.send(new byte[piece]);
                        sent.addAndGet(piece);
                    }
                },
                this::forwarding);
        client.frame(SETTINGS, 0, 0, setting(4, 0));
        connect(client, 1).await(HEADERS);
        client.data(1, false, RawInput.latin1("GET /a HTTP/1.1\r\nHost: x\r\n\r\n"));
        ProxyExtension.await("content of the origin", () -> proxy.origin().requests() == 1);
        client.frame(PING, 0, 0, new byte[8]).await(PING);
        assertTrue(proxy.usedBytes() < 4 << 20, () -> "bytes in use: " + proxy.usedBytes());
        client.frame(WINDOW_UPDATE, 0, 1, number(65_535));
        content(client, 1, 64 * piece);
        assertEquals(64L * piece, sent.get());
        client.frame(RST_STREAM, 0, 1, number(8));
        awaitEnd(Counter.TUNNELS_CONNECT);
    }
}
