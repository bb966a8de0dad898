package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.CONTINUATION;
import static io.millrace.proxy.http2.Http2Client.DATA;
import static io.millrace.proxy.http2.Http2Client.END_HEADERS;
import static io.millrace.proxy.http2.Http2Client.END_STREAM;
import static io.millrace.proxy.http2.Http2Client.GOAWAY;
import static io.millrace.proxy.http2.Http2Client.HEADERS;
import static io.millrace.proxy.http2.Http2Client.PING;
import static io.millrace.proxy.http2.Http2Client.PRIORITY;
import static io.millrace.proxy.http2.Http2Client.PRIORITY_UPDATE;
import static io.millrace.proxy.http2.Http2Client.RST_STREAM;
import static io.millrace.proxy.http2.Http2Client.SETTINGS;
import static io.millrace.proxy.http2.Http2Client.WINDOW_UPDATE;
import static io.millrace.proxy.http2.Http2Client.block;
import static io.millrace.proxy.http2.Http2Client.number;
import static io.millrace.proxy.http2.Http2Client.request;
import static io.millrace.proxy.http2.Http2Client.setting;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** HTTP/2 on the wire, by prior knowledge: requests, flow control, limits, and the end of connections. */
class Http2Test {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final List<Http2Client> clients = new ArrayList<>();
    private final CountDownLatch go = new CountDownLatch(1);

    private void start(RawOrigin.Script script, UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(
                script,
                fresh -> more.apply(fresh.listen(
                        "127.0.0.1:0",
                        ConfigValues.builder().set(Http2Keys.LISTEN_CLEAR, true).build())));
    }

    private void start(RawOrigin.Script script) throws IOException {
        start(script, fresh -> fresh);
    }

    private Http2Client client() throws IOException {
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

    // requests

    @Test
    void missesAndHitsHaveTheSameResponse() throws Exception {
        byte[] content = ProxyExtension.content(30_000);
        start(request -> request.ok("Cache-Control: max-age=600\r\nX-A: b\r\n", content));
        Http2Client client = client();
        for (int id = 1; id < 9; id += 2) {
            Http2Client.Response response = client.get(id, "/a").response(id);
            assertEquals(200, response.status());
            assertEquals("b", response.field("x-a"));
            assertEquals("30000", response.field("content-length"));
            assertArrayEquals(content, response.content());
        }
        assertEquals(1, proxy.origin().requests());
        assertEquals(4, proxy.counted(Counter.HTTP2_REQUESTS));
        assertEquals(1, proxy.counted(Counter.HTTP2_CONNECTIONS));
        assertEquals(
                200,
                client.headers(11, true, request("HEAD", "/a")).response(11).status());
    }

    @Test
    void largeBodiesPassUnchangedBesideEachOther() throws Exception {
        byte[] content = ProxyExtension.content(3_000_000);
        start(request -> request.ok(request.has("/stored") ? "Cache-Control: max-age=600\r\n" : "", content));
        Http2Client client = client();
        for (int id = 1; id < 9; id += 4) {
            assertArrayEquals(content, client.get(id, "/stored").response(id).content());
            assertArrayEquals(
                    content, client.get(id + 2, "/n" + id).response(id + 2).content());
        }
    }

    @Test
    void requestContentPassesAndIsCounted() throws Exception {
        start(request -> {
            int length = Integer.parseInt(RawClient.field(request.head(), "content-length"));
            byte[] content = request.in().read(length);
            request.ok("X-Length: " + length + "\r\n", content);
        });
        byte[] content = ProxyExtension.content(200_000);
        Http2Client client = client();
        client.headers(1, false, request("POST", "/p", "content-length", "200000"));
        int window = 65_535;
        for (int at = 0; at < content.length; ) {
            int next = Math.min(Math.min(16_384, content.length - at), window);
            client.data(1, at + next == content.length, java.util.Arrays.copyOfRange(content, at, at + next));
            at += next;
            window -= next;
            while (window == 0 && at < content.length) {
                Http2Client.Frame frame = client.await(WINDOW_UPDATE);
                window += frame.streamId() == 1
                        ? java.nio.ByteBuffer.wrap(frame.payload()).getInt()
                        : 0;
            }
        }
        Http2Client.Response response = client.response(1);
        assertEquals("200000", response.field("x-length"));
        assertArrayEquals(content, response.content());
    }

    /** The origin gets an HTTP/1.1 request of which each part was encoded anew. */
    @Test
    void originsGetOneUnambiguousRequest() throws Exception {
        start(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head())));
        String head = client().get(1, "/p?q=1", "accept", "*/*", "cookie", "a=1", "cookie", "b=2", "te", "trailers")
                .response(1)
                .text();
        assertTrue(head.startsWith("GET /p?q=1 HTTP/1.1\r\n"), head);
        assertTrue(head.contains("cookie: a=1; b=2\r\n"), head);
        assertTrue(head.contains("Via: 2.0 millrace"), head);
        assertFalse(head.contains(":path"), head);
        assertFalse(head.toLowerCase(java.util.Locale.ROOT).contains("transfer-encoding"), head);
    }

    @Test
    void interimResponsesArePassedOn() throws Exception {
        start(request -> {
            request.send("HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n");
            request.ok("Cache-Control: no-store\r\n", new byte[] {'x'});
        });
        Http2Client client = client().get(1, "/hints");
        String interim = Http2Client.decode(client.await(HEADERS).payload());
        assertEquals(":status: 103\nlink: </s.css>; rel=preload\n", interim);
        assertEquals("x", client.response(1).text());
    }

    @Test
    void trailersOfARequestEndIt() throws Exception {
        start(request -> {
            request.in().readChunked();
            request.ok("", new byte[] {'y'});
        });
        Http2Client client = client();
        client.headers(1, false, request("POST", "/t")).data(1, false, new byte[] {1, 2});
        assertEquals("y", client.headers(1, true, "x-sum", "2").response(1).text());
    }

    @Test
    void resetsReachTheOrigin() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        start(request -> {
            request.awaitClose();
            gone.countDown();
        });
        Http2Client client = client().get(1, "/r");
        ProxyExtension.await("the origin's request", () -> proxy.origin().requests() == 1);
        client.frame(RST_STREAM, 0, 1, number(8));
        ProxyExtension.await("the end at the origin", () -> gone.getCount() == 0);
        // The answer to the ping comes once the reset is through, its counter too.
        client.frame(PING, 0, 0, new byte[8]);
        assertNotNull(client.await(PING));
        assertEquals(1, proxy.counted(Counter.HTTP2_RESETS));
    }

    // flow control

    /** Content waits for the stream's window and for the connection's, hits in RAM too. */
    @Test
    void contentWaitsForTheWindows() throws Exception {
        byte[] content = ProxyExtension.content(20_000);
        start(request -> request.ok("Cache-Control: max-age=600\r\n", content));
        assertEquals(200, proxy.get("/w").status());
        Http2Client client = client();
        client.frame(SETTINGS, 0, 0, setting(4, 5));
        client.get(1, "/w");
        assertEquals(5, client.await(DATA).payload().length);
        client.frame(WINDOW_UPDATE, 0, 1, number(7));
        assertEquals(7, client.await(DATA).payload().length);
        client.frame(SETTINGS, 0, 0, setting(4, 8));
        assertEquals(3, client.await(DATA).payload().length);
        client.frame(WINDOW_UPDATE, 0, 1, number(1_000_000));
        int left = content.length - 15;
        while (left > 0) {
            left -= client.await(DATA).payload().length;
        }
        assertEquals(0, left);
        client.frame(SETTINGS, 0, 0, setting(4, 1_000_000));
        // The rest of the connection's window.
        int window = 65_535 - 20_000;
        client.get(3, "/w").get(5, "/w").get(7, "/w");
        while (window > 0) {
            window -= client.await(DATA).payload().length;
        }
        assertEquals(0, window);
        client.frame(WINDOW_UPDATE, 0, 0, number(100_000));
        left = 3 * 20_000 - (65_535 - 20_000);
        while (left > 0) {
            left -= client.await(DATA).payload().length;
        }
        assertEquals(0, left);
    }

    /** A window that stays closed does not hold more of the origin's response than a stream may. */
    @Test
    void closedWindowsStopTheOrigin() throws Exception {
        int chunk = 1024 * 1024;
        java.util.concurrent.atomic.AtomicLong sent = new java.util.concurrent.atomic.AtomicLong();
        start(request -> {
            request.send("HTTP/1.1 200 OK\r\nContent-Length: " + 256L * chunk + "\r\nCache-Control: no-store\r\n\r\n");
            byte[] piece = new byte[chunk];
            for (int i = 0; i < 256; i++) {
                request.send(piece);
                sent.addAndGet(chunk);
            }
        });
        Http2Client client = client();
        client.frame(SETTINGS, 0, 0, setting(4, 0)).get(1, "/big").await(HEADERS);
        ProxyExtension.await("some of the content", () -> sent.get() > 0);
        // The stream's queue, the tee's window and what the kernels keep.
        client.frame(PING, 0, 0, new byte[8]).await(PING);
        client.reset();
        assertTrue(sent.get() < 128L * chunk, () -> "sent " + sent.get());
    }

    /** Nothing is reset before its time is over, and other streams go on. */
    @Test
    void windowsThatStayClosedEndTheirStream() throws Exception {
        start(
                request -> request.ok("Cache-Control: no-store\r\n", ProxyExtension.content(100_000)),
                fresh -> fresh.set("timeouts.client_body", "1s"));
        Http2Client client = client();
        client.frame(SETTINGS, 0, 0, setting(4, 0)).get(1, "/stalled");
        client.frame(SETTINGS, 0, 0, setting(4, 0)).get(3, "/other");
        long begun = System.nanoTime();
        client.frame(WINDOW_UPDATE, 0, 3, number(200_000)).frame(WINDOW_UPDATE, 0, 0, number(200_000));
        Http2Client.Frame reset = client.await(RST_STREAM);
        assertEquals(1, reset.streamId());
        assertEquals("CANCEL", reset.error());
        assertTrue(System.nanoTime() - begun >= TimeUnit.SECONDS.toNanos(1));
        assertEquals(1, proxy.counted(Counter.HTTP2_FAULT_STALLED));
        // The connection's window is closed now, and that of the stream is not.
        client.frame(SETTINGS, 0, 0, setting(4, 1_000_000));
        client.get(5, "/a").get(7, "/b").get(9, "/c");
        assertEquals("CANCEL", client.await(RST_STREAM).error());
        client.frame(PING, 0, 0, new byte[8]).await(PING);
    }

    @Test
    void hitsKeepAConnectionFromBeingIdle() throws Exception {
        start(
                request -> request.ok("Cache-Control: max-age=600\r\n", new byte[1]),
                fresh -> fresh.set("timeouts.client_keep_alive", "1s"));
        Http2Client client = client();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(2500);
        int id = 1;
        while (System.nanoTime() < end) {
            assertEquals(200, client.get(id, "/a").response(id).status());
            id += 2;
        }
        assertEquals("NO_ERROR", client.await(GOAWAY).error());
        assertNull(next(client));
    }

    /** As over HTTP/1.1 where no forward proxy is configured. */
    @Test
    void connectIsOffByDefault() throws Exception {
        start(request -> request.ok("", new byte[1]));
        Http2Client client = client();
        client.headers(1, false, ":method", "CONNECT", ":authority", "test.example:80");
        assertEquals("status 405", client.outcome());
        assertEquals(0, proxy.origin().requests());
    }

    // violations

    /** Frames that a client sends after the settings, and the expected outcome. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Violation(String name, String outcome, Counter counter, byte[][] frames) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static Violation violation(String name, String outcome, Counter counter, byte[]... frames) {
        return new Violation(name, outcome, counter, frames);
    }

    private static byte[] get(int id, String... fields) {
        return Http2Client.bytes(HEADERS, END_HEADERS | END_STREAM, id, block(fields));
    }

    private static byte[] post(int id, String... fields) {
        return Http2Client.bytes(HEADERS, END_HEADERS, id, block(fields));
    }

    private static Violation malformed(String name, String... fields) {
        return violation(name, "stream PROTOCOL_ERROR", Counter.HTTP2_FAULT_PROTOCOL, get(1, fields));
    }

    private static Violation field(String name, String value) {
        return malformed(name + ": " + value.replaceAll("[^ -~]", "?"), request("GET", "/", name, value));
    }

    static List<Violation> violations() {
        List<Violation> all = new ArrayList<>(smuggling());
        Counter protocol = Counter.HTTP2_FAULT_PROTOCOL;
        all.add(violation("DATA on stream 0", "connection PROTOCOL_ERROR", protocol, frame(DATA, 0, 0, 1)));
        all.add(violation("DATA on an idle stream", "connection PROTOCOL_ERROR", protocol, frame(DATA, 0, 1, 1)));
        all.add(violation("HEADERS on stream 0", "connection PROTOCOL_ERROR", protocol, get(0, request("GET", "/"))));
        all.add(violation("an even stream", "connection PROTOCOL_ERROR", protocol, get(2, request("GET", "/"))));
        all.add(violation(
                "a lower stream",
                "connection PROTOCOL_ERROR",
                protocol,
                post(5, request("POST", "/slow")),
                get(3, request("GET", "/"))));
        all.add(violation("CONTINUATION alone", "connection PROTOCOL_ERROR", protocol, frame(CONTINUATION, 4, 1, 3)));
        all.add(violation(
                "a frame within a block",
                "connection PROTOCOL_ERROR",
                protocol,
                frame(HEADERS, 0, 1, 3),
                frame(PING, 0, 0, 8)));
        all.add(violation("PUSH_PROMISE", "connection PROTOCOL_ERROR", protocol, frame(5, 4, 1, 8)));
        all.add(violation("RST_STREAM when idle", "connection PROTOCOL_ERROR", protocol, frame(RST_STREAM, 0, 1, 4)));
        all.add(violation("WINDOW_UPDATE by 0", "connection PROTOCOL_ERROR", protocol, frame(WINDOW_UPDATE, 0, 0, 4)));
        all.add(violation(
                "an unknown setting's value",
                "connection PROTOCOL_ERROR",
                protocol,
                Http2Client.bytes(SETTINGS, 0, 0, setting(2, 2))));
        Counter size = Counter.HTTP2_FAULT_FRAME_SIZE;
        all.add(violation("PING of 7 bytes", "connection FRAME_SIZE_ERROR", size, frame(PING, 0, 0, 7)));
        all.add(violation("SETTINGS of 5 bytes", "connection FRAME_SIZE_ERROR", size, frame(SETTINGS, 0, 0, 5)));
        all.add(violation("RST_STREAM of 3 bytes", "connection FRAME_SIZE_ERROR", size, frame(RST_STREAM, 0, 1, 3)));
        all.add(violation("a frame of 16385 bytes", "connection FRAME_SIZE_ERROR", size, frame(DATA, 0, 1, 16_385)));
        all.add(violation("GOAWAY of 7 bytes", "connection FRAME_SIZE_ERROR", size, frame(GOAWAY, 0, 0, 7)));
        Counter flow = Counter.HTTP2_FAULT_FLOW_CONTROL;
        all.add(violation(
                "a window above 2^31-1",
                "connection FLOW_CONTROL_ERROR",
                flow,
                Http2Client.bytes(WINDOW_UPDATE, 0, 0, number(Integer.MAX_VALUE))));
        all.add(violation(
                "a stream's window above 2^31-1",
                "stream FLOW_CONTROL_ERROR",
                flow,
                post(1, request("POST", "/slow")),
                Http2Client.bytes(WINDOW_UPDATE, 0, 1, number(Integer.MAX_VALUE))));
        all.add(violation(
                "a block that is none",
                "connection COMPRESSION_ERROR",
                Counter.HTTP2_FAULT_COMPRESSION,
                Http2Client.bytes(HEADERS, END_HEADERS | END_STREAM, 1, new byte[] {(byte) 0x80})));
        all.add(violation(
                "DATA behind the end",
                "stream STREAM_CLOSED",
                Counter.HTTP2_FAULT_STREAM_CLOSED,
                get(1, request("GET", "/slow")),
                frame(DATA, 0, 1, 5)));
        all.add(violation("a PRIORITY of 4 bytes", "connection FRAME_SIZE_ERROR", size, frame(PRIORITY, 0, 1, 4)));
        return all;
    }

    /** Published cases of request smuggling through a downgrade: H2.CL, H2.TE, CRLF injection, request splitting. */
    private static List<Violation> smuggling() {
        List<Violation> all = new ArrayList<>();
        Counter protocol = Counter.HTTP2_FAULT_PROTOCOL;
        all.add(field("transfer-encoding", "chunked"));
        all.add(field("connection", "transfer-encoding"));
        all.add(field("connection", "close"));
        all.add(field("keep-alive", "timeout=5"));
        all.add(field("proxy-connection", "keep-alive"));
        all.add(field("upgrade", "h2c"));
        all.add(field("te", "chunked"));
        all.add(field("Accept", "*/*"));
        all.add(field("foo", "bar\r\nTransfer-Encoding: chunked"));
        all.add(field("foo", "bar\r\n\r\nGET /admin HTTP/1.1\r\nHost: x"));
        all.add(field("foo", "bar\nTransfer-Encoding: chunked"));
        all.add(field("foo", "bar\rx"));
        all.add(field("foo", "a\0b"));
        all.add(field("foo", " leading"));
        all.add(field("foo", "trailing\t"));
        all.add(field("foo: bar\r\ntransfer-encoding", "chunked"));
        all.add(field("foo bar", "x"));
        all.add(field("", "x"));
        all.add(field("transfer-encoding ", "chunked"));
        all.add(field("host", "other.example"));
        all.add(field("content-length", "1"));
        all.add(field("content-length", "+0"));
        all.add(field("content-length", "0x0"));
        all.add(field("content-length", "18446744073709551616"));
        all.add(malformed("a pseudo-field behind others", "accept", "*/*", ":method", "GET", ":scheme", "http"));
        all.add(malformed("an unknown pseudo-field", request("GET", "/", ":foo", "bar")));
        all.add(malformed("a response's pseudo-field", request("GET", "/", ":status", "200")));
        all.add(malformed("no :method", ":scheme", "http", ":authority", "test.example", ":path", "/"));
        all.add(malformed("no :scheme", ":method", "GET", ":authority", "test.example", ":path", "/"));
        all.add(malformed("no :path", ":method", "GET", ":scheme", "http", ":authority", "test.example"));
        all.add(malformed("an empty :path", request("GET", "")));
        all.add(malformed("a relative :path", request("GET", "a")));
        all.add(malformed("two :path", request("GET", "/", ":path", "/b")));
        all.add(malformed("a request line as :method", request("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET", "/")));
        all.add(malformed("a :method with a space", request("GET /admin", "/")));
        all.add(malformed("CONNECT with :path", request("CONNECT", "/")));
        all.add(malformed("an unasked :protocol", request("GET", "/", ":protocol", "websocket")));
        all.add(malformed("CRLF in :path", request("GET", "/ HTTP/1.1\r\nfoo: bar")));
        all.add(malformed("two content-lengths", request("GET", "/", "content-length", "0", "content-length", "0")));
        all.add(violation("a space in :path", "status 400", null, get(1, request("GET", "/a HTTP/1.1"))));
        all.add(violation("a fragment in :path", "status 400", null, get(1, request("GET", "/a#b"))));
        all.add(violation(
                "userinfo in :authority",
                "status 400",
                null,
                get(1, ":method", "GET", ":scheme", "http", ":authority", "u@test.example", ":path", "/")));
        all.add(violation(
                "a path in :authority",
                "status 400",
                null,
                get(1, ":method", "GET", ":scheme", "http", ":authority", "test.example/x", ":path", "/")));
        all.add(violation(
                "no host at all", "status 400", null, get(1, ":method", "GET", ":scheme", "http", ":path", "/")));
        all.add(violation(
                "a scheme that injects",
                "status 400",
                null,
                get(1, ":method", "GET", ":scheme", "http://x/?", ":authority", "test.example", ":path", "/")));
        all.add(violation(
                "more content than Content-Length",
                "stream PROTOCOL_ERROR",
                protocol,
                post(1, request("POST", "/slow", "content-length", "3")),
                frame(DATA, END_STREAM, 1, 4)));
        all.add(violation(
                "less content than Content-Length",
                "stream PROTOCOL_ERROR",
                protocol,
                post(1, request("POST", "/slow", "content-length", "3")),
                frame(DATA, END_STREAM, 1, 2)));
        all.add(violation(
                "a pseudo-field in trailers",
                "stream PROTOCOL_ERROR",
                protocol,
                post(1, request("POST", "/slow")),
                get(1, ":path", "/admin")));
        all.add(violation(
                "trailers that do not end the stream",
                "stream PROTOCOL_ERROR",
                protocol,
                post(1, request("POST", "/slow")),
                post(1, "a", "b")));
        return all;
    }

    private static byte[] frame(int type, int flags, int id, int length) {
        return Http2Client.bytes(type, flags, id, new byte[length]);
    }

    @ParameterizedTest
    @MethodSource("violations")
    void violationsHaveTheirErrorAndScope(Violation violation) throws Exception {
        List<String> heads = java.util.Collections.synchronizedList(new ArrayList<>());
        start(request -> {
            heads.add(request.head());
            go.await();
        });
        Http2Client client = client();
        for (byte[] frame : violation.frames()) {
            client.send(frame);
        }
        assertEquals(violation.outcome(), client.outcome());
        if (violation.counter() != null) {
            assertEquals(1, proxy.counted(violation.counter()));
        }
        if (violation.outcome().startsWith("connection")) {
            assertNull(next(client));
        } else {
            // The connection and its other streams live on.
            client.frame(PING, 0, 0, new byte[8]);
            assertNotNull(client.await(PING));
        }
        go.countDown();
        for (String head : heads) {
            assertTrue(head.contains(" /slow HTTP/1.1\r\n"), head);
        }
    }

    private static Http2Client.Frame next(Http2Client client) throws IOException {
        return client.read();
    }

    // limits

    @Test
    void streamsBeyondTheLimitAreRefused() throws Exception {
        start(
                request -> {
                    go.await();
                    request.ok("", new byte[1]);
                },
                fresh -> fresh.set("http2.streams", "2"));
        Http2Client client = client();
        client.get(1, "/1").get(3, "/2").get(5, "/3");
        Http2Client.Frame reset = client.await(RST_STREAM);
        assertEquals(5, reset.streamId());
        assertEquals("REFUSED_STREAM", reset.error());
        assertEquals(1, proxy.counted(Counter.HTTP2_FAULT_STREAMS));
    }

    @Test
    void tooManyFieldsAreAnsweredWith431() throws Exception {
        start(request -> request.ok("", new byte[1]), fresh -> fresh.set("http2.header_list", "2KiB"));
        Http2Client client = client();
        client.get(1, "/", "long", "x".repeat(2000));
        assertEquals("status 431", client.outcome());
        assertEquals(1, client.get(3, "/").response(3).content().length);
    }

    /** A flood and what ends it. */
    record Flood(String name, String limit, Counter counter, int length, Flooding flooding) {
        /** Sends one of them. */
        interface Flooding {
            void send(Http2Client client, int number) throws IOException;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static List<Flood> floods() {
        Counter control = Counter.HTTP2_FAULT_CONTROL_FRAMES;
        return List.of(
                new Flood("rapid reset", "http2.resets", Counter.HTTP2_FAULT_RESETS, 11, (client, i) -> {
                    client.get(2 * i + 1, "/slow").frame(RST_STREAM, 0, 2 * i + 1, number(8));
                }),
                new Flood("MadeYouReset", "http2.stream_faults", Counter.HTTP2_FAULT_STREAM_FAULTS, 11, (client, i) -> {
                    client.get(2 * i + 1, "/slow").frame(WINDOW_UPDATE, 0, 2 * i + 1, number(0));
                }),
                new Flood("SETTINGS", "http2.control_frames", control, 11, (client, i) -> {
                    client.frame(SETTINGS, 0, 0, setting(3, 10));
                }),
                new Flood("PING", "http2.control_frames", control, 11, (client, i) -> {
                    client.frame(PING, 0, 0, new byte[8]);
                }),
                new Flood("PRIORITY", "http2.control_frames", control, 11, (client, i) -> {
                    client.frame(PRIORITY, 0, 3, new byte[5]);
                }),
                new Flood("PRIORITY_UPDATE", "http2.control_frames", control, 11, (client, i) -> {
                    client.frame(PRIORITY_UPDATE, 0, 0, number(1));
                }),
                new Flood("unknown frames", "http2.control_frames", control, 11, (client, i) -> {
                    client.frame(0xbe, 0, 0, new byte[1]);
                }),
                new Flood("WINDOW_UPDATE", "http2.control_frames", control, 11, (client, i) -> {
                    client.frame(WINDOW_UPDATE, 0, 0, number(1));
                }),
                new Flood("empty DATA", "http2.control_frames", control, 11, (client, i) -> {
                    if (i == 0) {
                        client.headers(1, false, request("POST", "/slow"));
                    }
                    client.data(1, false, new byte[0]);
                }));
    }

    @ParameterizedTest
    @MethodSource("floods")
    void floodsEndTheConnection(Flood flood) throws Exception {
        start(
                request -> {
                    go.await();
                    request.ok("", new byte[0]);
                },
                fresh -> fresh.set(flood.limit(), "10"));
        Http2Client client = client();
        for (int i = 0; i < flood.length(); i++) {
            flood.flooding().send(client, i);
        }
        assertEquals("ENHANCE_YOUR_CALM", client.await(GOAWAY).error());
        assertNull(next(client));
        assertEquals(1, proxy.counted(flood.counter()));
        assertEquals(200, statusOfAnother());
    }

    private int statusOfAnother() throws IOException {
        go.countDown();
        return client().headers(1, true, request("OPTIONS", "*")).response(1).status();
    }

    @Test
    void blocksInManyFramesEndTheConnection() throws Exception {
        start(request -> go.await());
        Http2Client client = client();
        client.frame(HEADERS, END_STREAM, 1, block(request("GET", "/")));
        for (int i = 0; i < 17; i++) {
            client.frame(CONTINUATION, 0, 1, new byte[0]);
        }
        assertEquals("ENHANCE_YOUR_CALM", client.await(GOAWAY).error());
        assertEquals(1, proxy.counted(Counter.HTTP2_FAULT_CONTINUATION));
    }

    /** Nothing of the first block's size is kept: the limit holds for the sum. */
    @Test
    void blocksTwiceOverTheLimitEndTheConnection() throws Exception {
        start(request -> go.await(), fresh -> fresh.set("http2.header_list", "16KiB"));
        Http2Client client = client();
        client.frame(HEADERS, END_STREAM, 1, new byte[16_384]).frame(CONTINUATION, 0, 1, new byte[16_384]);
        client.frame(CONTINUATION, 0, 1, new byte[16_384]);
        assertEquals("ENHANCE_YOUR_CALM", client.await(GOAWAY).error());
        assertEquals(1, proxy.counted(Counter.HTTP2_FAULT_CONTINUATION));
    }

    @Test
    void contentBeyondTheLimitIsAnsweredWith413() throws Exception {
        start(request -> request.awaitClose(), fresh -> fresh.set("limits.request_body", "10B"));
        Http2Client client = client();
        client.headers(1, false, request("POST", "/p")).data(1, false, new byte[11]);
        assertEquals("status 413", client.outcome());
        client.headers(3, false, request("POST", "/p", "content-length", "11"));
        Http2Client.Frame answer = client.await(HEADERS);
        assertEquals(413, Http2Client.status(Http2Client.decode(answer.payload())));
    }

    // the end

    /** A drain loses no request: those that have begun are answered, later ones may go elsewhere. */
    @Test
    void drainEndsInTwoSteps() throws Exception {
        start(request -> {
            go.await();
            request.ok("", new byte[] {'d'});
        });
        Http2Client client = client().get(1, "/d");
        ProxyExtension.await("the request", () -> proxy.origin().requests() == 1);
        var drained = proxy.proxy().drain(TimeUnit.SECONDS.toNanos(30)).toCompletableFuture();
        Http2Client.Frame first = client.await(GOAWAY);
        assertEquals(
                Integer.MAX_VALUE, java.nio.ByteBuffer.wrap(first.payload()).getInt());
        client.get(3, "/d");
        ProxyExtension.await("the second request", () -> proxy.origin().requests() == 2);
        Http2Client.Frame second = client.await(GOAWAY);
        assertEquals(3, java.nio.ByteBuffer.wrap(second.payload()).getInt());
        assertEquals("NO_ERROR", second.error());
        client.get(5, "/d").data(5, true, new byte[0]);
        go.countDown();
        List<Integer> ended = new ArrayList<>();
        for (Http2Client.Frame frame = client.read(); frame != null; frame = client.read()) {
            if (frame.type() == DATA && (frame.flags() & END_STREAM) != 0) {
                ended.add(frame.streamId());
            }
        }
        ended.sort(null);
        assertEquals(List.of(1, 3), ended);
        client.close();
        drained.get(30, TimeUnit.SECONDS);
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void http1WorksOnTheSameAddress() throws Exception {
        start(request -> request.ok("Cache-Control: max-age=600\r\n", new byte[] {'1'}));
        try (RawClient client = new RawClient(proxy.proxy().addresses().get(1))) {
            assertEquals("1", client.get("/a").response().text());
            assertEquals("1", client.get("/a").response().text());
            assertEquals(400, client.send("GET /a HTTP/1.1\r\n\r\n").response().status());
        }
        try (RawClient client = new RawClient(proxy.proxy().addresses().get(1))) {
            client.send("INVALID PREFACE\r\n\r\n");
            assertNull(client.in.readHead());
        }
        try (RawClient client = new RawClient(proxy.proxy().addresses().get(1))) {
            client.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertNull(client.in.readHead());
        }
    }

    /** Responses of a higher urgency come first, from the first priority on that a client tells. */
    @Test
    void urgentResponsesComeFirst_rfc9218() throws Exception {
        byte[] content = ProxyExtension.content(100_000);
        start(request -> request.ok("Cache-Control: max-age=600\r\n", content));
        for (String path : List.of("/low", "/high")) {
            assertEquals(200, proxy.get(path).status());
        }
        Http2Client client = client();
        client.frame(SETTINGS, 0, 0, setting(4, 1_000_000)).get(1, "/low").await(HEADERS);
        int window = 65_535;
        while (window > 0) {
            window -= client.await(DATA).payload().length;
        }
        client.get(3, "/low", "priority", "u=5").get(5, "/high", "priority", "u=0");
        client.frame(PRIORITY_UPDATE, 0, 0, join(number(1), "u=7".getBytes(StandardCharsets.US_ASCII)));
        client.await(HEADERS);
        client.await(HEADERS);
        client.frame(PING, 0, 0, new byte[8]).await(PING);
        client.frame(WINDOW_UPDATE, 0, 0, number(1_000_000));
        List<Integer> order = new ArrayList<>();
        for (int left = 300_000 - 65_535; left > 0; ) {
            Http2Client.Frame frame = client.await(DATA);
            left -= frame.payload().length;
            if (order.isEmpty() || order.get(order.size() - 1) != frame.streamId()) {
                order.add(frame.streamId());
            }
        }
        assertEquals(List.of(5, 3, 1), order);
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] all = java.util.Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, all, first.length, second.length);
        return all;
    }
}
