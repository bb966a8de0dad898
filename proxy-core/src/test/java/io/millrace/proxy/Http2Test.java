package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.HEADERS;
import static io.millrace.proxy.http2.Http2Client.PING;
import static io.millrace.proxy.http2.Http2Client.RST_STREAM;
import static io.millrace.proxy.http2.Http2Client.WINDOW_UPDATE;
import static io.millrace.proxy.http2.Http2Client.number;
import static io.millrace.proxy.http2.Http2Client.request;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http2.Http2Client;
import io.millrace.proxy.observe.Counter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** Tests HTTP/2 by prior knowledge: requests and responses. */
class Http2Test extends Http2Fixture {
    @Test
    void missesAndHitsHaveTheSameResponse() throws Exception {
        byte[] content = ProxyExtension.content(30_000);
        start(request -> request.ok("Cache-Control: max-age=600\r\nX-A: b\r\n", content));
        Http2Client client = client();
        for (int id = 1; id < 9; id += 2) {
            Http2Client.Response response = client.get(id, "/a").response(id);
            assertEquals(200, response.status());
            assertEquals("b", response.field("x-a"));
            assertEquals("30000", response.field("content-length"));
            assertArrayEquals(content, response.content());
        }
        assertEquals(1, proxy.origin().requests());
        assertEquals(4, proxy.counted(Counter.HTTP2_REQUESTS));
        assertEquals(1, proxy.counted(Counter.HTTP2_CONNECTIONS));
        assertEquals(
                200,
                client.headers(11, true, request("HEAD", "/a")).response(11).status());
    }

    @Test
    void largeBodiesPassUnchangedBesideEachOther() throws Exception {
        byte[] content = ProxyExtension.content(3_000_000);
        start(request -> request.ok(request.has("/stored") ? "Cache-Control: max-age=600\r\n" : "", content));
        Http2Client client = client();
        for (int id = 1; id < 9; id += 4) {
            assertArrayEquals(content, client.get(id, "/stored").response(id).content());
            assertArrayEquals(
                    content, client.get(id + 2, "/n" + id).response(id + 2).content());
        }
    }

    @Test
    void requestContentPassesAndIsCounted() throws Exception {
        start(request -> {
            int length = Integer.parseInt(RawClient.field(request.head(), "content-length"));
            byte[] content = request.in().read(length);
            request.ok("X-Length: " + length + "\r\n", content);
        });
        byte[] content = ProxyExtension.content(200_000);
        Http2Client client = client();
        client.headers(1, false, request("POST", "/p", "content-length", "200000"));
        int window = 65_535;
        for (int at = 0; at < content.length; ) {
            int next = Math.min(Math.min(16_384, content.length - at), window);
            client.data(1, at + next == content.length, java.util.Arrays.copyOfRange(content, at, at + next));
            at += next;
            window -= next;
            while (window == 0 && at < content.length) {
                Http2Client.Frame frame = client.await(WINDOW_UPDATE);
                window += frame.streamId() == 1
                        ? java.nio.ByteBuffer.wrap(frame.payload()).getInt()
                        : 0;
            }
        }
        Http2Client.Response response = client.response(1);
        assertEquals("200000", response.field("x-length"));
        assertArrayEquals(content, response.content());
    }

    /** The origin receives an HTTP/1.1 request, each part of which was re-encoded. */
    @Test
    void originsGetOneUnambiguousRequest() throws Exception {
        start(request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head())));
        String head = client().get(1, "/p?q=1", "accept", "*/*", "cookie", "a=1", "cookie", "b=2", "te", "trailers")
                .response(1)
                .text();
        assertTrue(head.startsWith("GET /p?q=1 HTTP/1.1\r\n"), head);
        assertTrue(head.contains("cookie: a=1; b=2\r\n"), head);
        assertTrue(head.contains("Via: 2.0 millrace"), head);
        assertFalse(head.contains(":path"), head);
        assertFalse(head.toLowerCase(java.util.Locale.ROOT).contains("transfer-encoding"), head);
    }

    @Test
    void interimResponsesArePassedOn() throws Exception {
        start(request -> {
            request.send("HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n");
            request.ok("Cache-Control: no-store\r\n", new byte[] {'x'});
        });
        Http2Client client = client().get(1, "/hints");
        String interim = Http2Client.decode(client.await(HEADERS).payload());
        assertEquals(":status: 103\nlink: </s.css>; rel=preload\n", interim);
        assertEquals("x", client.response(1).text());
    }

    @Test
    void trailersOfARequestEndIt() throws Exception {
        start(request -> {
            request.in().readChunked();
            request.ok("", new byte[] {'y'});
        });
        Http2Client client = client();
        client.headers(1, false, request("POST", "/t")).data(1, false, new byte[] {1, 2});
        assertEquals("y", client.headers(1, true, "x-sum", "2").response(1).text());
    }

    @Test
    void resetsReachTheOrigin() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);
        start(request -> {
            request.awaitClose();
            gone.countDown();
        });
        Http2Client client = client().get(1, "/r");
        ProxyExtension.await("the origin's request", () -> proxy.origin().requests() == 1);
        client.frame(RST_STREAM, 0, 1, number(8));
        ProxyExtension.await("the end at the origin", () -> gone.getCount() == 0);
        // The reply to the ping arrives after the reset and its counter were processed.
        client.frame(PING, 0, 0, new byte[8]);
        assertNotNull(client.await(PING));
        assertEquals(1, proxy.counted(Counter.HTTP2_RESETS));
    }

    @Test
    void connectIsOffByDefault() throws Exception {
        start(request -> request.ok("", new byte[1]));
        Http2Client client = client();
        client.headers(1, false, ":method", "CONNECT", ":authority", "test.example:80");
        assertEquals("status 405", client.outcome());
        assertEquals(0, proxy.origin().requests());
    }

    @Test
    void http1WorksOnTheSameAddress() throws Exception {
        start(request -> request.ok("Cache-Control: max-age=600\r\n", new byte[] {'1'}));
        try (RawClient client = new RawClient(proxy.proxy().addresses().get(1))) {
            assertEquals("1", client.get("/a").response().text());
            assertEquals("1", client.get("/a").response().text());
            assertEquals(400, client.send("GET /a HTTP/1.1\r\n\r\n").response().status());
        }
        try (RawClient client = new RawClient(proxy.proxy().addresses().get(1))) {
            client.send("INVALID PREFACE\r\n\r\n");
            assertNull(client.in.readHead());
        }
        try (RawClient client = new RawClient(proxy.proxy().addresses().get(1))) {
            client.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertNull(client.in.readHead());
        }
    }
}
