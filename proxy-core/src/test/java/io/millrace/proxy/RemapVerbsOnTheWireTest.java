package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.LookupSource.LookupReport;
import io.millrace.proxy.admin.data.CacheInspection;
import io.millrace.proxy.config.cache.CacheKeyKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests every kind of rule over real sockets, with an origin that reports its requests. */
class RemapVerbsOnTheWireTest {
    private static final ConfigValues PLAIN = ConfigValues.empty();

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension().withoutRules();

    @TempDir
    Path directory;

    /** Answers with its request line and Host, fresh for an hour. */
    private static void echo(RawOrigin.Exchange request) throws IOException {
        String line = request.head().lines().findFirst().orElse("");
        String host = RawClient.field(request.head(), "host");
        request.ok("Cache-Control: max-age=3600\r\n", RawInput.latin1(line + " " + host));
    }

    private RawClient.Response get(String host, String target, String... fields) throws IOException {
        return ask("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + String.join("", fields) + "\r\n");
    }

    private RawClient.Response ask(String request) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            return client.send(request).response();
        }
    }

    private String port() {
        return proxy.origin().url().substring("http://127.0.0.1:".length());
    }

    @Test
    void redirectionsAreAnsweredWithoutTheOrigin() throws Exception {
        proxy.start(RemapVerbsOnTheWireTest::echo, config -> config.rule(
                        RemapVerb.REDIRECT, "http://old.example/", "https://new.example/", PLAIN)
                .rule(
                        RemapVerb.REDIRECT,
                        "http://kept.example/",
                        "https://new.example/k/",
                        ConfigValues.builder().set(RemapKeys.STATUS, 308).build())
                .rule(RemapVerb.REDIRECT_TEMPORARY, "http://busy.example/a/", "http://idle.example/", PLAIN)
                .rule(RemapVerb.REGEX_REDIRECT, "http://(.*)\\.old\\.example/", "http://$1.example/", PLAIN));
        RawClient.Response moved = get("old.example", "/p/q?a=b");
        assertEquals(301, moved.status());
        assertEquals("https://new.example/p/q?a=b", moved.field("location"));
        assertEquals("301 Moved Permanently: see https://new.example/p/q?a=b\n", moved.text());
        assertNull(moved.field("cache-control"));
        assertEquals("https://new.example/k/p", get("kept.example", "/p").field("location"));
        assertEquals(308, get("kept.example", "/p").status());
        RawClient.Response busy = get("busy.example", "/a/p");
        assertEquals(307, busy.status());
        assertEquals("http://idle.example/p", busy.field("location"));
        assertEquals(404, get("busy.example", "/b").status());
        assertEquals("http://shop.example/c?", get("shop.old.example", "/c?").field("location"));
        assertEquals(302, ask("GET /a/ HTTP/1.0\r\nHost: busy.example\r\n\r\n").status());
        RawClient.Response post = ask("POST /p HTTP/1.1\r\nHost: kept.example\r\nContent-Length: 3\r\n\r\nabc");
        assertEquals(308, post.status());
        assertEquals(0, proxy.origin().requests());
        assertEquals(7, proxy.counted(Counter.REDIRECTS_REMAP));
        assertEquals(1, proxy.counted(Counter.DENIED_NOT_MAPPED));
    }

    @Test
    void headOfARedirectionHasNoContent() throws Exception {
        proxy.start(
                RemapVerbsOnTheWireTest::echo,
                config -> config.rule(RemapVerb.REDIRECT, "http://old.example/", "https://new.example/", PLAIN));
        try (RawClient client = proxy.client()) {
            client.send("HEAD /p HTTP/1.1\r\nHost: old.example\r\n\r\n");
            assertEquals("https://new.example/p", client.head().field("location"));
            client.send("GET /q HTTP/1.1\r\nHost: old.example\r\n\r\n");
            assertEquals("https://new.example/q", client.response().field("location"));
        }
    }

    /** A connection that received hits in the fast lane receives the redirection as soon as a rule for it exists. */
    @Test
    void redirectionHoldsFromTheReloadOnForConnectionsWithHits() throws Exception {
        proxy.start(
                RemapVerbsOnTheWireTest::echo,
                config -> config.map("http://test.example/", proxy.origin().url()));
        try (RawClient client = proxy.client()) {
            client.get("/p").response();
            assertEquals(200, client.get("/p").response().status());
            proxy.reload(
                    config -> config.rule(RemapVerb.REDIRECT, "http://test.example/", "http://new.example/", PLAIN));
            RawClient.Response moved = client.get("/p").response();
            assertEquals(301, moved.status());
            assertEquals("http://new.example/p", moved.field("location"));
            proxy.reload(
                    config -> config.map("http://test.example/", proxy.origin().url()));
            assertEquals(200, client.get("/p").response().status());
        }
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void expressionsSubstituteTheirGroups() throws Exception {
        proxy.start(RemapVerbsOnTheWireTest::echo, config -> config.rule(
                        RemapVerb.REGEX_MAP,
                        "http://([a-z0-9-]+)\\.wild\\.example/",
                        proxy.origin().url() + "/w/$1/",
                        PLAIN)
                .rule(
                        RemapVerb.REGEX_MAP,
                        "http://([0-9]+)\\.local\\.example/",
                        "http://127.0.0.$1:" + port() + "/",
                        PLAIN));
        String host = " 127.0.0.1:" + port();
        assertEquals(
                "GET /w/shop/a?b HTTP/1.1" + host,
                get("shop.wild.example", "/a?b").text());
        assertEquals(
                "GET /w/blog/a?b HTTP/1.1" + host,
                get("Blog.Wild.Example", "/a?b").text());
        assertEquals(
                "GET /w/shop/a?b HTTP/1.1" + host,
                get("shop.wild.example", "/a?b").text());
        assertEquals("GET /p HTTP/1.1" + host, get("1.local.example", "/p").text());
        assertEquals(404, get("shop.wild.example.evil", "/").status());
        assertEquals(3, proxy.origin().requests());
    }

    /**
     * Clients of two ports receive the content behind their port, also from the cache. A purge of the URL applies to
     * both.
     */
    @Test
    void receivedPortTakesPrecedenceOverHost() throws Exception {
        proxy.start(RemapVerbsOnTheWireTest::echo, config -> config.listen("127.0.0.1:0"));
        InetSocketAddress one = proxy.proxy().addresses().get(0);
        InetSocketAddress two = proxy.proxy().addresses().get(1);
        String origin = proxy.origin().url();
        proxy.reload(config -> config.rule(
                        RemapVerb.MAP_WITH_RECV_PORT,
                        "http://test.example:" + one.getPort() + "/",
                        origin + "/one/",
                        PLAIN)
                .rule(
                        RemapVerb.REGEX_MAP_WITH_RECV_PORT,
                        "http://(.*)\\.example:" + two.getPort() + "/",
                        origin + "/two/$1/",
                        PLAIN));
        for (int round = 0; round < 2; round++) {
            try (RawClient first = new RawClient(one);
                    RawClient second = new RawClient(two)) {
                for (int i = 0; i < 3; i++) {
                    assertTrue(first.get("/p").response().text().startsWith("GET /one/p "));
                    assertTrue(second.get("/p").response().text().startsWith("GET /two/test/p "));
                }
            }
            assertEquals(2 + 2 * round, proxy.origin().requests());
            proxy.settle();
            LookupReport report = lookup("http://test.example/p");
            assertTrue(String.valueOf(report.stored()).startsWith("Stored["), report.toString());
            assertEquals(1, report.others().size(), report.toString());
            assertTrue(String.valueOf(report.others().get(0).stored()).startsWith("Stored["), report.toString());
            assertNotEquals(report.key(), report.others().get(0).key());
            proxy.purge("/p");
            assertNull(lookup("http://test.example/p").others().get(0).stored());
        }
    }

    private LookupReport lookup(String url) throws Exception {
        return new CacheInspection(new ServerView(proxy.proxy()))
                .lookup(url, List.of())
                .toCompletableFuture()
                .get();
    }

    /**
     * The responses from the origin, from the cache for one client, and from the cache for a client of another host are
     * equal.
     */
    @Test
    void answersSpeakOfClientsUrlsWhereverTheyComeFrom() throws Exception {
        ConfigValues shared =
                ConfigValues.builder().set(CacheKeyKeys.HOST, "shared.example").build();
        ConfigValues cookies =
                ConfigValues.builder().set(RemapKeys.REWRITE_SET_COOKIE, true).build();
        proxy.start(
                request -> request.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nCache-Control: public, max-age=60\r\n"
                        + "ETag: \"e\"\r\nContent-Type: text/plain\r\nLocation: "
                        + proxy.origin().url() + "/app/b?c#d\r\n"
                        + "Content-Location: /app/b\r\nSet-Cookie: a=1; Path=/app/; Domain=127.0.0.1\r\n"
                        + "X-Link: " + proxy.origin().url() + "/app/\r\n\r\nmoved"),
                config -> {
                    String origin = proxy.origin().url() + "/app/";
                    return config.map("http://one.example/", origin, shared)
                            .map("http://two.example/", origin, shared)
                            .rule(RemapVerb.REVERSE_MAP, origin, "http://one.example/", cookies)
                            .rule(RemapVerb.REVERSE_MAP, origin, "http://two.example/", cookies)
                            .set("cache.cache_responses_to_cookies", "all");
                });
        for (int i = 0; i < 3; i++) {
            for (String host : new String[] {"one.example", "two.example"}) {
                RawClient.Response answer = get(host, "/a");
                assertEquals(200, answer.status());
                assertEquals("http://" + host + "/b?c#d", answer.field("location"));
                assertEquals("/b", answer.field("content-location"));
                assertEquals("a=1; Path=/; Domain=" + host, answer.field("set-cookie"));
                assertEquals(proxy.origin().url() + "/app/", answer.field("x-link"));
                assertEquals("\"e\"", answer.field("etag"));
                assertEquals("moved", answer.text());
                RawClient.Response same = get(host, "/a", "If-None-Match: \"e\"\r\n");
                assertEquals(304, same.status());
                assertEquals("/b", same.field("content-location"));
            }
            proxy.settle();
        }
        assertEquals(1, proxy.origin().requests());
    }

    /**
     * The URL named in the response to an unsafe request is invalidated by the URL that clients use (RFC 9111 s4.4).
     */
    @Test
    void locationOfTheOriginInvalidatesTheClientsUrl_rfc9111_s4_4() throws Exception {
        proxy.start(
                request -> {
                    if (request.has("POST ")) {
                        request.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\nLocation: "
                                + proxy.origin().url() + "/app/made\r\n\r\n");
                    } else {
                        echo(request);
                    }
                },
                config -> config.map("http://test.example/", proxy.origin().url() + "/app/")
                        .rule(RemapVerb.REVERSE_MAP, proxy.origin().url() + "/app/", "http://test.example/", PLAIN));
        get("test.example", "/made");
        proxy.settle();
        get("test.example", "/made");
        assertEquals(1, proxy.origin().requests());
        RawClient.Response created = ask("POST /make HTTP/1.1\r\nHost: test.example\r\nContent-Length: 0\r\n\r\n");
        assertEquals("http://test.example/made", created.field("location"));
        get("test.example", "/made");
        assertEquals(3, proxy.origin().requests());
    }

    @Test
    void refererRestrictsAccessToStoredAnswers() throws Exception {
        ConfigValues settings = ConfigValues.builder()
                .set(RemapKeys.REFERERS, List.of("^http://good\\.example/"))
                .set(RemapKeys.REFERER_REDIRECT, "http://good.example/?from=%r")
                .build();
        Path log = directory.resolve("access.log");
        proxy.start(RemapVerbsOnTheWireTest::echo, config -> config.rule(
                        RemapVerb.MAP_WITH_REFERER,
                        "http://test.example/",
                        proxy.origin().url(),
                        settings)
                .set("log.access.enabled", "true")
                .set("log.access.path", log.toString())
                .set("log.access.format", "%<pssc> %<detail>"));
        try (RawClient client = proxy.client()) {
            String good = "Referer: http://good.example/page\r\n";
            for (int i = 0; i < 3; i++) {
                assertEquals(200, client.get("/p", good).response().status());
                RawClient.Response refused =
                        client.get("/p", "Referer: http://evil.example/\r\n").response();
                assertEquals(302, refused.status());
                assertEquals("http://good.example/?from=http://evil.example/", refused.field("location"));
                assertEquals(
                        "http://good.example/?from=",
                        client.get("/p").response().field("location"));
            }
        }
        assertEquals(1, proxy.origin().requests());
        assertEquals(6, proxy.counted(Counter.REDIRECTS_REFERER));
        ProxyExtension.await("nine lines", () -> lines(log).length == 9);
        assertEquals("302 referer:remap[0]", lines(log)[1]);
    }

    @Test
    void requestsWithoutHostGoToTheLastResort() throws Exception {
        Path log = directory.resolve("access.log");
        proxy.start(RemapVerbsOnTheWireTest::echo, config -> config.map(
                        "http://test.example/", proxy.origin().url())
                .set("no_host_url_redirect", "http://www.example/choose?x")
                .set("log.access.enabled", "true")
                .set("log.access.path", log.toString())
                .set("log.access.format", "%<pssc> %<detail>"));
        RawClient.Response old = ask("GET /p HTTP/1.0\r\n\r\n");
        assertEquals(302, old.status());
        assertEquals("http://www.example/choose?x", old.field("location"));
        assertEquals(404, get("other.example", "/p").status());
        assertEquals(400, ask("GET /p HTTP/1.1\r\n\r\n").status());
        assertEquals(200, get("test.example", "/p").status());
        assertEquals(1, proxy.counted(Counter.REDIRECTS_NO_HOST));
        ProxyExtension.await("four lines", () -> lines(log).length == 4);
        assertEquals("302 no-host", lines(log)[0]);
    }

    /** A rule for every host also applies to requests without a host. */
    @Test
    void lastResortAppliesToUnmappedRequests() throws Exception {
        proxy.start(
                RemapVerbsOnTheWireTest::echo,
                config -> config.map("/", proxy.origin().url()).set("no_host_url_redirect", "http://www.example/"));
        assertEquals(200, ask("GET /p HTTP/1.0\r\n\r\n").status());
    }

    @Test
    void logNamesTheRedirectionAndItsRule() throws Exception {
        Path log = directory.resolve("access.log");
        proxy.start(RemapVerbsOnTheWireTest::echo, config -> config.rule(
                        RemapVerb.REDIRECT, "http://a.example/", "http://b.example/", PLAIN)
                .rule(RemapVerb.REDIRECT, "http://c.example/", "http://d.example/", PLAIN)
                .set("log.access.enabled", "true")
                .set("log.access.path", log.toString())
                .set("log.access.format", "%<pssc> %<crc> %<detail>"));
        get("c.example", "/");
        ProxyExtension.await("a line", () -> lines(log).length == 1);
        assertEquals("301 NONE redirect:remap[1]", lines(log)[0]);
    }

    private static String[] lines(Path log) {
        try {
            return Files.exists(log)
                    ? Files.readString(log, StandardCharsets.ISO_8859_1).lines().toArray(String[]::new)
                    : new String[0];
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
