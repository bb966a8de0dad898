package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.ACK;
import static io.millrace.proxy.http2.Http2Client.CONTINUATION;
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
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the limits of HTTP/2 connections: excess is refused or ends the connection. */
class Http2LimitsTest extends Http2Fixture {
    /** More than socket buffers and the discarded bytes together. */
    private static final long SENT_BYTES_MAX = 64 << 20;

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

    /**
     * A client that does not know the limit yet may exceed it: its streams are refused, without counting as a fault.
     */
    @Test
    void refusedStreamsAreNoFaultBeforeTheLimitIsKnown() throws Exception {
        start(
                request -> {
                    go.await();
                    request.ok("Cache-Control: no-store\r\n", new byte[1]);
                },
                fresh -> fresh.set("http2.streams", "2").set("http2.stream_faults", "5"));
        Http2Client client = client();
        for (int i = 0; i < 20; i++) {
            client.get(2 * i + 1, "/a");
        }
        for (int i = 2; i < 20; i++) {
            Http2Client.Frame reset = client.await(RST_STREAM);
            assertEquals(2 * i + 1, reset.streamId());
            assertEquals("REFUSED_STREAM", reset.error());
        }
        client.frame(SETTINGS, ACK, 0, new byte[0]);
        for (int i = 20; i < 26; i++) {
            client.get(2 * i + 1, "/a");
        }
        assertEquals("ENHANCE_YOUR_CALM", client.await(GOAWAY).error());
    }

    /** A lower limit is announced on existing connections, and is enforced after they have acknowledged it. */
    @Test
    void aLowerNumberOfStreamsHoldsFromItsAcknowledgementOn() throws Exception {
        start(
                request -> {
                    go.await();
                    request.ok("Cache-Control: no-store\r\n", new byte[1]);
                },
                fresh -> fresh.set("http2.streams", "3"));
        Http2Client client = client();
        client.frame(SETTINGS, ACK, 0, new byte[0]).get(1, "/1").get(3, "/2");
        settle(client);
        proxy.reload(config -> withHttp2(config).set("http2.streams", "1"));
        assertArrayEquals(setting(3, 1), client.await(SETTINGS).payload());
        client.get(5, "/3");
        ProxyExtension.await("the third request", () -> proxy.origin().requests() == 3);
        client.frame(SETTINGS, ACK, 0, new byte[0]).get(7, "/4");
        Http2Client.Frame reset = client.await(RST_STREAM);
        assertEquals(7, reset.streamId());
        assertEquals("REFUSED_STREAM", reset.error());
        proxy.reload(config -> withHttp2(config).set("http2.streams", "4"));
        assertArrayEquals(setting(3, 4), client.await(SETTINGS).payload());
        client.get(9, "/5");
        ProxyExtension.await("the fourth request", () -> proxy.origin().requests() == 4);
    }

    @Test
    void tooManyFieldsAreAnsweredWith431() throws Exception {
        start(request -> request.ok("", new byte[1]), fresh -> fresh.set("http2.header_list", "2KiB"));
        Http2Client client = client();
        client.get(1, "/", "long", "x".repeat(2000));
        assertEquals("status 431", client.outcome());
        assertEquals(1, client.get(3, "/").response(3).content().length);
    }

    /** A flood and its outcome. */
    record Flood(String name, String limit, Counter counter, int length, Flooding flooding) {
        /** Sends one frame of the flood. */
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
        assertNull(client.read());
        assertEquals(1, proxy.counted(flood.counter()));
        assertEquals(200, statusOfAnother());
    }

    /** Reading and discarding the rest of a flood would cost a third of a core for two seconds. */
    @Test
    void aFloodIsNotReadToItsEnd() throws Exception {
        start(request -> request.ok("", new byte[0]), fresh -> fresh.set("http2.control_frames", "10"));
        byte[] ping = Http2Client.bytes(PING, 0, 0, new byte[8]);
        byte[] pings = new byte[4000 * ping.length];
        for (int i = 0; i < pings.length; i += ping.length) {
            System.arraycopy(ping, 0, pings, i, ping.length);
        }
        Http2Client client = client();
        long sent = 0;
        try {
            while (sent < SENT_BYTES_MAX) {
                client.send(pings);
                sent += pings.length;
            }
        } catch (IOException expected) {
            // The proxy has closed the connection.
        }
        assertTrue(sent < SENT_BYTES_MAX, sent + " bytes were accepted");
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

    /** The first block is not counted on its own: the limit applies to the sum. */
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
}
