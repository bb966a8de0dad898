package io.millrace.system;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests HTTP/1.1 over real sockets: framing, connections, methods, limits (RFC 9110, RFC 9112). */
class WireRulesTest {

    private static final int BODY_LIMIT = 4 * 1024 * 1024;

    @RegisterExtension
    static final ScriptedOrigin origin = new ScriptedOrigin();

    @RegisterExtension
    static final PackedProduct product = PackedProduct.withLeakDetection();

    private static MillraceProcess proxy;

    @BeforeAll
    static void start() {
        origin.serves("/cached", "cached content", "Cache-Control: max-age=600");
        origin.serves("/uncached", "uncached content", "Cache-Control: no-store");
        origin.on(
                "/echo",
                exchange -> exchange.answer(
                        200,
                        exchange.request().body(),
                        "Cache-Control: no-store",
                        "X-Method: " + exchange.request().method()));
        proxy = product.launch()
                .origin(origin.url())
                .set("limits.request_body", "4MiB")
                .start();
    }

    @Test
    void rfc9112_9_3_2_pipelinedRequestsAreAnsweredInOrder() throws Exception {
        try (RawClient client = RawClient.connect(proxy.port())) {
            StringBuilder requests = new StringBuilder();
            for (int i = 0; i < 30; i++) {
                String path = i % 3 == 0 ? "/cached" : i % 3 == 1 ? "/uncached" : "/echo";
                if (path.equals("/echo")) {
                    String body = "body " + i;
                    requests.append("POST /echo HTTP/1.1\r\nHost: a.example\r\nContent-Length: ")
                            .append(body.length())
                            .append("\r\n\r\n")
                            .append(body);
                } else {
                    requests.append("GET ").append(path).append(" HTTP/1.1\r\nHost: a.example\r\n\r\n");
                }
            }
            client.send(requests.toString());
            for (int i = 0; i < 30; i++) {
                String expected = i % 3 == 0 ? "cached content" : i % 3 == 1 ? "uncached content" : "body " + i;
                assertEquals(expected, client.response().text(), "answer " + i);
            }
        }
    }

    @Test
    void rfc9112_9_3_connectionStaysOpenUntilClose() throws Exception {
        try (RawClient client = RawClient.connect(proxy.port())) {
            for (int i = 0; i < 5; i++) {
                assertEquals("cached content", client.get("/cached").response().text());
                assertEquals(
                        "uncached content", client.get("/uncached").response().text());
            }
            RawResponse last = client.get("/cached", "Connection: close").response();
            assertTrue(last.head().listContains("Connection", "close"), last::toString);
            assertTrue(client.reachesEnd());
        }
    }

    @Test
    void rfc9112_9_3_http10ClosesUnlessAskedToStay() throws Exception {
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send("GET /cached HTTP/1.0\r\nHost: a.example\r\n\r\n");
            assertEquals("cached content", client.response().text());
            assertTrue(client.reachesEnd());
        }
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send("GET /cached HTTP/1.0\r\nHost: a.example\r\nConnection: keep-alive\r\n\r\n");
            RawResponse response = client.response();
            assertEquals("cached content", response.text());
            assertTrue(response.head().listContains("Connection", "keep-alive"), response::toString);
            client.send("GET /uncached HTTP/1.0\r\nHost: a.example\r\n\r\n");
            assertEquals("uncached content", client.response().text());
        }
    }

    @Test
    void rfc9112_7_1_chunkedAnswersArriveWhole() throws Exception {
        origin.on("/chunked", exchange -> {
            exchange.head(200, "Cache-Control: max-age=600", "Transfer-Encoding: chunked");
            for (int i = 0; i < 100; i++) {
                exchange.chunk("chunk " + i + ";");
            }
            exchange.write("0\r\nX-Trailer: yes\r\n\r\n");
        });
        StringBuilder expected = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            expected.append("chunk ").append(i).append(';');
        }
        try (RawClient client = RawClient.connect(proxy.port())) {
            assertEquals(expected.toString(), client.get("/chunked").response().text());
            RawResponse hit = client.get("/chunked").response();
            assertEquals(expected.toString(), hit.text());
            assertTrue(hit.isHit(), hit::toString);
        }
        assertEquals(1, origin.count("/chunked"));
    }

    @Test
    void rfc9112_6_1_http10ClientsGetNoChunks() throws Exception {
        origin.on("/chunked-to-1.0", exchange -> {
            exchange.head(200, "Cache-Control: no-store", "Transfer-Encoding: chunked");
            exchange.chunk("one, ");
            exchange.chunk("two");
            exchange.lastChunk();
        });
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send("GET /chunked-to-1.0 HTTP/1.0\r\nHost: a.example\r\nConnection: keep-alive\r\n\r\n");
            RawResponse response = client.response();
            assertNull(response.field("Transfer-Encoding"), response::toString);
            assertEquals("one, two", response.text());
        }
    }

    @Test
    void rfc9112_6_3_answerUntilTheEndOfTheConnectionArrivesWhole() throws Exception {
        origin.on("/until-close", exchange -> {
            exchange.head(200, "Cache-Control: no-store");
            exchange.write("until the end");
            exchange.close();
        });
        try (RawClient client = RawClient.connect(proxy.port())) {
            assertEquals("until the end", client.get("/until-close").response().text());
        }
    }

    @Test
    void rfc9112_7_1_chunkedRequestsReachTheOriginWhole() throws Exception {
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.request("POST", "/echo", "Transfer-Encoding: chunked");
            client.send("5;name=value\r\nhello\r\n").send("00001\r\n \r\n").send("5\r\nworld\r\n");
            client.send("0\r\nX-Trailer: yes\r\n\r\n");
            assertEquals("hello world", client.response().text());
            assertEquals("cached content", client.get("/cached").response().text());
        }
    }

    @Test
    void largeBodyArrivesWholeInBothDirections() throws Exception {
        byte[] body = new byte[3 * 1024 * 1024];
        new Random(3).nextBytes(body);
        try (RawClient client = RawClient.connect(proxy.port())) {
            assertArrayEquals(
                    body, client.request("PUT", "/echo", body).response().body());
            assertEquals("cached content", client.get("/cached").response().text());
        }
    }

    @Test
    void rfc9110_9_3_2_headHasTheLengthAndNoBody() throws Exception {
        origin.serves("/head-cold", "twelve bytes", "Cache-Control: max-age=600");
        try (RawClient client = RawClient.connect(proxy.port())) {
            RawResponse cold = client.request("HEAD", "/head-cold").responseToHead();
            assertEquals("12", cold.field("Content-Length"), cold::toString);
            assertEquals("twelve bytes", client.get("/head-cold").response().text());
            RawResponse stored = client.request("HEAD", "/head-cold").responseToHead();
            assertEquals("12", stored.field("Content-Length"), stored::toString);
            assertTrue(stored.isHit(), stored::toString);
            assertEquals("twelve bytes", client.get("/head-cold").response().text());
        }
    }

    @Test
    void rfc9110_10_1_1_expectContinueIsAnsweredBeforeTheBody() throws Exception {
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.request("POST", "/echo", "Expect: 100-continue", "Content-Length: 5");
            Wire.Head go = client.head();
            assertEquals(100, RawResponse.statusOf(go), go::toString);
            client.send("hello");
            assertEquals("hello", client.response().text());
            assertEquals("cached content", client.get("/cached").response().text());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "GET", "REPORT"})
    void rfc9110_9_requestContentOfEveryMethodReachesTheOrigin(String method) throws Exception {
        try (RawClient client = RawClient.connect(proxy.port())) {
            byte[] body = ("content of " + method).getBytes(StandardCharsets.US_ASCII);
            RawResponse response = client.request(method, "/echo", body).response();
            assertEquals("content of " + method, response.text());
            assertEquals(method, response.field("X-Method"));
            assertEquals("cached content", client.get("/cached").response().text());
        }
    }

    @Test
    void rfc9110_9_3_8_traceNeverReachesTheOrigin() throws Exception {
        origin.serves("/trace", "");
        try (RawClient client = RawClient.connect(proxy.port())) {
            RawResponse response = client.request("TRACE", "/trace").response();
            assertTrue(response.status() >= 400, response::toString);
        }
        assertEquals(0, origin.count("/trace"));
    }

    @Test
    void rfc9110_15_5_15_longRequestLineGets414() throws Exception {
        assertEquals(
                200,
                RawClient.fetch(proxy.port(), "/cached?" + "q".repeat(6_000)).status());
        assertRefused(414, "GET /" + "p".repeat(9_000) + " HTTP/1.1\r\nHost: a.example\r\n\r\n");
    }

    @Test
    void rfc6585_5_longFieldSectionGets431() throws Exception {
        assertEquals(
                200,
                RawClient.fetch(proxy.port(), "/cached", "X-Long: " + "x".repeat(20_000))
                        .status());
        assertRefused(431, "GET / HTTP/1.1\r\nHost: a.example\r\nX-Long: " + "x".repeat(40_000) + "\r\n\r\n");
        assertRefused(431, "GET / HTTP/1.1\r\nHost: a.example\r\n" + "X-Many: some\r\n".repeat(4_000) + "\r\n");
    }

    @Test
    void rfc9110_15_5_14_longContentGets413() throws Exception {
        int before = origin.count("/echo");
        assertRefused(
                413, "POST /echo HTTP/1.1\r\nHost: a.example\r\nContent-Length: " + (BODY_LIMIT + 1) + "\r\n\r\n");
        assertEquals(before, origin.count("/echo"));
    }

    @Test
    void rfc9110_15_5_14_longChunkedContentGets413() throws Exception {
        int before = origin.count("/echo");
        String chunk = "10000\r\n" + "c".repeat(0x10000) + "\r\n";
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.request("POST", "/echo", "Transfer-Encoding: chunked");
            for (int sent = 0; sent <= BODY_LIMIT; sent += 0x10000) {
                client.send(chunk);
            }
            assertEquals(413, client.response().status());
        }
        assertEquals(before, origin.count("/echo"));
    }

    @Test
    void rfc9110_7_6_1_connectionFieldsEndAtTheProxy() throws Exception {
        origin.serves("/hops", "hops", "Connection: X-Hop-Out", "X-Hop-Out: 1", "X-End: 2", "Cache-Control: no-store");
        RawResponse response = RawClient.fetch(
                proxy.port(), "/hops", "Connection: keep-alive, X-Hop-In", "X-Hop-In: 1", "X-End: 2", "TE: trailers");
        assertNull(response.field("X-Hop-Out"), response::toString);
        assertEquals("2", response.field("X-End"));
        OriginRequest request = origin.requests("/hops").get(0);
        assertNull(request.field("X-Hop-In"), request::toString);
        assertEquals("2", request.field("X-End"));
    }

    @Test
    void rfc9110_7_6_3_viaNamesTheProxyInBothDirections() throws Exception {
        origin.serves("/via", "via", "Cache-Control: max-age=600", "Via: 1.0 farther");
        RawResponse response = RawClient.fetch(proxy.port(), "/via", "Via: 1.0 nearer");
        String outbound = response.joined("Via");
        assertTrue(outbound.matches("1\\.0 farther, (HTTP/)?1\\.1 .+"), outbound);
        String inbound = origin.requests("/via").get(0).head().joined("Via");
        assertTrue(inbound.matches("1\\.0 nearer, (HTTP/)?1\\.1 .+"), inbound);
    }

    @Test
    void rfc9112_3_2_originFormAndHostAreWhatTheOriginSees() throws Exception {
        // Equal keys mean equal requests to the origin: %7E is a tilde (RFC 3986 section 6.2.2.2).
        origin.serves("/a%2Fb/~c", "raw target", "Cache-Control: no-store");
        RawResponse response = RawClient.fetch(proxy.port(), "/a%2fb/%7Ec?x=%20&y=a+b");
        assertEquals("raw target", response.text());
        OriginRequest request = origin.requests("/a%2Fb/~c").get(0);
        assertEquals("/a%2Fb/~c?x=%20&y=a+b", request.target());
        assertEquals(List.of("127.0.0.1:" + origin.port()), request.head().values("Host"));
    }

    private static void assertRefused(int status, String request) throws IOException {
        try (RawClient client = RawClient.connect(proxy.port())) {
            client.send(request);
            RawResponse response = client.response();
            assertEquals(status, response.status(), response::toString);
            assertTrue(client.reachesEnd(), "the connection should end after " + status);
        }
        assertFalse(origin.malformed().stream().anyMatch(line -> line.contains("line")), () -> origin.malformed()
                .toString());
    }
}
