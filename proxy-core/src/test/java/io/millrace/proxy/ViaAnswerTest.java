package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the fields about the proxy in responses: Via with the letters of the outcome, Server by policy, Age and Date.
 */
class ViaAnswerTest {
    private static final String FRESH = "Cache-Control: max-age=60\r\nETag: \"1\"\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private void start(String level, RawOrigin.Script script) throws IOException {
        proxy.start(script, config -> config.set("via.response", level));
    }

    private static void validating(RawOrigin.Exchange request) throws IOException {
        if (request.has("If-None-Match: \"1\"")) {
            request.send("HTTP/1.1 304 Not Modified\r\n" + FRESH + "\r\n");
        } else {
            request.ok(FRESH, RawInput.latin1("hello"));
        }
    }

    private static String codes(RawClient.Response response) {
        String via = response.field("via");
        assertNotNull(via, response.head());
        assertTrue(via.startsWith("1.1 millrace (Millrace [") && via.endsWith("])"), via);
        return via.substring("1.1 millrace (Millrace ".length(), via.length() - 1);
    }

    /** The two strings that operators of Traffic Server know best: of a first fetch, and of a hit on disk. */
    @Test
    void firstFetchAndDiskHitHaveTheStringsOfTrafficServer() throws Exception {
        try (RawOrigin origin = new RawOrigin(ViaAnswerTest::validating)) {
            ProxyConfig config = ProxyConfig.builder()
                    .listen("127.0.0.1:0")
                    .map("/", origin.url())
                    .storage(directory, 64 << 20)
                    .set("cache.ram_size", "32MiB")
                    .set("cache.refill_rate", "0")
                    .set("log.access.enabled", "false")
                    .set("worker.event_loops", "1")
                    .set("via.response", "3")
                    .build();
            assertEquals("[uScMsSfWpSeN:t cCMi p sS]", codes(once(config)));
            assertEquals("[uScHs f p eN:t cCHi p s ]", codes(once(config)));
            assertEquals(1, origin.requests());
        }
    }

    /** Starts a proxy, sends one request, and stops it. */
    private static RawClient.Response once(ProxyConfig config) throws Exception {
        try (ProxyServer server = ProxyServer.builder().config(config).build()) {
            server.start();
            try (RawClient client = new RawClient(server.addresses().get(0))) {
                return client.get("/a").response();
            }
        }
    }

    @Test
    void lettersEncodeTheOutcome() throws Exception {
        start("full", ViaAnswerTest::validating);
        assertEquals("[uScMsSfWpSeN:t cCMi p sS]", codes(proxy.get("/a")));
        assertEquals("[uScRs f p eN:t cCHi p s ]", codes(proxy.get("/a")));
        assertEquals("[uCcRs f p eN:t cCHi p s ]", codes(proxy.get("/a", "Cookie: a\r\n")));
        assertEquals("[uIcRs f pNeN:t cCNi p s ]", codes(proxy.get("/a", "If-None-Match: \"1\"\r\n")));
        // Because of the client's no-cache the origin confirmed it.
        assertEquals("[uNcSsNfUpReN:t cCSi p sS]", codes(proxy.get("/a", "Cache-Control: no-cache\r\n")));
        proxy.advanceSeconds(100);
        assertEquals("[uScSsNfUpReN:t cCSi p sS]", codes(proxy.get("/a")));
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("POST /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 0\r\n\r\n");
            assertEquals("[uSc sSf pSeN:tMc  i p sS]", codes(client.response()));
            client.send("TRACE /a HTTP/1.1\r\nHost: test.example\r\n\r\n");
            assertEquals("[uSc s f p eF:t c  i p s ]", codes(client.response()));
        }
    }

    @Test
    void failureOfTheOriginHasItsLetters() throws Exception {
        proxy.start(ViaAnswerTest::validating, config -> config.map("http://gone.example/", "http://127.0.0.1:1/")
                .set("via.response", "full"));
        try (RawClient client = new RawClient(proxy.address())) {
            RawClient.Response response =
                    client.send("GET /a HTTP/1.1\r\nHost: gone.example\r\n\r\n").response();
            assertEquals(502, response.status());
            assertEquals("[uScMsEf p eC:t cCMi p sF]", codes(response));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, ",
        "none, ",
        "1, 1.1 millrace",
        "2, 1.1 millrace (Millrace [cMsSfW])",
        "short, 1.1 millrace (Millrace [cMsSfW])",
        "3, 1.1 millrace (Millrace [uScMsSfWpSeN:t cCMi p sS])",
        "4, 1.1 millrace (Millrace [uScMsSfWpSeN:t cCMi p sS] [http/1.1 tcp ipv4])",
        "stack, 1.1 millrace (Millrace [uScMsSfWpSeN:t cCMi p sS] [http/1.1 tcp ipv4])"
    })
    void levelControlsTheAmount(String level, String expected) throws Exception {
        start(level, ViaAnswerTest::validating);
        assertEquals(expected, proxy.get("/a").field("via"));
    }

    @Test
    void requestsToTheOriginHaveALevelOfTheirOwn() throws Exception {
        proxy.start(
                request -> request.ok("Via: 1.0 inner\r\n", RawInput.latin1(request.head())),
                config -> config.set("via.request", "full").set("via.name", "edge-1"));
        RawClient.Response response = proxy.get("/a", "Via: 1.1 outer\r\n");
        assertTrue(response.text().contains("\r\nVia: 1.1 outer\r\n"), response.text());
        assertTrue(
                response.text().contains("\r\nVia: 1.1 edge-1 (Millrace [uScMs f p eN:t cCMi p s ])\r\n"),
                response.text());
        // Values from the origin's response are kept, and this proxy's value is appended.
        assertTrue(response.head().contains("Via: 1.0 inner\r\n"), response.head());
        assertTrue(response.head().indexOf("1.0 inner") < response.head().indexOf("1.1 edge-1"), response.head());
        assertEquals(508, proxy.get("/b", "Via: 1.1 EDGE-1 (x)\r\n").status());
        assertEquals(200, proxy.get("/b", "Via: 1.1 millrace\r\n").status());
    }

    @Test
    void requestsToTheOriginSayNothingAtLevelNone() throws Exception {
        proxy.start(
                request -> request.ok("", RawInput.latin1(request.head())),
                config -> config.set("via.request", "none"));
        String seen = proxy.get("/a").text();
        assertTrue(!seen.contains("Via:"), seen);
    }

    @ParameterizedTest
    @CsvSource({
        "pass, Server: nginx, nginx, millrace",
        "pass, X: y, , millrace",
        "missing, Server: nginx, nginx, millrace",
        "missing, X: y, millrace, millrace",
        "own, Server: nginx, millrace, millrace",
        "own, X: y, millrace, millrace",
        "off, Server: nginx, , ",
        "off, X: y, , "
    })
    void serverFollowsThePolicyFetchedStoredRevalidatedAndLocal(
            String policy, String field, String expected, String local) throws Exception {
        proxy.start(
                request -> {
                    String more = FRESH + field + "\r\n";
                    if (request.has("If-None-Match")) {
                        request.send("HTTP/1.1 304 Not Modified\r\n" + more + "\r\n");
                    } else {
                        request.ok(more, RawInput.latin1("hello"));
                    }
                },
                config -> config.set("via.server", policy));
        assertEquals(expected, proxy.get("/a").field("server"));
        assertEquals(expected, proxy.get("/a").field("server"));
        proxy.advanceSeconds(100);
        assertEquals(expected, proxy.get("/a").field("server"));
        assertEquals(expected, proxy.get("/a").field("server"));
        assertEquals(2, proxy.origin().requests());
        try (RawClient client = new RawClient(proxy.address())) {
            assertEquals(
                    local,
                    client.send("TRACE / HTTP/1.1\r\nHost: a\r\n\r\n")
                            .response()
                            .field("server"));
            assertEquals(local, client.send("X\r\n\r\n").response().field("server"));
        }
    }

    @Test
    void storedAnswersHaveAgeAndAllHaveADate() throws Exception {
        start("name", ViaAnswerTest::validating);
        RawClient.Response first = proxy.get("/a");
        assertNull(first.field("age"));
        assertEquals("Thu, 01 Jan 2026 00:00:00 GMT", first.field("date"));
        proxy.advanceSeconds(7);
        for (String field : new String[] {"", "If-None-Match: \"1\"\r\n", "Range: bytes=0-1\r\n"}) {
            RawClient.Response stored = proxy.get("/a", field);
            assertEquals("7", stored.field("age"), field);
            assertEquals("Thu, 01 Jan 2026 00:00:00 GMT", stored.field("date"), field);
        }
        proxy.advanceSeconds(100);
        assertEquals("0", proxy.get("/a").field("age"));
        assertNotNull(proxy.get("http://test.example/").field("date"));
    }
}
