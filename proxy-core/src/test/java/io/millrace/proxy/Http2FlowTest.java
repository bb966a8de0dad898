package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.DATA;
import static io.millrace.proxy.http2.Http2Client.END_STREAM;
import static io.millrace.proxy.http2.Http2Client.HEADERS;
import static io.millrace.proxy.http2.Http2Client.PING;
import static io.millrace.proxy.http2.Http2Client.PRIORITY_UPDATE;
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
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests flow control and the order of responses on one HTTP/2 connection. */
class Http2FlowTest extends Http2Fixture {
    /** Content waits for the windows of the stream and the connection, also for hits in RAM. */
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
        // The remaining window of the connection.
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

    /** A window that stays closed buffers no more of the origin's response than a stream may use. */
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
        // The stream's queue, the tee's window and the kernel's buffers.
        client.frame(PING, 0, 0, new byte[8]).await(PING);
        client.reset();
        assertTrue(sent.get() < 128L * chunk, () -> "sent " + sent.get());
    }

    /** No stream is reset before its timeout, and other streams continue. */
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
        // The connection's window is now closed, and the stream's window is open.
        client.frame(SETTINGS, 0, 0, setting(4, 1_000_000));
        client.get(5, "/a").get(7, "/b").get(9, "/c");
        assertEquals("CANCEL", client.await(RST_STREAM).error());
        client.frame(PING, 0, 0, new byte[8]).await(PING);
    }
    /** Responses with a higher urgency are sent first, from the first priority on that a client sends. */
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

    /** The client's view of its windows. */
    private static final class Windows {
        long connection = 65_535;
        long stream = 65_535;

        /** Sends content on stream 1 as far as the windows permit, and waits for more when they are used up. */
        void upload(Http2Client client, byte[] content, int from, int to) throws IOException {
            int at = from;
            while (at < to) {
                int next = (int) Math.min(Math.min(16_384, to - at), Math.min(connection, stream));
                if (next == 0) {
                    enlarge(client.await(WINDOW_UPDATE));
                } else {
                    client.data(1, at + next == content.length, Arrays.copyOfRange(content, at, at + next));
                    at += next;
                    connection -= next;
                    stream -= next;
                }
            }
        }

        /** Processes the window updates received so far. */
        void settle(Http2Client client) throws IOException {
            client.frame(PING, 0, 0, new byte[8]);
            Http2Client.Frame frame = client.read();
            while (frame.type() != PING) {
                if (frame.type() == WINDOW_UPDATE) {
                    enlarge(frame);
                }
                frame = client.read();
            }
        }

        private void enlarge(Http2Client.Frame update) {
            int by = ByteBuffer.wrap(update.payload()).getInt();
            connection += update.streamId() == 0 ? by : 0;
            stream += update.streamId() == 1 ? by : 0;
        }
    }

    /** The window of an upload follows the setting or the available memory, and never stays closed. */
    @ParameterizedTest
    @CsvSource({"64KiB, 8MiB", "8MiB, 64KiB"})
    void uploadsContinueWhenTheirWindowChanges(String before, String after) throws Exception {
        byte[] content = ProxyExtension.content(3_000_000);
        start(
                request ->
                        request.ok("Cache-Control: no-store\r\n", request.in().read(content.length)),
                config -> config.set("http2.stream_window", before));
        Http2Client client = client();
        client.headers(1, false, request("POST", "/p", "content-length", String.valueOf(content.length)));
        Windows windows = new Windows();
        windows.upload(client, content, 0, 40_000);
        // The window of the first piece has been announced.
        windows.settle(client);
        proxy.reload(config -> withHttp2(config).set("http2.stream_window", after));
        windows.upload(client, content, 40_000, content.length);
        assertArrayEquals(content, client.response(1).content());
    }

    /**
     * A client that shares a fetch and reads nothing does not slow down other clients. It reads from the volume later.
     */
    @Test
    void aFollowerWithAClosedWindowDelaysNoOtherReader(@TempDir Path directory) throws Exception {
        byte[] content = ProxyExtension.content(3_000_000);
        start(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 3000000\r\n\r\n");
                    go.await();
                    request.send(content);
                },
                config -> config.storage(directory, 96 << 20));
        Http2Client slow = client();
        slow.frame(SETTINGS, 0, 0, setting(4, 0)).get(1, "/shared");
        slow.await(HEADERS);
        Http2Client fast = client();
        fast.frame(SETTINGS, 0, 0, setting(4, 10_000_000)).frame(WINDOW_UPDATE, 0, 0, number(10_000_000));
        fast.get(1, "/shared").await(HEADERS);
        go.countDown();
        assertArrayEquals(content, content(fast));
        slow.frame(SETTINGS, 0, 0, setting(4, 10_000_000)).frame(WINDOW_UPDATE, 0, 0, number(10_000_000));
        assertArrayEquals(content, content(slow));
        assertEquals(1, proxy.origin().requests());
    }

    /** Returns content up to the end of the stream, of a client with large windows. */
    private static byte[] content(Http2Client client) throws IOException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        Http2Client.Frame frame;
        do {
            frame = client.await(DATA);
            all.writeBytes(frame.payload());
        } while ((frame.flags() & END_STREAM) == 0);
        return all.toByteArray();
    }

    /** INITIAL_WINDOW_SIZE changes the windows of open streams, also below zero (RFC 9113 s6.9.2). */
    @Test
    void theInitialWindowMayChangeWithinAResponse() throws Exception {
        byte[] content = ProxyExtension.content(2_000_000);
        start(request -> request.ok("Cache-Control: no-store\r\n", content));
        Http2Client client = client();
        client.frame(SETTINGS, 0, 0, setting(4, 100_000)).frame(WINDOW_UPDATE, 0, 0, number(50_000_000));
        client.get(1, "/a");
        int received = 0;
        while (received < 100_000) {
            received += client.await(DATA).payload().length;
        }
        assertEquals(100_000, received);
        client.frame(SETTINGS, 0, 0, setting(4, 0));
        // The window is now -100,000: this opens it by one byte.
        client.frame(WINDOW_UPDATE, 0, 1, number(100_001));
        assertEquals(1, client.await(DATA).payload().length);
        client.frame(SETTINGS, 0, 0, setting(4, Integer.MAX_VALUE));
        received++;
        Http2Client.Frame frame;
        do {
            frame = client.await(DATA);
            received += frame.payload().length;
        } while ((frame.flags() & END_STREAM) == 0);
        assertEquals(content.length, received);
    }
}
