package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** PURGE on the client listener, as the plugins of content management systems send it, over real sockets. */
class PurgeMethodTest {
    private static final String FRESH = "Cache-Control: max-age=600\r\n";
    private static final String HOST = "Host: test.example\r\n";

    /** Makes the test's address a trusted proxy whose clients have TLS. */
    private static final String SECURED = "X-Forwarded-Proto: https\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private void start(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(request -> request.ok(FRESH, RawInput.latin1("answer " + request.number())), more);
    }

    private void start() throws IOException {
        start(config -> config);
    }

    private RawClient.Response send(String request) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            return client.send(request).response();
        }
    }

    private RawClient.Response purge(String target, String... fields) throws IOException {
        return send("PURGE " + target + " HTTP/1.1\r\n" + HOST + String.join("", fields) + "\r\n");
    }

    private void assertStored(String path) throws IOException {
        int before = proxy.origin().requests();
        assertEquals(200, proxy.get(path).status());
        assertEquals(before, proxy.origin().requests(), path + " is not stored");
    }

    private void assertNotStored(String path) throws IOException {
        int before = proxy.origin().requests();
        assertEquals(200, proxy.get(path).status());
        assertEquals(before + 1, proxy.origin().requests(), path + " is stored");
    }

    // what plugins send

    /** W3 Total Cache writes the request by itself and takes only 200 for a success. */
    @Test
    void purgeOfW3TotalCache() throws Exception {
        start();
        proxy.get("/2026/11/hello-world/?a=b");
        String request = "PURGE /2026/11/hello-world/?a=b HTTP/1.1\r\n" + "Host: test.example\r\n"
                + "User-Agent: W3 Total Cache/2.8.2\r\n"
                + "Connection: close\r\n\r\n";
        try (RawClient client = new RawClient(proxy.address())) {
            RawClient.Response purged = client.send(request).response();
            assertEquals(200, purged.status());
            assertEquals(
                    "200 OK: purged http://test.example/2026/11/hello-world/?a=b, every stored variant, purge " + id(),
                    purged.text());
            assertEquals("no-store", purged.field("cache-control"));
            assertNull(purged.field("cache-status"), "RFC 9211 section 2: not in a response that is no stored one");
            assertEquals(0, client.in.readToEnd().length);
        }
        assertEquals(404, send(request).status());
        assertEquals(1, proxy.origin().requests());
        assertNotStored("/2026/11/hello-world/?a=b");
        assertEquals(1, proxy.counted(Counter.PURGES_FOUND));
        assertEquals(1, proxy.counted(Counter.PURGES_ABSENT));
    }

    /** Proxy Cache Purge and WP Rocket, through WordPress's HTTP library; the connection goes to another address and port. */
    @ParameterizedTest
    @ValueSource(
            strings = {"X-Purge-Method: default\r\n", "X-VC-Purge-Method: exact\r\nX-VC-Purge-Host: test.example\r\n"})
    void purgeOfWordPress(String fields) throws Exception {
        start();
        proxy.get("/feed/");
        RawClient.Response purged = send("PURGE /feed/ HTTP/1.1\r\n" + "host: test.example\r\n"
                + "User-Agent: WordPress/6.8.1; https://test.example\r\n"
                + "Accept: */*\r\n"
                + "Accept-Encoding: deflate, gzip, br, zstd\r\n"
                + "Referer: http://127.0.0.1:6081/feed/\r\n"
                + fields
                + "Connection: close\r\n\r\n");
        assertEquals(200, purged.status());
        assertNotStored("/feed/");
    }

    /** WP Rocket does not wait: the purge is done although nobody hears of it. */
    @Test
    void clientThatDoesNotWaitHasPurged() throws Exception {
        start(config -> config.storage(directory, 64 << 20));
        proxy.get("/a");
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("PURGE /a HTTP/1.1\r\n" + HOST + "X-Purge-Method: default\r\nConnection: close\r\n\r\n");
        }
        ProxyExtension.await("the purge", () -> proxy.counted(Counter.PURGES_FOUND) == 1);
        assertNotStored("/a");
    }

    @Test
    void purgeOfAScriptInHttp10() throws Exception {
        start();
        proxy.get("/a");
        assertEquals(
                200,
                send("PURGE /a HTTP/1.0\r\nHost: test.example\r\nConnection: Close\r\n\r\n")
                        .status());
        assertNotStored("/a");
    }

    @ParameterizedTest
    @CsvSource({
        "/a.*?x=1, '', a prefix has no query; for a pattern with a query send X-Ban-Url with \\? in it",
        "/a, 'X-Purge-Method: glob', 'X-Purge-Method is none of default, exact and regex'",
        "/a, 'X-VC-Purge-Method: glob', 'X-VC-Purge-Method is none of default, exact and regex'",
        "/a, 'X-LiteSpeed-Purge: *', X-LiteSpeed-Purge is a field of responses"
    })
    void whatIsNotDoneIsToldAndPurgesNothing(String target, String field, String reason) throws Exception {
        start();
        proxy.get("/a");
        RawClient.Response answer = field.isEmpty() ? purge(target) : purge(target, field + "\r\n");
        assertEquals(501, answer.status());
        assertEquals(
                "501 Not Implemented: " + reason
                        + "; supported are URLs, tags, a host by the path /.*, prefixes by a path like /blog/.*, and"
                        + " patterns by X-Ban-Url\n",
                answer.text());
        assertStored("/a");
        assertEquals(1, proxy.origin().requests());
        assertEquals(1, proxy.counted(Counter.PURGES_UNSUPPORTED));
    }

    // which URL

    /** A plugin asks over plain HTTP for what clients got by TLS too. */
    @Test
    void purgeMeansBothSchemesAtTheirUsualPort() throws Exception {
        start(config -> config.set("access.trusted_proxies", "127.0.0.1"));
        for (String scheme : List.of("http", "https")) {
            String get = "GET " + scheme + "://test.example/a HTTP/1.1\r\n" + HOST + SECURED + "\r\n";
            send(get);
            int fetched = proxy.origin().requests();
            send(get);
            assertEquals(fetched, proxy.origin().requests());
        }
        assertEquals(2, proxy.origin().requests());
        assertEquals(200, purge("/a").status());
        assertEquals(404, purge("https://test.example/a").status());
        send("GET https://test.example/a HTTP/1.1\r\n" + HOST + SECURED + "\r\n");
        assertEquals(3, proxy.origin().requests());
        assertEquals(200, purge("http://test.example/a").status());
        assertEquals(404, purge("/a").status());
    }

    @Test
    void purgeOfAnotherPortMeansThatPort() throws Exception {
        start();
        String other = "GET /a HTTP/1.1\r\nHost: test.example:8080\r\n\r\n";
        send(other);
        proxy.get("/a");
        assertEquals(
                200,
                send("PURGE /a HTTP/1.1\r\nHost: test.example:8080\r\n\r\n").status());
        assertStored("/a");
        send(other);
        assertEquals(3, proxy.origin().requests());
        assertEquals(200, purge("/a").status());
        send(other);
        assertEquals(3, proxy.origin().requests());
    }

    /** The same key as every spelling of the URL (docs/design/caching-rules.md). */
    @Test
    void anySpellingOfTheUrlPurgesIt() throws Exception {
        start();
        proxy.get("/caf%C3%A9/~a");
        assertEquals(
                200, purge("/caf%c3%a9/%7Ea", "x-purge-method: DEFAULT\r\n").status());
    }

    @Test
    void everyVariantGoes() throws Exception {
        proxy.start(request ->
                request.ok(FRESH + "Vary: Accept-Language\r\n", RawInput.latin1("answer " + request.number())));
        for (String language : List.of("de", "en", "fr")) {
            proxy.get("/a", "Accept-Language: " + language + "\r\n");
        }
        assertEquals(3, proxy.origin().requests());
        assertEquals(200, purge("/a", "Accept-Language: en\r\n").status());
        for (String language : List.of("de", "en", "fr")) {
            proxy.get("/a", "Accept-Language: " + language + "\r\n");
        }
        assertEquals(6, proxy.origin().requests());
    }

    @Test
    void headAfterAPurgeIsAMiss() throws Exception {
        proxy.start(request -> {
            if (request.has("HEAD ")) {
                request.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n" + FRESH + "\r\n");
            } else {
                request.ok(FRESH, RawInput.latin1("x"));
            }
        });
        proxy.get("/a");
        purge("/a");
        RawClient client = proxy.client().send("HEAD /a HTTP/1.1\r\n" + HOST + "\r\n");
        assertTrue(client.head().field("cache-status").contains("fwd=uri-miss"));
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void unmappedHostIsNamed() throws Exception {
        proxy.start(request -> request.ok(FRESH, RawInput.latin1("x")), config -> ProxyConfig.builder()
                .listen("127.0.0.1:0")
                .map("http://test.example/", proxy.origin().url())
                .set("cache.ram_size", "32MiB")
                .set("log.access.enabled", "false")
                .set("worker.event_loops", "1"));
        RawClient.Response answer = send("PURGE /a HTTP/1.1\r\nHost: typo.example\r\n\r\n");
        assertEquals(404, answer.status());
        assertEquals(
                "404 Not Found: nothing was stored for http://typo.example/a, and no remap rule maps it, purge " + id(),
                answer.text());
        answer = purge("/a");
        assertEquals("404 Not Found: nothing was stored for http://test.example/a, purge " + id(), answer.text());
        answer = send("PURGE /a HTTP/1.1\r\nHost: test.example:443\r\n\r\n");
        assertTrue(
                answer.text()
                        .endsWith("; port 443 is not the default port of http: without a port, a purge covers"
                                + " http and https\n"),
                answer.text());
        answer = send("PURGE /.* HTTP/1.1\r\nHost: typo.example\r\n\r\n");
        assertEquals(200, answer.status());
        assertTrue(answer.text().endsWith("; no remap rule maps this host\n"), answer.text());
        answer = send("PURGE /a.* HTTP/1.1\r\nHost: typo.example\r\n\r\n");
        assertTrue(answer.text().endsWith("; no remap rule maps this host\n"), answer.text());
        answer = send("PURGE /.* HTTP/1.1\r\nHost: test.example\r\n\r\n");
        assertTrue(answer.text().endsWith("purge " + id()), answer.text());
        assertEquals(0, proxy.origin().requests());
    }

    /** The effect is the same as without the remark: the purge covers what the request names. */
    @ParameterizedTest
    @CsvSource({
        "PURGE /a, typo.example, Fastly-Soft-Purge: 1, no remap rule maps this URL",
        "PURGE /a, test.example:443, Fastly-Soft-Purge: 1, port 443 is not the default port of http: without a port",
        "PURGE /a, port.example, Fastly-Soft-Purge: 1, no remap rule maps this URL",
        "BAN /, test.example:443, X-Ban-Url: a, port 443 is not the default port of http: without a port",
        "BAN /, port.example, X-Ban-Url: a, no remap rule maps this host with this port; rules map port.example:8080",
        "PURGE /x.*y, port.example, X-Any: 1, no remap rule maps this host with this port; rules map port.example:8080",
    })
    void aPurgeThatProbablyCoversNothingHasARemark(String request, String host, String field, String remark)
            throws Exception {
        proxy.start(sent -> sent.ok(FRESH, RawInput.latin1("x")), config -> ProxyConfig.builder()
                .listen("127.0.0.1:0")
                .map("http://test.example/", proxy.origin().url())
                .map("http://port.example:8080/", proxy.origin().url())
                .set("cache.ram_size", "32MiB")
                .set("log.access.enabled", "false")
                .set("worker.event_loops", "1"));
        RawClient.Response answer = send(request + " HTTP/1.1\r\nHost: " + host + "\r\n" + field + "\r\n\r\n");
        assertEquals(200, answer.status(), answer.text());
        assertTrue(answer.text().contains("; " + remark), answer.text());
    }

    /** Returns the identifier of the last purge, and a line end. */
    private String id() throws IOException {
        return proxy.proxy().shared().purges().latest(null, 1).get(0).id() + "\n";
    }

    /** A URL with an unusual port belongs to another host than the same name without the port. */
    @Test
    void aPortThatIsMissingInTheHostIsNamed() throws Exception {
        start();
        for (String host : List.of("127.0.0.1", "localhost")) {
            RawClient.Response answer = send("PURGE /.* HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
            assertTrue(
                    answer.text()
                            .endsWith("; a URL with a port, such as http://" + host
                                    + ":8080/, belongs to another host: name it with its port\n"),
                    answer.text());
        }
    }

    /** Purges of hosts and prefixes with the address of the cache as Host cover no site, unlike those of tags. */
    @ParameterizedTest
    @CsvSource({
        "BAN /.*, varnish",
        "BAN /.*, varnish:6081",
        "BAN /blog, varnish",
        "PURGE /.*, 127.0.0.1",
        "PURGE /blog/.*, 127.0.0.1:9280",
        "PURGE /.*, [::1]:9280"
    })
    void aHostThatIsNoSiteIsNamed(String line, String host) throws Exception {
        start();
        RawClient.Response answer = send(line + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
        assertEquals(200, answer.status(), answer.text());
        String name = host.replaceFirst(":[0-9]{4}$", "");
        assertTrue(
                answer.text()
                        .contains("; no remap rule names the host " + name
                                + ", so no other host is covered; send the name of a site as Host to purge the site"),
                answer.text());
    }

    @Test
    void aHostThatMayBeASiteHasNoRemark() throws Exception {
        start();
        RawClient.Response answer = send("PURGE /.* HTTP/1.1\r\nHost: test.example\r\n\r\n");
        assertTrue(answer.text().endsWith("purge " + id()), answer.text());
    }

    // who may

    @Test
    void clientThatIsNotListedIsRefused() throws Exception {
        start(config -> config.set("purge.allow", "192.0.2.0/24, ::1"));
        proxy.get("/a");
        RawClient.Response refused = purge("/a");
        assertEquals(403, refused.status());
        assertEquals("403 Forbidden: purge.allow does not contain 127.0.0.1\n", refused.text());
        assertEquals(403, purge("/.*").status());
        assertEquals(403, send("BAN /a HTTP/1.1\r\n" + HOST + "\r\n").status());
        assertStored("/a");
        assertEquals(1, proxy.origin().requests());
        assertEquals(3, proxy.counted(Counter.DENIED_PURGE));
    }

    @Test
    void nobodyMayWhereNoneIsListed() throws Exception {
        start(config -> config.set("purge.allow", "none"));
        proxy.get("/a");
        assertEquals(403, purge("/a").status());
        assertStored("/a");
    }

    @Test
    void ruleHasItsOwnList() throws Exception {
        start(config -> config.set("purge.allow", "none")
                .map(
                        "http://own.example/",
                        "http://127.0.0.1:1/",
                        ConfigValues.builder()
                                .set(ConfigKeys.PURGE_ALLOW, List.of("127.0.0.1"))
                                .build()));
        assertEquals(404, send("PURGE /a HTTP/1.1\r\nHost: own.example\r\n\r\n").status());
        assertEquals(403, purge("/a").status());
    }

    /** A TLS terminator on the same machine has a listed address; those for whom it asks have not. */
    @ParameterizedTest
    @CsvSource({
        "X-Forwarded-For: 203.0.113.9, 403, purge.allow does not contain 203.0.113.9 of X-Forwarded-For",
        "'X-Forwarded-For: 127.0.0.1, 203.0.113.9', 403, purge.allow does not contain 203.0.113.9 of X-Forwarded-For",
        "X-Forwarded-For: unknown, 403, X-Forwarded-For has an element that is not an IP address",
        "X-Real-IP: 203.0.113.9, 403, purge.allow does not contain 203.0.113.9 of X-Real-IP",
        "Via: 1.1 terminator, 403, 'at 127.0.0.1 (it has the field Via), and no X-Forwarded-For names the client'",
        "Forwarded: for=127.0.0.1, 403, '(it has the field Forwarded), and no X-Forwarded-For names the client'",
        "X-Forwarded-For: 127.0.0.1, 200, ''",
        "'X-Forwarded-For: ::1, 127.0.0.7', 200, ''"
    })
    void forwardedRequestNeedsAListedClientToo(String field, int status, String text) throws Exception {
        start();
        proxy.get("/a");
        RawClient.Response answer = purge("/a", field + "\r\n");
        assertEquals(status, answer.status());
        assertTrue(answer.text().contains(text), answer.text());
        assertEquals(status == 200 ? 404 : 200, purge("/a").status());
        assertEquals(1, proxy.origin().requests());
    }

    // what runs beside

    @Test
    void fetchInFlightIsNotStored() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(request -> {
            if (request.number() == 1) {
                request.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n" + FRESH + "\r\nab");
                go.await();
                request.send("cd");
            } else {
                request.ok(FRESH, RawInput.latin1("new"));
            }
        });
        RawClient slow = proxy.client().get("/a");
        RawClient.Response head = slow.head();
        RawClient.Response purged = purge("/a");
        assertTrue(purged.status() == 200 || purged.status() == 404, purged.head());
        assertEquals("new", proxy.get("/a").text(), "joined a fetch that was purged");
        go.countDown();
        assertArrayEquals(RawInput.latin1("abcd"), slow.content(head));
        assertEquals("new", proxy.get("/a").text());
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void thousandPipelinedPurgesAreAnsweredInTheirOrder() throws Exception {
        start(config -> config.storage(directory, 64 << 20));
        int count = 1000;
        pipeline("GET", count, 200);
        RawClient client = proxy.client();
        StringBuilder requests = new StringBuilder();
        for (int i = 0; i < 2 * count; i++) {
            requests.append("PURGE /p")
                    .append(i / 2)
                    .append(" HTTP/1.1\r\n")
                    .append(HOST)
                    .append("\r\n");
        }
        client.send(requests.toString());
        for (int i = 0; i < 2 * count; i++) {
            RawClient.Response answer = client.response();
            assertEquals(i % 2 == 0 ? 200 : 404, answer.status());
            assertTrue(answer.text().contains("http://test.example/p" + i / 2), answer.text());
        }
        assertEquals(count, proxy.counted(Counter.PURGES_FOUND));
        assertEquals(count, proxy.counted(Counter.PURGES_ABSENT));
        pipeline("GET", count, 200);
        assertEquals(2 * count, proxy.origin().requests());
    }

    private void pipeline(String method, int count, int status) throws IOException {
        RawClient client = proxy.client();
        StringBuilder requests = new StringBuilder();
        for (int i = 0; i < count; i++) {
            requests.append(method)
                    .append(" /p")
                    .append(i)
                    .append(" HTTP/1.1\r\n")
                    .append(HOST)
                    .append("\r\n");
        }
        client.send(requests.toString());
        for (int i = 0; i < count; i++) {
            assertEquals(status, client.response().status());
        }
    }

    // safety

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 44\r\n\r\nGET /hidden HTTP/1.1\r\nHost: test.example\r\n\r\n",
                "Transfer-Encoding: chunked\r\n\r\n2c\r\nGET /hidden HTTP/1.1\r\nHost: test.example\r\n\r\n\r\n0\r\n\r\n"
            })
    void contentIsRefusedAndNeverReadAsARequest(String rest) throws Exception {
        start();
        proxy.get("/a");
        try (RawClient client = new RawClient(proxy.address())) {
            RawClient.Response refused =
                    client.send("PURGE /a HTTP/1.1\r\n" + HOST + rest).response();
            assertEquals(400, refused.status());
            assertEquals("400 Bad Request: a PURGE must not have content; nothing was purged\n", refused.text());
            assertEquals("close", refused.field("connection"));
            assertEquals(0, client.in.readToEnd().length);
        }
        assertStored("/a");
        assertEquals(1, proxy.origin().requests());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "PURGE | /a | ''",
                "PURGE | /a | Fastly-Soft-Purge: 1\\r\\n",
                "PURGE | /.* | ''",
                "PURGE | / | xkey: t\\r\\n",
                "PURGEKEYS | / | xkey-purge: t\\r\\n",
                "BAN | /a | ''",
                "BAN | / | X-Ban-Url: .\\r\\n"
            })
    void everyFormWithContentPurgesNothing(String method, String target, String fields) throws Exception {
        start();
        proxy.get("/a");
        try (RawClient client = new RawClient(proxy.address())) {
            RawClient.Response refused = client.send(method + " " + target + " HTTP/1.1\r\n" + HOST
                            + fields.replace("\\r\\n", "\r\n") + "Content-Length: 3\r\n\r\nabc")
                    .response();
            assertEquals(
                    "400 Bad Request: a " + method + " must not have content; nothing was purged\n", refused.text());
        }
        assertStored("/a");
        assertEquals(List.of(), proxy.proxy().shared().purges().latest(null, 9));
    }

    @Test
    void emptyContentIsNone() throws Exception {
        start();
        proxy.get("/a");
        assertEquals(200, purge("/a", "Content-Length: 0\r\n").status());
    }

    @Test
    void nameOfTheMethodIsCaseSensitive_rfc9110_s9_1() throws Exception {
        start();
        proxy.get("/a");
        assertEquals("answer 2", send("Purge /a HTTP/1.1\r\n" + HOST + "\r\n").text());
    }

    @Test
    void linesInTheAccessLog() throws Exception {
        Path log = directory.resolve("access.log");
        start(config -> config.set("log.access.enabled", "true").set("log.access.path", log.toString()));
        proxy.get("/a");
        purge("/a");
        purge("/a");
        purge("/a", "X-Purge-Method: glob\r\n");
        purge("/a", "X-Forwarded-For: 203.0.113.9\r\n");
        proxy.proxy().close();
        List<String> lines = Files.readAllLines(log).stream()
                .map(line -> line.replaceFirst("^\\S+ \\S+ ", "").replaceFirst("/(\\d+) \\d+ ", "/$1 "))
                .toList();
        assertEquals(
                List.of(
                        "127.0.0.1 NONE/200 PURGE http://test.example/a - NONE/- -",
                        "127.0.0.1 NONE/404 PURGE http://test.example/a - NONE/- -",
                        "127.0.0.1 ERR_UNSUP_REQ/501 PURGE http://test.example/a - NONE/- -",
                        "127.0.0.1 TCP_DENIED/403 PURGE http://test.example/a - NONE/- -"),
                lines.subList(1, 5));
    }
}
