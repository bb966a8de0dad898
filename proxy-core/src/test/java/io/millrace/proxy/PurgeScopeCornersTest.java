package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.data.ScopedPurges;
import io.millrace.proxy.config.cache.CacheKeyKeys;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Purges and groups where rules, schemes, ports and failures meet. */
class PurgeScopeCornersTest {
    private static final String FRESH = "Cache-Control: max-age=600\r\n";
    private static final String HOST = "test.example";

    /** Makes the test's address a trusted proxy whose clients have TLS. */
    private static final String SECURED = "X-Forwarded-Proto: https\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private RawClient.Response send(String method, String host, String target, String... fields) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            client.send(
                    method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + String.join("", fields) + "\r\n");
            return method.equals("HEAD") ? client.head() : client.response();
        }
    }

    private void admin(Kind kind, String host, String text, boolean soft) throws Exception {
        new ScopedPurges(new ServerView(proxy.proxy()))
                .invalidate(new Scope(kind, host, text, soft))
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS);
    }

    @Test
    void anAnswerToHeadWithoutValidatorsConfirmsNothingThatWasMadeStale() throws Exception {
        proxy.start(request -> {
            if (request.head().startsWith("HEAD")) {
                request.send("HTTP/1.1 200 OK\r\n" + FRESH + "\r\n");
            } else {
                request.ok(FRESH, RawInput.latin1("answer " + request.number()));
            }
        });
        assertEquals("answer 1", proxy.getAndSettle("/a").text());
        admin(Kind.HOST, HOST, null, true);
        send("HEAD", HOST, "/a");
        proxy.settle();
        assertEquals("answer 3", proxy.get("/a").text());
    }

    @Test
    void whatIsGoneIsNotServedStaleWhenTheOriginFailsAfterwards() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(request -> {
            if (request.number() == 1) {
                request.ok(
                        "Cache-Control: max-age=600, stale-if-error=100000\r\nETag: \"1\"\r\n",
                        RawInput.latin1("answer 1"));
            } else {
                asked.countDown();
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
                request.send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n");
            }
        });
        proxy.getAndSettle("/a");
        proxy.advanceSeconds(700);
        RawClient waiting = proxy.client().get("/a");
        asked.await();
        assertEquals(200, send("PURGE", HOST, "/.*").status());
        go.countDown();
        assertEquals(503, waiting.response().status());
    }

    @Test
    void whoMayPurgeOneHostDoesNotPurgeAnotherThatItsKeysAreNamedAfter() throws Exception {
        proxy.start(request -> request.ok(FRESH, RawInput.latin1("answer " + request.number())), config -> config.map(
                        "http://a.example/",
                        "http://127.0.0.1:1/",
                        ConfigValues.builder()
                                .set(CacheKeyKeys.HOST, "b.example")
                                .build())
                .map(
                        "http://b.example/",
                        proxy.origin().url(),
                        ConfigValues.builder()
                                .set(ConfigKeys.PURGE_ALLOW, List.of("192.0.2.1"))
                                .build()));
        assertEquals("answer 1", send("GET", "b.example", "/x").text());
        proxy.settle();
        assertEquals(403, send("PURGE", "b.example", "/.*").status());
        send("PURGE", "a.example", "/.*");
        assertEquals("answer 1", send("GET", "b.example", "/x").text());
    }

    @Test
    void aPrefixWithAQueryCoversEveryRulesKeys() throws Exception {
        proxy.start(request -> request.ok(FRESH, RawInput.latin1("answer " + request.number())), config -> config.map(
                        "http://test.example/other/", proxy.origin().url())
                .map(
                        "http://test.example/",
                        proxy.origin().url(),
                        ConfigValues.builder()
                                .set(CacheKeyKeys.IGNORE_QUERY, true)
                                .build()));
        assertEquals("answer 1", send("GET", HOST, "/page?lang=de").text());
        proxy.settle();
        admin(Kind.PREFIX, null, "http://test.example/page?lang=de", false);
        assertEquals("answer 2", send("GET", HOST, "/page?lang=de").text());
    }

    @Test
    void aCookieWithSpaceAfterItsNameIsThatCookie() throws Exception {
        proxy.start(
                request -> request.ok(FRESH, RawInput.latin1("answer " + request.number())),
                config -> config.set("cache.key.cookies", "lang"));
        String evil = proxy.getAndSettle("/a", "Cookie: lang =evil\r\n").text();
        assertNotEquals(evil, proxy.get("/a").text());
    }

    @Test
    void aGroupOfAnHttpsOriginAtAnotherPortIsPurgedByItsHost() throws Exception {
        proxy.start(
                request -> request.ok(FRESH + "Cache-Groups: \"g\"\r\n", RawInput.latin1("answer " + request.number())),
                config -> config.set("access.trusted_proxies", "127.0.0.1"));
        assertEquals(
                "answer 1",
                send("GET", "test.example:8443", "https://test.example:8443/x", SECURED)
                        .text());
        proxy.settle();
        admin(Kind.GROUP, "test.example:8443", "g", false);
        assertEquals(
                "answer 2",
                send("GET", "test.example:8443", "https://test.example:8443/x", SECURED)
                        .text());
    }

    @Test
    void aGroupIsThatOfTheClientsOriginWhicheverRuleMapsItsMembers() throws Exception {
        proxy.start(
                request -> {
                    if (request.head().startsWith("POST")) {
                        request.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nCache-Group-Invalidation: \"g\"\r\n\r\n");
                    } else {
                        request.ok(FRESH + "Cache-Groups: \"g\"\r\n", RawInput.latin1("answer " + request.number()));
                    }
                },
                config -> config.map("http://test.example/api/", proxy.origin().url())
                        .map(
                                "http://test.example/",
                                proxy.origin().url(),
                                ConfigValues.builder()
                                        .set(CacheKeyKeys.HOST, "shop.example")
                                        .build()));
        assertEquals("answer 1", send("GET", HOST, "/x").text());
        proxy.settle();
        send("POST", HOST, "/api/change", "Content-Length: 0\r\n");
        assertEquals("answer 3", send("GET", HOST, "/x").text());
    }

    @Test
    void aGroupOfAHostIsPurgedUnderEveryNameThatItsRulesHave() throws Exception {
        proxy.start(
                request -> request.ok(FRESH + "Cache-Groups: \"g\"\r\n", RawInput.latin1("answer " + request.number())),
                config -> config.map(
                                "http://test.example/shop/",
                                proxy.origin().url(),
                                ConfigValues.builder()
                                        .set(CacheKeyKeys.HOST, "shop.example")
                                        .build())
                        .map("http://test.example/", proxy.origin().url()));
        assertEquals("answer 1", send("GET", HOST, "/shop/x").text());
        proxy.settle();
        admin(Kind.GROUP, HOST, "g", false);
        assertEquals("answer 2", send("GET", HOST, "/shop/x").text());
    }

    @Test
    void whatAnotherSchemesRuleForbidsIsNotPurgedByAHostWithPort() throws Exception {
        proxy.start(request -> request.ok(FRESH, RawInput.latin1("answer " + request.number())), config -> config.set(
                        "purge.allow", "192.0.2.1")
                .set("access.trusted_proxies", "127.0.0.1")
                .map(
                        "http://test.example:8443/",
                        proxy.origin().url(),
                        ConfigValues.builder()
                                .set(ConfigKeys.PURGE_ALLOW, List.of("127.0.0.1"))
                                .build()));
        String url = "https://test.example:8443/x";
        assertEquals("answer 1", send("GET", "test.example:8443", url, SECURED).text());
        proxy.settle();
        assertEquals(403, send("PURGE", "test.example:8443", url).status());
        send("PURGE", "test.example:8443", "http://test.example:8443/.*");
        assertEquals("answer 1", send("GET", "test.example:8443", url, SECURED).text());
    }
}
