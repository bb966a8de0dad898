package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.origins.OriginConfig.Http2;
import io.millrace.proxy.fetch.OriginFailure.Reason;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http2.Frames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls over HTTP/2 to an origin that sends the frames a test says. */
class OriginHttp2Test extends FetchFixture {
    private static final int NO_ERROR = 0;
    private static final int INTERNAL_ERROR = 2;
    private static final int REFUSED_STREAM = 7;

    private OriginRequest h2(ScriptedOrigin origin, UnaryOperator<OriginRequest.Builder> more) {
        return request(origin.origin(), builder -> more.apply(builder.http2(Http2.PRIOR_KNOWLEDGE)));
    }

    private OriginRequest h2(ScriptedOrigin origin, String path) {
        return h2(origin, builder -> builder.target(path));
    }

    private RecordedResponse start(OriginRequest request) throws Exception {
        RecordedResponse response = new RecordedResponse();
        start(request, response);
        return response;
    }

    private List<RecordedResponse> startAll(ScriptedOrigin origin, int count) throws Exception {
        List<OriginRequest> requests = new ArrayList<>();
        List<RecordedResponse> responses = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            requests.add(h2(origin, "/" + i));
            responses.add(new RecordedResponse());
        }
        runOnLoop(() -> {
            for (int i = 0; i < count; i++) {
                client.fetch(requests.get(i), responses.get(i));
            }
        });
        return responses;
    }

    private static ByteBuf bytes(int length) {
        return Unpooled.wrappedBuffer("x".repeat(length).getBytes(StandardCharsets.US_ASCII));
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void requestAndResponseHaveEveryPart() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            Http2Peer.Request request = h2.nextRequest();
            assertEquals(
                    "{:method=GET, :scheme=http, :authority=origin.test, :path=/a?b, via=1.1 test, cookie=secret,"
                            + " te=trailers}",
                    request.fields().toString());
            assertEquals(0, h2.settings.get(Frames.SETTING_ENABLE_PUSH));
            h2.headers(request.stream(), false, ":status", "103", "link", "</a.css>");
            h2.headers(request.stream(), false, ":status", "200", "x-a", "1", "set-cookie", "a", "set-cookie", "b");
            h2.data(request.stream(), "hello", false);
            h2.headers(request.stream(), true, "grpc-status", "0");
            assertNull(h2.next(Frames.HEADERS));
        })) {
            FieldSection fields = FieldSection.builder()
                    .add("Host", "origin.test")
                    .add("Via", "1.1 test")
                    .add("Connection", "close")
                    .add("Cookie", "secret")
                    .build();
            RecordedResponse response = fetch(
                    h2(origin, builder -> builder.target("/a?b").fields(fields).trailersWanted(true)));
            assertEquals(List.of(103), response.interim);
            assertEquals(200, response.head.status());
            assertEquals(
                    "x-a: 1\nset-cookie: a\nset-cookie: b\n",
                    response.head.fields().toString());
            assertEquals("hello", response.content());
            assertEquals("grpc-status: 0\n", response.trailers.toString());
            assertEquals(1L, onLoop(() -> client.statistics().http2Connections()));
        }
    }

    @Test
    void aResponseWithoutContentMayEndInItsHead() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            h2.headers(h2.nextRequest().stream(), true, ":status", "200", "grpc-status", "5");
            h2.next(Frames.HEADERS);
        })) {
            RecordedResponse response = fetch(h2(origin, "/"));
            assertEquals("5", response.head.fields().get(FieldName.of("grpc-status")));
            assertNull(response.trailers);
        }
    }

    @Test
    void callsShareOneConnection() throws Exception {
        try (ScriptedOrigin origin =
                ScriptedOrigin.running(peer -> Http2Peer.begin(peer).echo())) {
            List<RecordedResponse> responses = startAll(origin, 50);
            for (int i = 0; i < 50; i++) {
                assertEquals("/" + i, responses.get(i).awaitComplete().content());
            }
            assertEquals("/again", fetch(h2(origin, "/again")).content());
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    @Test
    void contentIsSentWithAndWithoutLength() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            for (String length : new String[] {"5", null}) {
                Http2Peer.Request request = h2.nextRequest();
                assertEquals(length, request.fields().get("content-length"));
                assertNull(request.fields().get("transfer-encoding"));
                h2.respond(request.stream(), h2.content(request.stream()));
            }
            h2.next(Frames.HEADERS);
        })) {
            for (boolean known : new boolean[] {true, false}) {
                RecordedResponse response = new RecordedResponse();
                OriginCall call = start(
                        h2(
                                origin,
                                builder -> known
                                        ? builder.method("POST").contentLength(5)
                                        : builder.method("POST").chunkedContent()),
                        response);
                runOnLoop(() -> {
                    call.write(bytes("he"));
                    call.write(bytes("llo"));
                    call.finishRequest();
                });
                assertEquals("hello", response.awaitComplete().content());
            }
        }
    }

    @Test
    void goAwayRepeatsWhatTheOriginHasNotProcessed() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                peer -> {
                    Http2Peer h2 = Http2Peer.begin(peer);
                    for (int i = 0; i < 4; i++) {
                        h2.nextRequest();
                    }
                    h2.goAway(3, NO_ERROR);
                    h2.respond(1, "first");
                    h2.respond(3, "second");
                    assertTrue(peer.socket().getInputStream().readAllBytes().length > 0);
                },
                peer -> Http2Peer.begin(peer).echo())) {
            List<RecordedResponse> responses = startAll(origin, 4);
            assertEquals("first", responses.get(0).awaitComplete().content());
            assertEquals("second", responses.get(1).awaitComplete().content());
            assertEquals("/2", responses.get(2).awaitComplete().content());
            assertEquals("/3", responses.get(3).awaitComplete().content());
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    @Test
    void aRefusedRequestIsRepeatedWithItsContent() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            Http2Peer.Request first = h2.nextRequest();
            assertEquals("hello", h2.content(first.stream()));
            h2.reset(first.stream(), REFUSED_STREAM);
            h2.echo();
        })) {
            RecordedResponse response = new RecordedResponse();
            OriginCall call = start(
                    h2(origin, builder -> builder.method("POST").target("/p").contentLength(5)), response);
            runOnLoop(() -> {
                call.write(bytes("hello"));
                call.finishRequest();
            });
            assertEquals("/p", response.awaitComplete().content());
            assertEquals(1L, onLoop(() -> client.statistics().retries()));
        }
    }

    @Test
    void aRequestThatIsAlwaysRefusedFails() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            Http2Peer.Request request;
            while ((request = h2.nextRequest()) != null) {
                h2.reset(request.stream(), REFUSED_STREAM);
            }
        })) {
            assertEquals(Reason.RESET, fetchFailing(h2(origin, "/")).reason());
        }
    }

    @Test
    void moreStreamsThanAllowedNeedAnotherConnection() throws Exception {
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch settled = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(
                peer -> {
                    Http2Peer h2 = Http2Peer.begin(peer, Frames.SETTING_MAX_CONCURRENT_STREAMS, 2);
                    h2.respond(h2.nextRequest().stream(), "settled");
                    settled.countDown();
                    Http2Peer.Request one = h2.nextRequest();
                    Http2Peer.Request two = h2.nextRequest();
                    first.countDown();
                    done.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS);
                    h2.respond(one.stream(), one.path());
                    h2.respond(two.stream(), two.path());
                    h2.echo();
                },
                peer -> Http2Peer.begin(peer).echo())) {
            fetch(h2(origin, "/settings"));
            settled.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS);
            List<RecordedResponse> responses = startAll(origin, 4);
            first.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS);
            assertEquals("/2", responses.get(2).awaitComplete().content());
            assertEquals("/3", responses.get(3).awaitComplete().content());
            done.countDown();
            assertEquals("/0", responses.get(0).awaitComplete().content());
            assertEquals("/1", responses.get(1).awaitComplete().content());
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    @Test
    void requestContentWaitsForTheOriginsWindow() throws Exception {
        int length = 300_000;
        CountDownLatch stalled = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer, Frames.SETTING_INITIAL_WINDOW_SIZE, 1000);
            h2.respond(h2.nextRequest().stream(), "settled");
            Http2Peer.Request request = h2.nextRequest();
            int received = 0;
            while (received < 1000) {
                received += h2.next(Frames.DATA).payload().length;
            }
            assertEquals(1000, received);
            stalled.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS);
            h2.settings(Frames.SETTING_INITIAL_WINDOW_SIZE, 2000);
            while (received < 2000) {
                received += h2.next(Frames.DATA).payload().length;
            }
            h2.windowUpdate(0, length);
            h2.windowUpdate(request.stream(), length);
            received += h2.content(request.stream()).length();
            h2.respond(request.stream(), String.valueOf(received));
            h2.next(Frames.HEADERS);
        })) {
            // The settings stand in front of this response.
            fetch(h2(origin, "/settings"));
            CountDownLatch writable = new CountDownLatch(2);
            RecordedResponse response = new RecordedResponse() {
                @Override
                public void onRequestWritable() {
                    writable.countDown();
                }
            };
            OriginCall call = start(h2(origin, builder -> builder.method("PUT").contentLength(length)), response);
            runOnLoop(() -> call.write(bytes(length)));
            assertFalse(onLoop(call::isRequestWritable));
            stalled.countDown();
            assertTrue(writable.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS));
            runOnLoop(call::finishRequest);
            assertEquals(String.valueOf(length), response.awaitComplete().content());
        }
    }

    @Test
    void aPausedResponseHoldsBackItsOwnStreamOnly() throws Exception {
        int window = 32 << 10;
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            Http2Peer.Request slow = h2.nextRequest();
            assertEquals(window, h2.settings.get(Frames.SETTING_INITIAL_WINDOW_SIZE));
            h2.headers(slow.stream(), false, ":status", "200");
            for (int sent = 0; sent < window; sent += 8192) {
                h2.data(slow.stream(), "x".repeat(8192), false);
            }
            Http2Peer.Request other = h2.nextRequest();
            h2.respond(other.stream(), "other");
            // Not before the reader goes on is there a window again.
            Http2Peer.Frame update = h2.next(Frames.WINDOW_UPDATE);
            assertEquals(slow.stream(), update.stream());
            h2.data(slow.stream(), "end", true);
            h2.next(Frames.HEADERS);
        })) {
            FetchSettings small = settings().http2WindowBytes(window).build();
            RecordedResponse slow = new RecordedResponse();
            OriginCall[] calls = new OriginCall[1];
            runOnLoop(() -> {
                calls[0] = client.fetch(h2(origin, builder -> builder.settings(small)), slow);
                calls[0].pauseReading();
            });
            slow.awaitHead();
            assertEquals(
                    "other",
                    fetch(h2(origin, builder -> builder.settings(small))).content());
            assertEquals(0, slow.contentLength());
            runOnLoop(calls[0]::resumeReading);
            assertEquals(window + 3, slow.awaitComplete().contentLength());
        }
    }

    @Test
    void anEarlyResponseEndsTheRequest() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            Http2Peer.Request request = h2.nextRequest();
            h2.headers(request.stream(), false, ":status", "413");
            h2.data(request.stream(), "too large", true);
            h2.reset(request.stream(), NO_ERROR);
            h2.echo();
        })) {
            RecordedResponse response = new RecordedResponse();
            OriginCall call = start(h2(origin, builder -> builder.method("POST").contentLength(1_000_000)), response);
            runOnLoop(() -> call.write(bytes(1000)));
            assertEquals("too large", response.awaitComplete().content());
            assertEquals("/next", fetch(h2(origin, "/next")).content());
            assertEquals(1, origin.connectionsAccepted());
        }
    }

    static Stream<Arguments> badResponses() {
        return Stream.of(
                Arguments.of("no status", new String[] {"a", "b"}, "no :status"),
                Arguments.of("status twice", new String[] {":status", "200", ":status", "200"}, "twice"),
                Arguments.of("status last", new String[] {"a", "b", ":status", "200"}, "behind other fields"),
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
                Arguments.of("own stream", Frames.HEADERS, 2, Http2Peer.block(":status", "200"), "not begun"),
                Arguments.of("idle stream", Frames.DATA, 99, new byte[1], "not begun"),
                Arguments.of("window", Frames.WINDOW_UPDATE, 0, new byte[] {0x7f, -1, -1, -1}, "2^31-1"),
                Arguments.of("window by 0", Frames.WINDOW_UPDATE, 0, new byte[4], "by 0"),
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
            assertTrue(failure.message().contains("does not speak HTTP/2"), failure.message());
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
    void aCancelledCallResetsItsStream() throws Exception {
        CountDownLatch cancelled = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            Http2Peer.Request request = h2.nextRequest();
            h2.headers(request.stream(), false, ":status", "200");
            assertEquals(8, h2.next(Frames.RST_STREAM).number());
            cancelled.countDown();
            h2.echo();
        })) {
            RecordedResponse response = new RecordedResponse();
            OriginCall call = start(h2(origin, "/"), response);
            response.awaitHead();
            runOnLoop(call::cancel);
            assertTrue(cancelled.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS));
            assertEquals("/next", fetch(h2(origin, "/next")).content());
            assertEquals(1, origin.connectionsAccepted());
            assertEquals(1L, onLoop(() -> client.statistics().connectionsIdle()));
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
            // The connection is under suspicion: another one is made.
            assertEquals("/next", fetch(h2(origin, "/next")).content());
            assertEquals(2, origin.connectionsAccepted());
        }
    }

    @Test
    void anUnusedConnectionEndsWithItsTime() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            h2.respond(h2.nextRequest().stream(), "once");
            assertNotNull(h2.next(Frames.GOAWAY));
            ended.countDown();
        })) {
            FetchSettings hasty = settings().keepAliveIdleNanos(millis(50)).build();
            fetch(h2(origin, builder -> builder.settings(hasty)));
            assertTrue(ended.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS));
        }
    }

    @Test
    void aClosedClientFailsItsCalls() throws Exception {
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            h2.nextRequest();
            h2.headers(1, false, ":status", "200");
            h2.next(Frames.GOAWAY);
        })) {
            RecordedResponse response = start(h2(origin, "/"));
            response.awaitHead();
            runOnLoop(() -> client.close());
            assertEquals(Reason.CANCELLED, response.awaitFailure().reason());
        }
    }
}
