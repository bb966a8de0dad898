package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.DATA;
import static io.millrace.proxy.http2.Http2Client.END_HEADERS;
import static io.millrace.proxy.http2.Http2Client.END_STREAM;
import static io.millrace.proxy.http2.Http2Client.GOAWAY;
import static io.millrace.proxy.http2.Http2Client.HEADERS;
import static io.millrace.proxy.http2.Http2Client.PING;
import static io.millrace.proxy.http2.Http2Client.PRIORITY;
import static io.millrace.proxy.http2.Http2Client.RST_STREAM;
import static io.millrace.proxy.http2.Http2Client.SETTINGS;
import static io.millrace.proxy.http2.Http2Client.WINDOW_UPDATE;
import static io.millrace.proxy.http2.Http2Client.block;
import static io.millrace.proxy.http2.Http2Client.number;
import static io.millrace.proxy.http2.Http2Client.request;
import static io.millrace.proxy.http2.Http2Client.setting;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests published attacks on HTTP/2 servers with raw frames: error, scope and counter of each. */
class Http2HostileTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final List<Http2Client> clients = new ArrayList<>();
    private final List<String> heads = Collections.synchronizedList(new ArrayList<>());
    private final CountDownLatch go = new CountDownLatch(1);

    private Http2Client start(RawOrigin.Script script, UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(
                script,
                fresh -> more.apply(fresh.listen(
                        "127.0.0.1:0",
                        ConfigValues.builder().set(Http2Keys.LISTEN_CLEAR, true).build())));
        return client();
    }

    /** Starts an origin that records the heads of requests and answers when the test permits it. */
    private Http2Client start(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        return start(
                request -> {
                    heads.add(request.head());
                    go.await();
                    request.ok("Cache-Control: no-store\r\n", new byte[1]);
                },
                more);
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

    private static byte[] get(int id, String... fields) {
        return Http2Client.bytes(HEADERS, END_HEADERS | END_STREAM, id, block(fields));
    }

    private static byte[] post(int id, String... more) {
        return Http2Client.bytes(HEADERS, END_HEADERS, id, block(request("POST", "/slow", more)));
    }

    private static byte[] frame(int type, int flags, int id, byte... payload) {
        return Http2Client.bytes(type, flags, id, payload);
    }

    // floods

    /**
     * A flood, and its outcome.
     *
     * @param limit the key whose value is set to 10
     * @param first sent once before the flood
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Flood(String name, String limit, Counter counter, byte[] first, Frames frames) {
        /** The frames of one round. */
        interface Frames {
            byte[] of(int round);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static byte[] join(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    private static Flood madeYouReset(String how, Flood.Frames frames) {
        return new Flood(
                "MadeYouReset by " + how,
                "http2.stream_faults",
                Counter.HTTP2_FAULT_STREAM_FAULTS,
                new byte[0],
                round -> frames.of(2 * round + 1));
    }

    private static Flood control(String name, byte[] first, Flood.Frames frames) {
        return new Flood(name, "http2.control_frames", Counter.HTTP2_FAULT_CONTROL_FRAMES, first, frames);
    }

    static Stream<Flood> floods() {
        byte[] settings = setting(4, 70_000);
        byte[] many = new byte[40 * settings.length];
        for (int at = 0; at < many.length; at += settings.length) {
            System.arraycopy(settings, 0, many, at, settings.length);
        }
        byte[] none = {};
        return Stream.of(
                // CVE-2025-8671: each attack makes the server reset a request that it processes.
                madeYouReset(
                        "WINDOW_UPDATE of 0",
                        id -> join(get(id, request("GET", "/slow")), frame(WINDOW_UPDATE, 0, id, number(0)))),
                madeYouReset(
                        "a window above 2^31-1",
                        id -> join(
                                get(id, request("GET", "/slow")),
                                frame(WINDOW_UPDATE, 0, id, number(Integer.MAX_VALUE)))),
                madeYouReset("HEADERS behind the end", id -> join(get(id, request("GET", "/slow")), get(id, "a", "b"))),
                madeYouReset(
                        "DATA behind the end",
                        id -> join(get(id, request("GET", "/slow")), frame(DATA, 0, id, (byte) 1))),
                madeYouReset(
                        "PRIORITY of another length",
                        id -> join(get(id, request("GET", "/slow")), frame(PRIORITY, 0, id, new byte[4]))),
                madeYouReset(
                        "PRIORITY on itself",
                        id -> join(
                                get(id, request("GET", "/slow")),
                                frame(PRIORITY, 0, id, join(number(id), new byte[1])))),
                madeYouReset(
                        "more content than its length",
                        id -> join(post(id, "content-length", "1"), frame(DATA, END_STREAM, id, new byte[2]))),
                madeYouReset("a pseudo-field in trailers", id -> join(post(id), get(id, ":path", "/"))),
                // CVE-2023-44487.
                new Flood(
                        "rapid reset",
                        "http2.resets",
                        Counter.HTTP2_FAULT_RESETS,
                        none,
                        round -> join(
                                get(2 * round + 1, request("GET", "/slow")),
                                frame(RST_STREAM, 0, 2 * round + 1, number(8)))),
                new Flood(
                        "rapid reset of uploads",
                        "http2.resets",
                        Counter.HTTP2_FAULT_RESETS,
                        none,
                        round -> join(post(2 * round + 1), frame(RST_STREAM, 0, 2 * round + 1, number(8)))),
                // CVE-2019-9512, 9515 and 9518, and similar attacks.
                control("PING", none, round -> frame(PING, 0, 0, new byte[8])),
                control("acknowledged PING", none, round -> frame(PING, 1, 0, new byte[8])),
                control("SETTINGS", none, round -> frame(SETTINGS, 0, 0, settings)),
                control("empty SETTINGS", none, round -> frame(SETTINGS, 0, 0)),
                control("many settings in a frame", none, round -> frame(SETTINGS, 0, 0, many)),
                control("acknowledged SETTINGS", none, round -> frame(SETTINGS, 1, 0)),
                control("PRIORITY", none, round -> frame(PRIORITY, 0, 2 * round + 1, number(0), (byte) 1)),
                control("GOAWAY", none, round -> frame(GOAWAY, 0, 0, new byte[8])),
                control(
                        "RST_STREAM of a stream that is over",
                        join(get(1, request("GET", "/slow")), frame(RST_STREAM, 0, 1, number(8))),
                        round -> frame(RST_STREAM, 0, 1, number(8))),
                control("empty DATA", post(1), round -> frame(DATA, 0, 1)),
                control("DATA with padding alone", post(1), round -> frame(DATA, 8, 1, (byte) 2, (byte) 0, (byte) 0)),
                control("empty padded DATA", post(1), round -> frame(DATA, 8, 1, (byte) 0)));
    }

    private static byte[] frame(int type, int flags, int id, byte[] first, byte... rest) {
        return Http2Client.bytes(type, flags, id, join(first, rest));
    }

    @ParameterizedTest
    @MethodSource("floods")
    void floodsEndTheConnectionAndNoOther(Flood flood) throws Exception {
        Http2Client other = start(fresh -> fresh.set(flood.limit(), "10"));
        Http2Client client = client();
        client.send(flood.first());
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int round = 0; round <= 20; round++) {
            all.writeBytes(flood.frames().of(round));
        }
        client.send(all.toByteArray());
        assertEquals("ENHANCE_YOUR_CALM", client.await(GOAWAY).error());
        assertNull(client.read());
        assertEquals(1, proxy.counted(flood.counter()));
        go.countDown();
        assertEquals(200, other.get(1, "/other").response(1).status());
    }

    /** CVE-2019-9511: each WINDOW_UPDATE by one byte would cause a frame of one byte. */
    @Test
    void windowsOfOneByteEndTheConnection() throws Exception {
        Http2Client client = start(
                request -> request.ok("Cache-Control: no-store\r\n", new byte[10_000]),
                fresh -> fresh.set("http2.control_frames", "100"));
        client.frame(SETTINGS, 0, 0, setting(4, 1)).get(1, "/a");
        int content = 0;
        Http2Client.Frame frame = client.read();
        while (frame != null && frame.type() != GOAWAY) {
            if (frame.type() == DATA) {
                content += frame.payload().length;
                client.frame(WINDOW_UPDATE, 0, 1, number(1));
            }
            frame = client.read();
        }
        assertEquals("ENHANCE_YOUR_CALM", frame == null ? "end" : frame.error());
        assertTrue(content >= 90 && content <= 110, "bytes of content: " + content);
        assertEquals(1, proxy.counted(Counter.HTTP2_FAULT_CONTROL_FRAMES));
    }

    /**
     * Clients that return exactly the window of each received frame are not limited, however small the origin's frames
     * are.
     */
    @Test
    void updatesForWholeFramesAreFree() throws Exception {
        Http2Client client = start(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: no-store\r\n\r\n");
                    for (int i = 0; i < 300; i++) {
                        request.send("1\r\nx\r\n");
                    }
                    request.send("0\r\n\r\n");
                },
                fresh -> fresh.set("http2.control_frames", "10"));
        assertEquals(300, client.get(1, "/a").response(1).content().length);
        assertEquals(0, proxy.counted(Counter.HTTP2_FAULT_CONTROL_FRAMES));
    }

    // field blocks

    /** A small block that refers to a long table entry many times (HPACK bomb) is answered, and needs no memory. */
    @Test
    void bombsOfReferencesAreAnsweredWith431() throws Exception {
        Http2Client client = start(fresh -> fresh);
        byte[] seed = block("bomb", "b".repeat(3900));
        seed[0] = 0x40;
        byte[] references = new byte[12_000];
        Arrays.fill(references, (byte) 0xbe);
        client.frame(HEADERS, END_HEADERS | END_STREAM, 1, join(block(request("GET", "/")), seed, references));
        assertEquals("status 431", client.outcome());
        go.countDown();
        assertEquals(200, client.get(3, "/a").response(3).status());
        assertEquals(1, heads.size());
    }

    /** An unfinished field block, and a missing preface, have the timeout of an HTTP/1.1 head. */
    @Test
    void blocksThatDoNotEndHaveADeadline() throws Exception {
        Http2Client client = start(fresh -> fresh.set("timeouts.client_header", "1s"));
        client.frame(HEADERS, END_STREAM, 1, block(request("GET", "/")));
        assertEquals("PROTOCOL_ERROR", client.await(GOAWAY).error());
        assertNull(client.read());
        assertEquals(1, proxy.counted(Counter.HTTP2_FAULT_TIMEOUT));
        assertEquals(0, heads.size());
    }

    // windows

    /**
     * 100 responses behind windows that stay closed use a limited number of bytes, and end like slow HTTP/1.1 clients.
     */
    @Test
    void closedWindowsHoldBoundedMemoryAndEnd() throws Exception {
        byte[] content = ProxyExtension.content(1 << 20);
        Http2Client client = start(
                request -> request.ok(request.has("/hit") ? "Cache-Control: max-age=600\r\n" : "", content),
                fresh -> fresh.set("timeouts.client_body", "2s").set("cache.ram_size", "64MiB"));
        assertEquals(200, proxy.get("/hit").status());
        client.frame(SETTINGS, 0, 0, setting(4, 0));
        for (int i = 0; i < 100; i++) {
            client.get(2 * i + 1, i % 2 == 0 ? "/hit" : "/miss" + i);
        }
        for (int i = 0; i < 100; i++) {
            client.await(HEADERS);
        }
        long used = proxy.usedBytes();
        // The stored response once, and for each stream one piece plus the bytes that wait in the tee.
        assertTrue(used < 60L << 20, "bytes in use: " + used);
        List<Integer> reset = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            Http2Client.Frame frame = client.await(RST_STREAM);
            assertEquals("CANCEL", frame.error());
            reset.add(frame.streamId());
        }
        assertEquals(100, reset.stream().distinct().count());
        assertEquals(100, proxy.counted(Counter.HTTP2_FAULT_STALLED));
        ProxyExtension.await("the bytes are given back", () -> proxy.usedBytes() < 4 << 20);
        client.frame(SETTINGS, 0, 0, setting(4, 65_535));
        assertEquals(
                200,
                client.headers(201, true, request("OPTIONS", "*")).response(201).status());
    }

    /** Content in frames of one byte is copied together while the origin does not read, and arrives in order. */
    @Test
    void contentInSmallFramesIsKeptCompactly() throws Exception {
        CountDownLatch read = new CountDownLatch(1);
        int length = 60_000;
        Http2Client client = start(
                request -> {
                    read.await();
                    request.ok("Cache-Control: no-store\r\n", request.in().read(length));
                },
                fresh -> fresh);
        byte[] content = ProxyExtension.content(length);
        client.headers(1, false, request("POST", "/p", "content-length", String.valueOf(length)));
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (int i = 0; i < length; i++) {
            all.writeBytes(Http2Client.bytes(DATA, i == length - 1 ? END_STREAM : 0, 1, new byte[] {content[i]}));
        }
        client.send(all.toByteArray());
        client.frame(PING, 0, 0, new byte[8]).await(PING);
        read.countDown();
        assertArrayEquals(content, client.response(1).content());
    }
}
