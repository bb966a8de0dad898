package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the published ways to make a shared cache give one client's response to another: fields that are not in the key
 * and change the response, different spellings of a path, and overridden methods. The origin of these tests uses
 * everything in a request and permits storing of every response.
 */
class PoisoningTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    /**
     * Answers with everything that an origin may act on: the request line and every field that the proxy did not add.
     */
    private static void credulous(RawOrigin.Exchange request) throws IOException {
        String length = RawClient.field(request.head(), "content-length");
        if (length != null) {
            request.in().read(Integer.parseInt(length));
        } else if (RawClient.field(request.head(), "transfer-encoding") != null) {
            request.in().readChunked();
        }
        StringBuilder content = new StringBuilder();
        for (String line : request.head().lines().toList()) {
            String lower = line.toLowerCase(Locale.ROOT);
            if (!lower.startsWith("via:") && !lower.startsWith("x-forwarded-for:")) {
                content.append(line).append('\n');
            }
        }
        request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1(content.toString()));
    }

    private RawClient.Response send(String request) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            return client.send(request).response();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "X-Forwarded-Host",
                "X-Forwarded-Scheme",
                "X-Forwarded-Proto",
                "X-Forwarded-Port",
                "X-Forwarded-Prefix",
                "X-Forwarded-Path",
                "X-Forwarded-Uri",
                "X-Forwarded-Server",
                "X-Forwarded-SSL",
                "X-Forwarded-By",
                "X-Forwarded",
                "Forwarded",
                "X-Host",
                "X-HTTP-Host-Override",
                "X-Original-URL",
                "X-Original-Host",
                "X-Rewrite-URL",
                "X-Rewrite-Uri",
                "X-HTTP-Method-Override",
                "X-HTTP-Method",
                "X-Method-Override",
                "X-Real-IP",
                "X-Client-IP",
                "Client-IP",
                "True-Client-IP",
                "X-Cluster-Client-IP",
                "CF-Connecting-IP",
                "Fastly-Client-IP",
                "X-Originating-IP",
                "X-Url-Scheme",
                "Front-End-Https",
                "Proxy",
                "x_forwarded_host",
                "X_Original_URL",
                "x-FORWARDED-hOST"
            })
    void fieldThatNoKeyHoldsDoesNotReachTheOrigin(String name) throws Exception {
        proxy.start(PoisoningTest::credulous);
        RawClient.Response attack = proxy.get("/a", name + ": evil.example\r\n");
        assertFalse(attack.text().contains("evil"), attack.text());
        RawClient.Response victim = proxy.get("/a");
        assertEquals(attack.text(), victim.text());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void wordOfATrustedProxyReachesTheOrigin() throws Exception {
        proxy.start(
                request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head())),
                config -> config.set("access.trusted_proxies", "10.0.0.0/8, 127.0.0.1"));
        String seen = proxy.get(
                        "/a",
                        "X-Forwarded-For: 192.0.2.1\r\n",
                        "X-Forwarded-Proto: https\r\n",
                        "X-Forwarded-Host: www.example\r\n",
                        "X-Original-URL: /b\r\n",
                        "Forwarded: for=192.0.2.1\r\n")
                .text();
        for (String field : List.of(
                "X-Forwarded-For: 192.0.2.1, 127.0.0.1",
                "X-Forwarded-Proto: https",
                "X-Forwarded-Host: www.example",
                "X-Original-URL: /b",
                "Forwarded: for=192.0.2.1")) {
            assertTrue(seen.contains("\r\n" + field + "\r\n"), field + " in " + seen);
        }
    }

    @Test
    void originGetsTheClientAddressFromTheProxyItself() throws Exception {
        proxy.start(
                request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head())),
                config -> config.set("access.trusted_proxies", "10.0.0.0/8")
                        .set(
                                "access.forwarded_fields",
                                "x-forwarded-for, x-forwarded-proto, x-forwarded-host, forwarded, client-ip"));
        String seen = proxy.get(
                        "/a", "X-Forwarded-For: 6.6.6.6\r\n", "Forwarded: for=6.6.6.6\r\n", "Client-IP: 6.6.6.6\r\n")
                .text();
        for (String field : List.of(
                "X-Forwarded-For: 127.0.0.1",
                "X-Forwarded-Proto: http",
                "X-Forwarded-Host: test.example",
                "Client-IP: 127.0.0.1",
                "Forwarded: for=127.0.0.1;proto=http;host=\"test.example\"")) {
            assertTrue(seen.contains("\r\n" + field + "\r\n"), field + " in " + seen);
        }
        assertFalse(seen.contains("6.6.6.6"), seen);
    }

    @Test
    void originGetsNothingWithoutASetting() throws Exception {
        proxy.start(
                request -> request.ok("Cache-Control: no-store\r\n", RawInput.latin1(request.head())),
                config -> config.set("access.forwarded_fields", "none"));
        String seen = proxy.get("/a", "X-Forwarded-For: 6.6.6.6\r\n").text().toLowerCase(Locale.ROOT);
        assertFalse(seen.contains("forwarded"), seen);
    }

    /** Two spellings with the same key are one request for the origin; all others have different keys. */
    @ParameterizedTest
    @CsvSource({
        "/a, /%61",
        "/~u/x, /%7Eu/%78",
        "/a%2Fb, /a%2fb",
        "/a%3Fb, /a%3fb",
        "/a%00, /a",
        "/a%00.css, /a",
        "/a, /a/",
        "/a, //a",
        "/a, /./a",
        "/a, /b/../a",
        "/a, /b/..%2fa",
        "/a, /b/%2e%2e/a",
        "/a, /a%2f",
        "/a, /a%20",
        "/a, /a%0a",
        "/a, /A",
        "/a, /a;x.css",
        "/a, /a/x.css",
        "/a, /a%3bx.css",
        "/a, /a%23x.css",
        "/a, /a%3fx.css",
        "/a, /a?",
        "/a?b=1, /a?b=2",
        "/a?b=1, /a?b=1&c",
        "/a?b=1, /a?b=1;c",
        "/a?b=1, /a?b=%31",
        "/a?utm_source=x, /a",
        "/%zz%61, /%zza",
        "/a%c0%af, /a/"
    })
    void spellingsOfAPathNeverShareAnAnswerUnlessTheyAreOneRequest(String attack, String victim) throws Exception {
        proxy.start(PoisoningTest::credulous);
        String first = proxy.get(attack).text();
        String second = proxy.get(victim).text();
        if (proxy.origin().requests() == 1) {
            assertEquals(first, second);
            // Whichever request is first, the origin receives the same.
            proxy.purge(attack);
            assertEquals(first, proxy.get(victim).text());
        } else {
            assertTrue(first.startsWith("GET " + normal(attack) + " HTTP/1.1\n"), first);
            assertTrue(second.startsWith("GET " + normal(victim) + " HTTP/1.1\n"), second);
        }
    }

    private static String normal(String target) {
        return target.equals("/a?b=%31") || target.startsWith("/%zz")
                ? target
                : target.replace("%61", "a")
                        .replace("%7E", "~")
                        .replace("%78", "x")
                        .replace("%2f", "%2F")
                        .replace("%3b", "%3B")
                        .replace("%3f", "%3F")
                        .replace("%0a", "%0A")
                        .replace("%2e", "%2E")
                        .replace("%c0%af", "%C0%AF");
    }

    /** A suffix that looks static does not make a response storable that the origin did not permit to store. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/account/x.css",
                "/account;x.js",
                "/account%2fx.png",
                "/account%00.css",
                "/account%23.css",
                "/account/..%2fstatic/x.css",
                "/static/..%2faccount"
            })
    void answersForOneUserAreNotStoredUnderAnyPath(String path) throws Exception {
        proxy.start(request ->
                request.send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nSet-Cookie: s=1\r\n"
                        + "Cache-Control: private\r\n\r\nuser" + request.number()));
        assertEquals("user1", proxy.get(path, "Cookie: victim\r\n").text());
        assertEquals("user2", proxy.get(path).text());
    }

    @Test
    void hostIsPartOfTheKeyWhereTheOriginGetsIt() throws Exception {
        proxy.start(PoisoningTest::credulous, config -> config.set("pristine_host_hdr", "true"));
        String evil = send("GET /a HTTP/1.1\r\nHost: evil.example\r\n\r\n").text();
        assertTrue(evil.contains("Host: evil.example\n"), evil);
        String port = send("GET /a HTTP/1.1\r\nHost: test.example:8888\r\n\r\n").text();
        assertTrue(port.contains("Host: test.example:8888\n"), port);
        String absolute = send("GET http://other.example/a HTTP/1.1\r\nHost: test.example\r\n\r\n")
                .text();
        assertTrue(absolute.contains("Host: other.example\n"), absolute);
        String victim = proxy.get("/a").text();
        assertTrue(victim.contains("Host: test.example\n"), victim);
        assertFalse(victim.contains("8888") || victim.contains("evil") || victim.contains("other"), victim);
    }

    @Test
    void contentOfAGetDoesNotSelectAStoredAnswer() throws Exception {
        proxy.start(PoisoningTest::credulous);
        for (String framing : List.of(
                "Content-Length: 6\r\n\r\nq=evil", "Transfer-Encoding: chunked\r\n\r\n6\r\nq=evil\r\n0\r\n\r\n")) {
            try (RawClient client = new RawClient(proxy.address())) {
                client.send("GET /a HTTP/1.1\r\nHost: test.example\r\n" + framing);
                assertEquals(200, client.response().status());
            }
        }
        int before = proxy.origin().requests();
        proxy.get("/a");
        assertEquals(before + 1, proxy.origin().requests());
    }

    @Test
    void headAndRangeLeaveTheWholeAnswerToOthers() throws Exception {
        byte[] content = RawInput.latin1("0123456789");
        proxy.start(request -> {
            if (request.head().startsWith("HEAD ")) {
                request.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 3\r\n\r\n");
            } else if (request.has("Range:")) {
                request.send("HTTP/1.1 400 Bad\r\nCache-Control: max-age=600\r\nContent-Length: 3\r\n\r\nbad");
            } else {
                request.ok("Cache-Control: max-age=600\r\n", content);
            }
        });
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("HEAD /a HTTP/1.1\r\nHost: test.example\r\n\r\n");
            assertEquals(200, client.head().status());
        }
        // The client that requests a part may receive the origin's response to it; no other client does.
        RawClient.Response part = proxy.get("/a", "Range: bytes=0-1\r\n");
        assertTrue(part.status() == 206 || part.status() == 400, part.head());
        assertEquals("0123456789", proxy.get("/a").text());
        assertEquals("0123456789", proxy.get("/b").text());
        part = proxy.get("/b", "Range: bytes=0-1\r\n");
        assertEquals("01", part.text());
        RawClient.Response odd = proxy.get("/a", "Range: bytes=cow\r\n");
        assertEquals(200, odd.status());
        assertEquals("0123456789", proxy.get("/a").text());
        assertNull(proxy.get("/a").field("content-range"));
    }

    @Test
    void methodInDisguiseIsTheMethodOfTheRequestLine() throws Exception {
        proxy.start(PoisoningTest::credulous);
        try (RawClient client = new RawClient(proxy.address())) {
            client.send(
                    "POST /a HTTP/1.1\r\nHost: test.example\r\nX-HTTP-Method-Override: GET\r\nContent-Length: 0\r\n\r\n");
            assertEquals(200, client.response().status());
        }
        String victim = proxy.get("/a").text();
        assertTrue(victim.startsWith("GET /a HTTP/1.1\n"), victim);
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void fieldsThatConnectionNamesStillReachTheOriginWhereTheAnswerDependsOnThem() throws Exception {
        proxy.start(request -> request.ok(
                "Cache-Control: max-age=600\r\nVary: Cookie, Accept-Encoding\r\n", RawInput.latin1(request.head())));
        String attack = proxy.get(
                        "/a", "Cookie: victim\r\nAccept-Encoding: gzip\r\nConnection: Cookie, Accept-Encoding\r\n")
                .text();
        assertTrue(attack.contains("Cookie: victim\r\n"), attack);
        assertTrue(attack.contains("Accept-Encoding: gzip\r\n"), attack);
    }
}
