package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.fetch.OriginFailure.Reason;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http2.frame.Frames;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests requests and responses over HTTP/2 to an origin that sends the frames of a test. */
class OriginHttp2Test extends OriginHttp2Fixture {
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
    void goAwayRepeatsRequestsNotProcessedByTheOrigin() throws Exception {
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
