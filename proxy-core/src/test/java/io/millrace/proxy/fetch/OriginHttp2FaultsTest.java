package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.fetch.OriginFailure.Reason;
import io.millrace.proxy.http2.frame.Frames;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests origins that violate HTTP/2, or end streams and connections early. */
class OriginHttp2FaultsTest extends OriginHttp2Fixture {
    static Stream<Arguments> badResponses() {
        return Stream.of(
                Arguments.of("no status", new String[] {"a", "b"}, "no :status"),
                Arguments.of("status twice", new String[] {":status", "200", ":status", "200"}, "repeated"),
                Arguments.of("status last", new String[] {"a", "b", ":status", "200"}, "a regular field"),
                Arguments.of("path", new String[] {":path", "/"}, "other than :status"),
                Arguments.of("status 600", new String[] {":status", "600"}, ":status"),
                Arguments.of("status 20", new String[] {":status", "20"}, ":status"),
                Arguments.of("status 101", new String[] {":status", "101"}, "101"),
                Arguments.of("capital", new String[] {":status", "200", "A", "b"}, "field name"),
                Arguments.of("empty name", new String[] {":status", "200", "", "b"}, "field name"),
                Arguments.of("CR LF", new String[] {":status", "200", "a", "b\r\nc: d"}, "value of a"),
                Arguments.of("NUL", new String[] {":status", "200", "a", "b\0"}, "value of a"),
                Arguments.of("control", new String[] {":status", "200", "a", "b\1c"}, "value of a"),
                Arguments.of("space", new String[] {":status", "200", "a", " b"}, "value of a"),
                Arguments.of("connection", new String[] {":status", "200", "connection", "close"}, "Connection"),
                Arguments.of(
                        "chunked",
                        new String[] {":status", "200", "transfer-encoding", "chunked"},
                        "Transfer-Encoding"),
                Arguments.of(
                        "lengths",
                        new String[] {":status", "200", "content-length", "1", "content-length", "1"},
                        "repeated Content-Length"),
                Arguments.of("length", new String[] {":status", "200", "content-length", "-1"}, "is not a length"),
                Arguments.of("large", new String[] {":status", "200", "a", "x".repeat(9000)}, "more than 8192 bytes"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("badResponses")
    void aBadHeadFailsItsCallOnly(String name, String[] fields, String problem) throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            Http2Peer.Request bad = h2.nextRequest();
            h2.headers(bad.stream(), false, fields);
            assertEquals(bad.stream(), h2.next(Frames.RST_STREAM).stream());
            h2.data(bad.stream(), "late", true);
            h2.echo();
        })) {
            FetchSettings small = settings().responseHeadMax(8192).build();
            OriginFailure failure = fetchFailing(h2(origin, builder -> builder.settings(small)));
            assertEquals(Reason.BAD_RESPONSE, failure.reason(), failure.message());
            assertTrue(failure.message().contains(problem), failure.message());
            assertEquals(
                    "/next",
                    fetch(h2(origin, builder -> builder.settings(small).target("/next")))
                            .content());
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    static Stream<Arguments> badContents() {
        return Stream.of(
                Arguments.of("GET", "200", "3", "four", Reason.BAD_RESPONSE),
                Arguments.of("GET", "200", "5", "four", Reason.TRUNCATED),
                Arguments.of("GET", "200", "5", "", Reason.TRUNCATED),
                Arguments.of("HEAD", "200", "4", "four", Reason.BAD_RESPONSE),
                Arguments.of("GET", "204", "0", "four", Reason.BAD_RESPONSE),
                Arguments.of("GET", "304", "4", "four", Reason.BAD_RESPONSE));
    }

    @ParameterizedTest
    @MethodSource("badContents")
    void contentThatIsNotOfItsLengthFails(String method, String status, String length, String content, Reason reason)
            throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            int stream = h2.nextRequest().stream();
            h2.headers(stream, false, ":status", status, "content-length", length);
            h2.data(stream, content, true);
            h2.echo();
        })) {
            OriginFailure failure = fetchFailing(h2(origin, builder -> builder.method(method)));
            assertEquals(reason, failure.reason(), failure.message());
            assertEquals("/next", fetch(h2(origin, "/next")).content());
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    static Stream<Arguments> violations() {
        return Stream.of(
                Arguments.of("push", Frames.PUSH_PROMISE, 1, new byte[8], "PUSH_PROMISE"),
                Arguments.of("own stream", Frames.HEADERS, 2, Http2Peer.block(":status", "200"), "idle stream"),
                Arguments.of("idle stream", Frames.DATA, 99, new byte[1], "idle stream"),
                Arguments.of("window", Frames.WINDOW_UPDATE, 0, new byte[] {0x7f, -1, -1, -1}, "2^31-1"),
                Arguments.of("window by 0", Frames.WINDOW_UPDATE, 0, new byte[4], "increment of 0"),
                Arguments.of("ping", Frames.PING, 0, new byte[7], "PING"),
                Arguments.of("enable push", Frames.SETTINGS, 0, new byte[] {0, 2, 0, 0, 0, 1}, "ENABLE_PUSH"),
                Arguments.of("HPACK", Frames.HEADERS, 1, new byte[] {(byte) 0xff, 0x7f}, "index"),
                Arguments.of("frame size", Frames.DATA, 1, new byte[16385], "MAX_FRAME_SIZE"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("violations")
    void aViolationEndsTheConnection(String name, int type, int stream, byte[] payload, String problem)
            throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                peer -> {
                    Http2Peer h2 = Http2Peer.begin(peer);
                    h2.nextRequest();
                    h2.frame(type, Frames.END_HEADERS, stream, payload);
                    assertNotNull(h2.next(Frames.GOAWAY));
                    assertNull(h2.next());
                },
                peer -> Http2Peer.begin(peer).echo())) {
            OriginFailure failure = fetchFailing(h2(origin, "/"));
            assertEquals(Reason.BAD_RESPONSE, failure.reason(), failure.message());
            assertTrue(failure.message().contains(problem), failure.message());
            assertEquals("/next", fetch(h2(origin, "/next")).content());
        }
    }

    @Test
    void anOriginOfHttp1IsNamedAsSuch() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            peer.readHead();
            peer.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            peer.readToEnd();
        })) {
            OriginFailure failure = fetchFailing(h2(origin, "/"));
            assertEquals(Reason.BAD_RESPONSE, failure.reason());
            assertTrue(failure.message().contains("does not support HTTP/2"), failure.message());
        }
    }

    @Test
    void theDeathOfAUsedConnectionRepeatsItsCalls() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                peer -> {
                    Http2Peer h2 = Http2Peer.begin(peer);
                    h2.respond(h2.nextRequest().stream(), "first");
                    for (int i = 0; i < 50; i++) {
                        h2.nextRequest();
                    }
                },
                peer -> Http2Peer.begin(peer).echo())) {
            fetch(h2(origin, "/first"));
            List<RecordedResponse> responses = startAll(origin, 50);
            for (int i = 0; i < 50; i++) {
                assertEquals("/" + i, responses.get(i).awaitComplete().content());
            }
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    @Test
    void theDeathOfAFreshConnectionFailsItsCalls() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                peer -> {
                    Http2Peer h2 = Http2Peer.begin(peer);
                    for (int i = 0; i < 50; i++) {
                        h2.nextRequest();
                    }
                    h2.headers(1, false, ":status", "200");
                    h2.data(1, "part", false);
                },
                peer -> Http2Peer.begin(peer).echo())) {
            List<RecordedResponse> responses = startAll(origin, 50);
            assertEquals(Reason.TRUNCATED, responses.get(0).awaitFailure().reason());
            for (int i = 1; i < 50; i++) {
                assertEquals(Reason.RESET, responses.get(i).awaitFailure().reason());
            }
            assertEquals("/next", fetch(h2(origin, "/next")).content());
            assertEquals(0L, onLoop(() -> client.statistics().connectionsActive()));
        }
    }

    @Test
    void aResetByTheOriginFailsItsCall() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            h2.reset(h2.nextRequest().stream(), INTERNAL_ERROR);
            h2.echo();
        })) {
            OriginFailure failure = fetchFailing(h2(origin, "/"));
            assertEquals(Reason.RESET, failure.reason());
            assertTrue(failure.message().contains("INTERNAL_ERROR"), failure.message());
            assertEquals("/next", fetch(h2(origin, "/next")).content());
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    @Test
    void aSilentConnectionIsGivenUpAfterAPing() throws Exception {
        CountDownLatch pinged = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                peer -> {
                    Http2Peer h2 = Http2Peer.begin(peer);
                    h2.nextRequest();
                    assertNotNull(h2.next(Frames.PING));
                    pinged.countDown();
                    h2.next(Frames.HEADERS);
                },
                peer -> Http2Peer.begin(peer).echo())) {
            FetchSettings hasty = settings()
                    .firstByteTimeoutNanos(millis(100))
                    .connectTimeoutNanos(millis(500))
                    .build();
            OriginFailure failure = fetchFailing(h2(origin, builder -> builder.settings(hasty)));
            assertEquals(Reason.FIRST_BYTE_TIMEOUT, failure.reason());
            assertTrue(pinged.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS));
            // The connection may be broken, so another one is created.
            assertEquals("/next", fetch(h2(origin, "/next")).content());
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    /** RFC 9113 s6.9.2: SETTINGS that make a window too large are a connection error. */
    @Test
    void anInitialWindowThatIsTooLargeForAStreamEndsTheConnection() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                peer -> {
                    Http2Peer h2 = Http2Peer.begin(peer);
                    int stream = h2.nextRequest().stream();
                    h2.windowUpdate(stream, 1);
                    h2.settings(Frames.SETTING_INITIAL_WINDOW_SIZE, Integer.MAX_VALUE);
                    // FLOW_CONTROL_ERROR.
                    assertEquals(
                            3, ByteBuffer.wrap(h2.next(Frames.GOAWAY).payload()).getInt(4));
                },
                peer -> Http2Peer.begin(peer).echo())) {
            OriginFailure failure = fetchFailing(h2(origin, "/"));
            assertEquals(Reason.BAD_RESPONSE, failure.reason(), failure.message());
            assertTrue(failure.message().contains("2^31-1"), failure.message());
            assertEquals("/next", fetch(h2(origin, "/next")).content());
        }
    }
}
