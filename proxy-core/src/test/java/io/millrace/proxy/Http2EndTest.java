package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.DATA;
import static io.millrace.proxy.http2.Http2Client.END_STREAM;
import static io.millrace.proxy.http2.Http2Client.GOAWAY;
import static io.millrace.proxy.http2.Http2Client.SETTINGS;
import static io.millrace.proxy.http2.Http2Client.WINDOW_UPDATE;
import static io.millrace.proxy.http2.Http2Client.number;
import static io.millrace.proxy.http2.Http2Client.request;
import static io.millrace.proxy.http2.Http2Client.setting;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.http2.Http2Client;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the end of HTTP/2 connections: drained, idle, or with a slow client. */
class Http2EndTest extends Http2Fixture {
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
        assertNull(client.read());
    }

    /** A drain loses no request: those that have begun are answered, and later ones may go elsewhere. */
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

    /**
     * The last response of a connection is complete, however slowly its client reads the written bytes. The lengths
     * differ, so that for some clients the end of the content is already written and waits.
     */
    @Test
    void theLastResponseReachesASlowClient() throws Exception {
        start(
                request -> {
                    int length = Integer.parseInt(request.head().replaceFirst("(?s)GET /(\\d+) .*", "$1"));
                    request.ok("Cache-Control: no-store\r\n", ProxyExtension.content(length));
                },
                config -> config.set("limits.requests_per_connection", "1"));
        List<Http2Client> slow = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Socket socket = new Socket();
            socket.setReceiveBufferSize(4096);
            socket.connect(proxy.proxy().addresses().get(1));
            Http2Client client = keep(new Http2Client(socket));
            client.frame(SETTINGS, 0, 0, setting(4, 10_000_000)).frame(WINDOW_UPDATE, 0, 0, number(10_000_000));
            client.get(1, "/" + length(i));
            slow.add(client);
        }
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(4500);
        ProxyExtension.await("longer than a connection without bytes to send lingers", () -> System.nanoTime() > end);
        for (int i = 0; i < slow.size(); i++) {
            assertEquals(length(i), slow.get(i).response(1).content().length);
        }
    }

    private static int length(int client) {
        return 30_000 + 30_000 * client;
    }
}
