package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Tests which methods are permitted, by rule, and the two methods with Max-Forwards (RFC 9110 s7.6.2, s9.3.6 to 9.3.8,
 * s15.5.6).
 */
class MethodRulesTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    /** Answers with the received head. */
    private void start(String... methods) throws IOException {
        proxy.start(
                request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head())),
                config -> methods.length == 0 ? config : config.set(ConfigKeys.METHODS, List.of(methods)));
    }

    private RawClient.Response request(String method, String target, String... fields) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            return client.send(method + " " + target + " HTTP/1.1\r\nHost: test.example\r\n" + String.join("", fields)
                            + "\r\n")
                    .response();
        }
    }

    @Test
    void allMethodsButTwoPassWhereTheRuleHasNoList() throws Exception {
        start();
        for (String method : List.of("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "get", "X-1")) {
            RawClient.Response response = request(method, "/a");
            assertEquals(200, response.status(), method);
            assertTrue(response.text().startsWith(method + " /a HTTP/1.1\r\n"), response.text());
        }
        for (String target : List.of("TRACE /a", "CONNECT test.example:443")) {
            String[] parts = target.split(" ", -1);
            RawClient.Response refused = request(parts[0], parts[1]);
            assertEquals(405, refused.status());
            assertEquals("GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH", refused.field("allow"));
        }
    }

    @Test
    void ruleWithAListAdmitsItsNames() throws Exception {
        start("GET", "PURGE-ALL");
        assertEquals(200, request("GET", "/a").status());
        assertEquals(200, request("PURGE-ALL", "/a").status());
        for (String method : List.of("POST", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "PROPFIND")) {
            RawClient.Response refused = request(method, method.equals("CONNECT") ? "test.example:1" : "/a");
            assertEquals(405, refused.status(), method);
            assertTrue(refused.field("allow").startsWith("GET, "), method);
        }
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void ruleHasItsOwnList() throws Exception {
        proxy.start(
                request -> request.ok("", RawInput.latin1("x")),
                config -> config.map(
                        "http://test.example/api/",
                        "http://127.0.0.1:1/",
                        ConfigValues.builder()
                                .set(ConfigKeys.METHODS, List.of("POST"))
                                .build()));
        assertEquals(405, request("GET", "/api/x").status());
        assertEquals("POST", request("GET", "/api/x").field("allow"));
        assertEquals(502, request("POST", "/api/x", "Content-Length: 0\r\n").status());
        assertEquals(200, request("GET", "/apx").status());
    }

    @Test
    void optionsWithoutAHopLeftIsAnsweredHere_rfc9110_s7_6_2() throws Exception {
        start();
        for (String target : List.of("/a", "*")) {
            RawClient.Response response = request("OPTIONS", target, "Max-Forwards: 0\r\n");
            assertEquals(200, response.status(), target);
            assertEquals("GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH", response.field("allow"));
            assertEquals("0", response.field("content-length"));
        }
        assertEquals(0, proxy.origin().requests());
    }

    @Test
    void hopsAreCountedDownForOptionsAndTraceOnly_rfc9110_s7_6_2() throws Exception {
        start("GET", "OPTIONS", "TRACE");
        assertTrue(request("OPTIONS", "/a", "Max-Forwards: 10\r\n").text().contains("Max-Forwards: 9\r\n"));
        assertTrue(request("TRACE", "/a", "Max-Forwards: 1\r\n").text().contains("Max-Forwards: 0\r\n"));
        assertTrue(request("GET", "/a", "Max-Forwards: 5\r\n").text().contains("Max-Forwards: 5\r\n"));
        assertTrue(request("OPTIONS", "/a", "Max-Forwards: x\r\n").text().contains("Max-Forwards: x\r\n"));
        assertTrue(request("OPTIONS", "*", "Max-Forwards: 2\r\n").text().startsWith("OPTIONS * HTTP/1.1\r\n"));
    }

    @Test
    void traceWithoutAHopLeftShowsTheRequestWithoutItsSecrets_rfc9110_s9_3_8() throws Exception {
        start("TRACE");
        RawClient.Response response = request(
                "TRACE",
                "/a?b",
                "Max-Forwards: 0\r\n",
                "Cookie: secret\r\n",
                "Authorization: secret\r\n",
                "X-Y: z\r\n");
        assertEquals(200, response.status());
        assertEquals("message/http", response.field("content-type"));
        assertTrue(response.text().startsWith("TRACE http://test.example/a?b HTTP/1.1\r\n"), response.text());
        assertTrue(response.text().contains("X-Y: z\r\n"));
        assertFalse(response.text().contains("secret"));
        assertEquals(0, proxy.origin().requests());
    }

    @Test
    void traceWithContentIsRefused_rfc9110_s9_3_8() throws Exception {
        start("TRACE");
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("TRACE /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 5\r\n\r\nhello");
            RawClient.Response refused = client.response();
            assertEquals(400, refused.status());
            assertNull(refused.field("allow"));
            assertEquals(0, client.in.readToEnd().length);
        }
        assertEquals(0, proxy.origin().requests());
    }

    @Test
    void fieldsOfOneConnectionStayOnIt_rfc9110_s7_6_1() throws Exception {
        proxy.start(request -> request.ok(
                "Connection: X-Hop, Cache-Control, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: timeout=9\r\nProxy-Connection: x\r\n"
                        + "Upgrade: h2c\r\nTrailer: x\r\nTE: x\r\nCache-Control: no-store\r\nX-End: 1\r\n",
                RawInput.latin1(request.head())));
        RawClient.Response response = request(
                "GET",
                "/a",
                "Connection: X-Hop, close, Cookie, Via, X-Forwarded-For, Accept-Encoding\r\n",
                "X-Hop: 1\r\nCookie: a=b\r\nAccept-Encoding: gzip\r\nKeep-Alive: timeout=1\r\nTE: deflate\r\n",
                "Upgrade: websocket\r\nProxy-Connection: close\r\nHTTP2-Settings: AAA\r\nX-End: 1\r\n");
        for (String gone :
                List.of("X-Hop", "Keep-Alive", "Proxy-Connection", "TE: ", "Upgrade", "HTTP2-Settings", "Trailer")) {
            assertFalse(response.text().contains(gone), gone + " in " + response.text());
            assertFalse(response.head().contains(gone), gone + " in " + response.head());
        }
        for (String kept : List.of(
                "Cookie: a=b\r\n", "Accept-Encoding: gzip\r\n", "X-End: 1\r\n", "Via: 1.1 ", "X-Forwarded-For: ")) {
            assertTrue(response.text().contains(kept), kept + " in " + response.text());
        }
        assertEquals("no-store", response.field("cache-control"));
        assertEquals("1", response.field("x-end"));
    }
}
