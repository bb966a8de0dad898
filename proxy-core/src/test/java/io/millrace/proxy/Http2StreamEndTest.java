package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.DATA;
import static io.millrace.proxy.http2.Http2Client.END_STREAM;
import static io.millrace.proxy.http2.Http2Client.HEADERS;
import static io.millrace.proxy.http2.Http2Client.RST_STREAM;
import static io.millrace.proxy.http2.Http2Client.SETTINGS;
import static io.millrace.proxy.http2.Http2Client.WINDOW_UPDATE;
import static io.millrace.proxy.http2.Http2Client.number;
import static io.millrace.proxy.http2.Http2Client.request;
import static io.millrace.proxy.http2.Http2Client.setting;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests streams that end early, by either side, in every phase of a request, and frames that were in flight then. */
class Http2StreamEndTest extends Http2Fixture {
    private static final String HEAD = "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n";

    /** A phase of a request, in which its client resets the stream. */
    private record Phase(String name, RawOrigin.Script script, Sending sending) {
        /** Sends a request on stream 1 and waits until it is in the phase. */
        interface Sending {
            void to(Http2Client client) throws Exception;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private static Phase phase(String name, RawOrigin.Script script, Phase.Sending sending) {
        return new Phase(name, script, sending);
    }

    private static String[] webSocket() {
        return new String[] {
            ":method",
            "CONNECT",
            ":protocol",
            "websocket",
            ":scheme",
            "http",
            ":authority",
            "test.example",
            ":path",
            "/chat",
            "sec-websocket-version",
            "13"
        };
    }

    static List<Phase> phases() {
        return List.of(
                phase("behind the request", RawOrigin.Exchange::awaitClose, client -> client.get(1, "/a")),
                phase("waiting for a head", RawOrigin.Exchange::awaitClose, client -> {
                    client.get(1, "/a");
                    settle(client);
                }),
                phase("within the request's content", RawOrigin.Exchange::awaitClose, client -> {
                    client.headers(1, false, request("POST", "/a", "content-length", "100000"));
                    client.data(1, false, new byte[16_000]).data(1, false, new byte[16_000]);
                    settle(client);
                }),
                phase("before 100 Continue", RawOrigin.Exchange::awaitClose, client -> {
                    client.headers(1, false, request("POST", "/a", "content-length", "9", "expect", "100-continue"));
                    settle(client);
                }),
                phase(
                        "behind 103",
                        request -> {
                            request.send("HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\n");
                            request.awaitClose();
                        },
                        client -> client.get(1, "/a").await(HEADERS)),
                phase(
                        "within content",
                        request -> {
                            request.send(HEAD + "Content-Length: 200000\r\n\r\n");
                            request.send(new byte[150_000]);
                            request.awaitClose();
                        },
                        client -> client.get(1, "/a").await(DATA)),
                phase(
                        "behind a closed window",
                        request -> {
                            request.send(HEAD + "Content-Length: 2000000\r\n\r\n");
                            request.send(new byte[2_000_000]);
                            request.awaitClose();
                        },
                        client -> client.frame(SETTINGS, 0, 0, setting(4, 10))
                                .get(1, "/a")
                                .await(DATA)),
                phase(
                        "with trailers behind a closed window",
                        request -> request.send(
                                HEAD + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n"),
                        client -> {
                            client.frame(SETTINGS, 0, 0, setting(4, 1)).get(1, "/a", "te", "trailers");
                            client.await(DATA);
                            settle(client);
                        }),
                phase("before the answer to a WebSocket", RawOrigin.Exchange::awaitClose, client -> {
                    client.headers(1, false, webSocket()).data(1, false, new byte[1000]);
                    settle(client);
                }),
                phase(
                        "within a WebSocket",
                        request -> {
                            request.send(WebSocketPeer.accepted(request.head()));
                            request.send(new byte[100_000]);
                            request.awaitClose();
                        },
                        client -> {
                            client.headers(1, false, webSocket()).await(DATA);
                            client.data(1, false, new byte[1000]);
                        }));
    }

    @ParameterizedTest
    @MethodSource("phases")
    void aResetLeavesNothingBehind(Phase phase) throws Exception {
        start(
                request -> {
                    if (request.has(" /next ")) {
                        request.ok("Cache-Control: no-store\r\n", new byte[] {'n'});
                    } else {
                        phase.script().answer(request);
                    }
                },
                config -> config.set("upgrade", "websocket"));
        Http2Client client = client();
        long before = proxy.usedBytes();
        phase.sending().to(client);
        client.frame(RST_STREAM, 0, 1, number(8));
        assertEquals("n", client.get(3, "/next").response(3).text());
        ProxyExtension.await("the request's end", () -> proxy.counted(Counter.REQUESTS_ACTIVE) == 0);
        ProxyExtension.await("the tunnel's end", () -> proxy.counted(Counter.TUNNELS_UPGRADE) == 0);
        proxy.settle();
        ProxyExtension.await("the bytes are given back", () -> proxy.usedBytes() <= before + (64 << 10));
        assertEquals(1, proxy.counted(Counter.HTTP2_RESETS));
    }

    /** Of two requests for one key, either may be reset: the other receives the whole response. */
    @ParameterizedTest
    @MethodSource("resetOfTwo")
    void theOtherOfTwoThatShareAFetchGetsAll(int reset, boolean withinContent) throws Exception {
        byte[] content = ProxyExtension.content(300_000);
        start(request -> {
            request.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 300000\r\n\r\n");
            request.send(Arrays.copyOf(content, 1000));
            go.await();
            request.send(Arrays.copyOfRange(content, 1000, content.length));
        });
        Http2Client client = client();
        client.frame(SETTINGS, 0, 0, setting(4, 1_000_000)).frame(WINDOW_UPDATE, 0, 0, number(1_000_000));
        client.get(1, "/shared");
        if (withinContent) {
            client.await(DATA);
        }
        client.get(3, "/shared");
        settle(client);
        client.frame(RST_STREAM, 0, reset, number(8));
        settle(client);
        go.countDown();
        int other = 4 - reset;
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        Http2Client.Frame frame;
        do {
            frame = client.await(DATA);
            assertEquals(other, frame.streamId());
            received.writeBytes(frame.payload());
        } while ((frame.flags() & END_STREAM) == 0);
        // The first content may have arrived before.
        byte[] all = received.toByteArray();
        assertTrue(all.length >= content.length - 1000, () -> "bytes: " + all.length);
        assertArrayEquals(Arrays.copyOfRange(content, content.length - all.length, content.length), all);
        assertEquals(1, proxy.origin().requests());
        ProxyExtension.await("the requests' end", () -> proxy.counted(Counter.REQUESTS_ACTIVE) == 0);
    }

    static List<Arguments> resetOfTwo() {
        return List.of(Arguments.of(1, false), Arguments.of(3, false), Arguments.of(1, true), Arguments.of(3, true));
    }

    /**
     * The content of an upload is in flight while this side resets the stream, also when many streams have begun since.
     * In any number of frames it is no fault.
     */
    @ParameterizedTest
    @MethodSource("streamsSince")
    void contentOnItsWayToAResetStreamIsNoFault(int streamsSince) throws Exception {
        // The origin receives the request before its content is complete.
        start(
                request -> {
                    if (request.has("POST")) {
                        go.await();
                        request.send("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n");
                        request.awaitClose();
                    } else {
                        request.ok("Cache-Control: max-age=600\r\n", new byte[1]);
                    }
                },
                config -> config.set("origin.request_buffer", "0"));
        Http2Client client = client();
        client.headers(1, false, request("POST", "/upload", "content-length", "100000"));
        client.data(1, false, new byte[10]);
        for (int i = 0; i < streamsSince; i++) {
            assertEquals(200, client.get(3 + 2 * i, "/a").response(3 + 2 * i).status());
        }
        go.countDown();
        assertEquals("NO_ERROR", client.await(RST_STREAM).error());
        ByteArrayOutputStream late = new ByteArrayOutputStream();
        for (int i = 0; i < 300; i++) {
            late.writeBytes(Http2Client.bytes(DATA, 0, 1, new byte[1]));
        }
        // Trailers end it.
        late.writeBytes(get(1, "x-sum", "1"));
        client.send(late.toByteArray());
        settle(client);
        assertEquals(0, proxy.counted(Counter.HTTP2_FAULT_STREAM_CLOSED));
        assertEquals(0, proxy.counted(Counter.HTTP2_FAULT_PROTOCOL));
    }

    static List<Integer> streamsSince() {
        return List.of(0, 10, 70, 150);
    }

    /** Only DATA may follow on a connected stream (RFC 9113 s8.5). */
    @Test
    void fieldsWithinATunnelAreAFault() throws Exception {
        start(
                request -> {
                    WebSocketPeer.echo(request);
                    request.awaitClose();
                },
                config -> config.set("upgrade", "websocket"));
        Http2Client client = client();
        client.headers(1, false, webSocket()).await(HEADERS);
        client.send(get(1, "x-trailer", "1"));
        assertEquals("stream PROTOCOL_ERROR", client.outcome());
        settle(client);
        assertEquals(1, proxy.counted(Counter.HTTP2_FAULT_PROTOCOL));
        ProxyExtension.await("the tunnel's end", () -> proxy.counted(Counter.TUNNELS_UPGRADE) == 0);
    }

    /** The end of a response without content is in its head, however long the head is. */
    @Test
    void aLongHeadWithoutContentEndsItsStream() throws Exception {
        String lines = ("X-Long: " + "x".repeat(1000) + "\r\n").repeat(100);
        start(
                request -> request.send(HEAD + lines + "Content-Length: 5\r\n\r\n"),
                config -> config.set("limits.response_header", "256KiB"));
        Http2Client client = client();
        client.headers(1, true, request("HEAD", "/a"));
        Http2Client.Frame frame = client.await(HEADERS);
        boolean ended = (frame.flags() & END_STREAM) != 0;
        while (!ended) {
            frame = client.read();
            ended = frame.type() == DATA && (frame.flags() & END_STREAM) != 0;
        }
        assertEquals(1, frame.streamId());
        assertTrue(ended);
    }
}
