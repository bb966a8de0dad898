package io.millrace.proxy.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http2.frame.Frames;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Tests flow control and the number of streams on HTTP/2 connections to origins. */
class OriginHttp2FlowTest extends OriginHttp2Fixture {
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
            // The settings precede this response.
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

    /** Streams in both directions: an origin that sends its response while content waits for its window is not late. */
    @Test
    void anOriginThatSendsMayHoldBackRequestContent() throws Exception {
        int length = 10_000;
        int pieces = 8;
        FetchSettings limited = settings().requestIdleTimeoutNanos(millis(500)).build();
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer, Frames.SETTING_INITIAL_WINDOW_SIZE, 1000);
            h2.respond(h2.nextRequest().stream(), "settled");
            Http2Peer.Request request = h2.nextRequest();
            h2.headers(request.stream(), false, ":status", "200");
            for (int i = 0; i < pieces; i++) {
                loop.schedule(() -> {}, 100, TimeUnit.MILLISECONDS).get();
                h2.data(request.stream(), "x", false);
            }
            h2.windowUpdate(request.stream(), length);
            h2.data(
                    request.stream(),
                    String.valueOf(h2.content(request.stream()).length()),
                    true);
            h2.next(Frames.HEADERS);
        })) {
            // The settings precede this response.
            fetch(h2(origin, builder -> builder.settings(limited)));
            RecordedResponse response = new RecordedResponse();
            OriginCall call = start(
                    h2(origin, builder -> builder.method("PUT")
                            .contentLength(length)
                            .settings(limited)),
                    response);
            runOnLoop(() -> {
                call.write(bytes(length));
                call.finishRequest();
            });
            assertEquals("x".repeat(pieces) + length, response.awaitComplete().content());
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
            // The window opens only after the reader continues.
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

    /** A lowered limit applies to later streams; existing streams continue. */
    @Test
    void aLoweredNumberOfStreamsIsObeyed() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch more = new CountDownLatch(1);
        FetchSettings one = settings().connectionsMax(1).build();
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer, Frames.SETTING_MAX_CONCURRENT_STREAMS, 10);
            Http2Peer.Request[] open = new Http2Peer.Request[4];
            for (int i = 0; i < open.length; i++) {
                open[i] = h2.nextRequest();
            }
            h2.settings(Frames.SETTING_MAX_CONCURRENT_STREAMS, 2);
            h2.frame(Frames.PING, 0, 0, new byte[8]);
            h2.next(Frames.PING);
            begun.countDown();
            more.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS);
            // After two of four were answered, two remain: no other begins.
            h2.respond(open[0].stream(), open[0].path());
            h2.respond(open[1].stream(), open[1].path());
            h2.frame(Frames.PING, 0, 0, new byte[8]);
            Http2Peer.Frame frame;
            do {
                frame = h2.next();
                assertTrue(frame.type() != Frames.HEADERS, "a stream beyond the limit");
            } while (frame.type() != Frames.PING);
            h2.respond(open[2].stream(), open[2].path());
            Http2Peer.Request fifth = h2.nextRequest();
            h2.respond(open[3].stream(), open[3].path());
            Http2Peer.Request sixth = h2.nextRequest();
            h2.respond(fifth.stream(), fifth.path());
            h2.respond(sixth.stream(), sixth.path());
            h2.echo();
        })) {
            List<RecordedResponse> responses = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                String path = "/" + i;
                responses.add(start(h2(origin, builder -> builder.target(path).settings(one))));
                if (i == 3) {
                    assertTrue(begun.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS));
                }
            }
            assertEquals(2L, onLoop(() -> client.statistics().callsWaiting()));
            more.countDown();
            for (int i = 0; i < 6; i++) {
                assertEquals("/" + i, responses.get(i).awaitComplete().content());
            }
            assertEquals(1, origin.connectionsAccepted());
            assertEquals(0L, onLoop(() -> client.statistics().http2NotProcessed()));
        }
    }

    /**
     * Content in small frames is copied together while its reader pauses. Otherwise each frame would keep its whole
     * receive buffer.
     */
    @Test
    void smallFramesAreHeldTogether() throws Exception {
        int frames = 10_000;
        CountDownLatch sent = new CountDownLatch(1);
        try (ScriptedOrigin origin = ScriptedOrigin.running(peer -> {
            Http2Peer h2 = Http2Peer.begin(peer);
            Http2Peer.Request request = h2.nextRequest();
            h2.headers(request.stream(), false, ":status", "200");
            for (int i = 0; i < frames; i++) {
                h2.data(request.stream(), String.valueOf(i % 10), false);
            }
            h2.frame(Frames.PING, 0, 0, new byte[8]);
            h2.next(Frames.PING);
            sent.countDown();
            h2.data(request.stream(), "end", true);
            h2.next(Frames.HEADERS);
        })) {
            AtomicInteger pieces = new AtomicInteger();
            RecordedResponse response = new RecordedResponse() {
                @Override
                public void onContent(ByteBuf piece) {
                    pieces.incrementAndGet();
                    super.onContent(piece);
                }
            };
            OriginCall[] calls = new OriginCall[1];
            runOnLoop(() -> {
                calls[0] = client.fetch(h2(origin, "/"), response);
                calls[0].pauseReading();
            });
            assertTrue(sent.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS));
            runOnLoop(calls[0]::resumeReading);
            assertEquals(
                    "0123456789".repeat(frames / 10) + "end",
                    response.awaitComplete().content());
            assertTrue(pieces.get() < 100, "pieces: " + pieces);
        }
    }
}
