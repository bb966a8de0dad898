package io.millrace.proxy.fetch;

import io.millrace.proxy.http2.frame.Frames;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * An origin with HTTP/1.1 and HTTP/2 without TLS that reports its connection. An HTTP/2 connection ends after each
 * response, so that the next request uses new settings.
 *
 * <ul>
 *   <li>{@code /hold…} waits for a probe;
 *   <li>{@code /probe…} reports whether it arrived on the connection of the waiting request: {@code same} or
 *       {@code other};
 *   <li>{@code /echo…} answers each piece of content with the same piece at once, and ends with trailers;
 *   <li>{@code /cut-…} aborts the first response to that path by a reset, an end of the connection or a short content;
 *       later ones are {@code whole}, and storable;
 *   <li>all others answer {@code version=V window=W}.
 * </ul>
 */
public final class Http2Origin implements AutoCloseable {
    private final ScriptedOrigin origin = ScriptedOrigin.running(this::serve);
    private final Map<String, Integer> cuts = new ConcurrentHashMap<>();
    private volatile CountDownLatch held = new CountDownLatch(1);
    private volatile CountDownLatch probed = new CountDownLatch(1);

    public Http2Origin() throws IOException {}

    public int port() {
        return origin.port();
    }

    /** Returns the number of requests for an aborted path. */
    public int requests(String path) {
        return cuts.getOrDefault(path, 0);
    }

    /** Waits until a request is waiting. */
    public void awaitHeld() throws InterruptedException {
        if (!held.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("no request is held");
        }
    }

    private void serve(ScriptedOrigin.Peer peer) throws Exception {
        if (!peer.read(3).equals("PRI")) {
            peer.readHead();
            peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\nversion=1");
            return;
        }
        peer.read(21);
        Http2Peer h2 = Http2Peer.afterPreface(peer);
        Http2Peer.Request request = h2.nextRequest();
        if (request == null) {
            return;
        }
        if (request.path().startsWith("/hold")) {
            hold(h2, request);
        } else if (request.path().startsWith("/probe")) {
            h2.respond(request.stream(), "other");
            probed.countDown();
        } else if (request.path().startsWith("/echo")) {
            echo(h2, request.stream());
        } else if (request.path().startsWith("/cut-")) {
            cut(h2, request);
            if (request.path().endsWith("-end")) {
                return;
            }
        } else {
            Integer window = h2.settings.get(Frames.SETTING_INITIAL_WINDOW_SIZE);
            h2.respond(request.stream(), "version=2 window=" + window);
        }
        h2.goAway(request.stream(), 0);
        peer.readToEnd();
    }

    private void cut(Http2Peer h2, Http2Peer.Request request) throws IOException {
        String path = request.path();
        int stream = request.stream();
        boolean whole = cuts.merge(path, 1, Integer::sum) > 1;
        String[] head = {":status", "200", "cache-control", "max-age=600", "content-type", "application/grpc"};
        if (path.contains("-length") || whole) {
            head = Arrays.copyOf(head, head.length + 2);
            head[head.length - 2] = "content-length";
            head[head.length - 1] = "5";
        }
        h2.headers(stream, false, head);
        h2.data(stream, whole ? "whole" : "who", whole || path.endsWith("-short"));
        if (!whole && path.endsWith("-reset")) {
            h2.reset(stream, 2);
        }
    }

    private static void echo(Http2Peer h2, int stream) throws IOException {
        h2.headers(stream, false, ":status", "200", "content-type", "application/grpc");
        Http2Peer.Frame frame;
        do {
            frame = h2.next(Frames.DATA);
            if (frame != null) {
                h2.frame(Frames.DATA, 0, stream, frame.payload());
            }
        } while (frame != null && !frame.endsStream());
        if (frame != null) {
            h2.headers(stream, true, "grpc-status", "0");
        }
    }

    private void hold(Http2Peer h2, Http2Peer.Request request) throws Exception {
        held.countDown();
        answerProbe(h2);
        if (!probed.await(RecordedResponse.WAIT_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("no probe came");
        }
        held = new CountDownLatch(1);
        probed = new CountDownLatch(1);
        h2.respond(request.stream(), "held");
    }

    private void answerProbe(Http2Peer h2) throws Exception {
        while (probed.getCount() > 0) {
            if (h2.isReadable()) {
                Http2Peer.Frame frame = h2.next();
                if (frame.type() == Frames.HEADERS) {
                    h2.respond(h2.request(frame).stream(), "same");
                    probed.countDown();
                }
            } else {
                probed.await(5, TimeUnit.MILLISECONDS);
            }
        }
    }

    @Override
    public void close() throws IOException {
        origin.close();
    }
}
