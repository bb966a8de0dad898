package io.millrace.proxy;

import static io.millrace.proxy.http2.Http2Client.request;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.Http2Keys;
import io.millrace.proxy.http2.Http2Client;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests the forwarding of origins' trailers to clients of both protocols (RFC 9110 s6.5, RFC 9112 s7.1.2, RFC 9113
 * s8.1).
 */
class TrailersTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final List<String> heads = new CopyOnWriteArrayList<>();

    @BeforeEach
    void start() throws IOException {
        RawOrigin.Script script = request -> {
            heads.add(request.head());
            String stored = request.has(" /stored ") ? "max-age=600" : "no-store";
            String content = request.has(" /empty ") ? "" : "5\r\nhello\r\n";
            request.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nCache-Control: " + stored + "\r\n\r\n");
            request.send(content + "0\r\nX-Sum: 5\r\nContent-Length: 99\r\nSet-Cookie: a=b\r\ngrpc-status: 0\r\n"
                    + (request.has(" /faulty ") ? "X-A : 1\r\n" : "") + "\r\n");
        };
        proxy.start(
                script,
                fresh -> fresh.listen(
                        "127.0.0.1:0",
                        ConfigValues.builder().set(Http2Keys.LISTEN_CLEAR, true).build()));
    }

    private Http2Client http2() throws IOException {
        return new Http2Client(proxy.proxy().addresses().get(1));
    }

    private static String te(String head) {
        return head.contains("Connection: TE\r\nTE: trailers\r\n") ? "TE" : "none";
    }

    @Test
    void clientsOfHttp2GetThemBehindContentAndWithoutContent() throws Exception {
        try (Http2Client client = http2()) {
            int id = 1;
            for (String path : List.of("/a", "/empty", "/stored")) {
                Http2Client.Response response =
                        client.get(id, path, "te", "trailers").response(id);
                assertEquals(path.equals("/empty") ? "" : "hello", response.text());
                assertEquals("x-sum: 5\ngrpc-status: 0\n", response.trailers());
                id += 2;
            }
            // Trailers are not stored.
            assertEquals(
                    "", client.get(id, "/stored", "te", "trailers").response(id).trailers());
        }
        assertEquals(
                List.of("TE", "TE", "TE"), heads.stream().map(TrailersTest::te).toList());
    }

    @Test
    void clientsThatDoNotTakeThemGetNone() throws Exception {
        try (Http2Client client = http2()) {
            Http2Client.Response response = client.get(1, "/a").response(1);
            assertEquals("hello", response.text());
            assertEquals("", response.trailers());
            client.headers(3, true, request("HEAD", "/a", "te", "trailers"));
            assertEquals("", client.response(3).trailers());
        }
        assertEquals("hello", proxy.get("/a").text());
        assertEquals(
                List.of("none", "TE", "none"),
                heads.stream().map(TrailersTest::te).toList());
    }

    @Test
    void clientsOfHttp1GetThemBehindTheLastChunk() throws Exception {
        RawClient client = proxy.client().get("/a", "Connection: TE\r\nTE: trailers\r\n");
        assertEquals(200, client.head().status());
        assertEquals(
                List.of("5", "hello", "0", "X-Sum: 5", "grpc-status: 0", ""),
                List.of(
                        client.in.readLine(),
                        client.in.readLine(),
                        client.in.readLine(),
                        client.in.readLine(),
                        client.in.readLine(),
                        client.in.readLine()));
        assertEquals("hello", client.get("/a").response().text());
        assertEquals(List.of("TE", "none"), heads.stream().map(TrailersTest::te).toList());
    }

    @Test
    void aTrailerInAnotherFormIsWrittenAnew() throws Exception {
        try (Http2Client client = http2()) {
            Http2Client.Response response =
                    client.get(1, "/faulty", "te", "trailers").response(1);
            assertEquals("hello", response.text());
            assertEquals("x-sum: 5\ngrpc-status: 0\nx-a: 1\n", response.trailers());
        }
    }
}
