package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.LookupSource;
import io.millrace.proxy.admin.data.CacheInspection;
import io.millrace.proxy.config.cache.CacheRuleConfig;
import io.millrace.proxy.config.cache.CacheRulesKeys;
import io.millrace.proxy.config.key.ConfigValues;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests {@code cache_rules} over real sockets, and the reports about them in responses and in the inspector. */
class SiteCacheRulesTest {
    private static final ConfigValues NEVER_BELOW_A = rule().set(CacheRulesKeys.PREFIX, "/a")
            .set(CacheRulesKeys.ACTION, CacheRuleConfig.Action.NEVER_CACHE)
            .build();

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private static ConfigValues.Builder rule() {
        return ConfigValues.builder();
    }

    /** Starts a proxy whose origin counts its responses in the content. */
    private void start(String fields, ConfigValues... rules) throws Exception {
        proxy.start(request -> request.ok(fields, RawInput.latin1("answer " + request.number())), config -> {
            for (ConfigValues rule : rules) {
                config.cacheRule(rule);
            }
            return config;
        });
    }

    private RawClient.Response assertAnswer(int number, String path, String... fields) throws Exception {
        RawClient.Response response = proxy.get(path, fields);
        assertEquals("answer " + number, response.text());
        return response;
    }

    @Test
    void neverCacheGoesToTheOriginAndReportsTheRule() throws Exception {
        start("Cache-Control: max-age=60\r\n", NEVER_BELOW_A);
        RawClient.Response first = assertAnswer(1, "/a/x");
        assertEquals("millrace; fwd=bypass; fwd-status=200; detail=\"cache_rules[0]\"", first.field("cache-status"));
        assertAnswer(2, "/%61/x");
        assertAnswer(3, "/b");
        RawClient.Response other = assertAnswer(3, "/b");
        assertEquals("millrace; hit; ttl=60", other.field("cache-status"));
    }

    @Test
    void revalidateStandsInPlaceOfTheLifetime() throws Exception {
        start(
                "Cache-Control: max-age=600\r\n",
                rule().set(CacheRulesKeys.DEST_DOMAIN, "example")
                        .set(CacheRulesKeys.REVALIDATE, Duration.ofSeconds(10))
                        .build());
        assertAnswer(1, "/a");
        proxy.advanceSeconds(9);
        assertEquals(
                "millrace; hit; ttl=1; detail=\"cache_rules[0]\"",
                assertAnswer(1, "/a").field("cache-status"));
        proxy.advanceSeconds(1);
        assertEquals(
                "millrace; fwd=stale; fwd-status=200; stored; detail=\"cache_rules[0]\"",
                assertAnswer(2, "/a").field("cache-status"));
    }

    @Test
    void timeToLiveInCacheStoresResponsesWithNoStore() throws Exception {
        start(
                "Cache-Control: no-store, no-cache, max-age=0\r\nAge: 100\r\n",
                rule().set(CacheRulesKeys.SUFFIX, ".png")
                        .set(CacheRulesKeys.TTL_IN_CACHE, Duration.ofSeconds(10))
                        .build());
        assertAnswer(1, "/a.png");
        proxy.advanceSeconds(9);
        assertEquals(
                "millrace; hit; ttl=1; detail=\"cache_rules[0]\"",
                assertAnswer(1, "/a.png").field("cache-status"));
        proxy.advanceSeconds(1);
        assertAnswer(2, "/a.png");
        assertAnswer(3, "/a.gif");
        assertAnswer(4, "/a.gif");
    }

    @Test
    void timeToLiveInCacheSharesNothingPrivate() throws Exception {
        start(
                "Cache-Control: private\r\n",
                rule().set(CacheRulesKeys.DEST_DOMAIN, ".")
                        .set(CacheRulesKeys.TTL_IN_CACHE, Duration.ofSeconds(10))
                        .build());
        assertAnswer(1, "/a");
        assertAnswer(2, "/a");
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.0/8, 1", "10.0.0.0/8, 2"})
    void clientsNoCacheIsIgnoredForThoseThatTheRuleNames(String range, int answer) throws Exception {
        start(
                "Cache-Control: max-age=60\r\n",
                rule().set(CacheRulesKeys.SRC_IP, List.of(range))
                        .set(CacheRulesKeys.ACTION, CacheRuleConfig.Action.IGNORE_CLIENT_NO_CACHE)
                        .build());
        assertAnswer(1, "/a");
        assertAnswer(answer, "/a", "Cache-Control: no-cache\r\n");
    }

    @Test
    void staleAnswerReportsTheRuleAndTheFailure() throws Exception {
        proxy.start(
                request -> {
                    if (request.number() == 1) {
                        request.ok("Cache-Control: max-age=600\r\n", RawInput.latin1("answer 1"));
                    } else {
                        request.send("HTTP/1.1 503 Down\r\nContent-Length: 0\r\n\r\n");
                    }
                },
                config -> config.cacheRule(rule().set(CacheRulesKeys.DEST_DOMAIN, ".")
                        .set(CacheRulesKeys.REVALIDATE, Duration.ofSeconds(10))
                        .build()));
        assertAnswer(1, "/a");
        proxy.advanceSeconds(20);
        assertEquals(
                "millrace; hit; ttl=-10; detail=\"origin-503, cache_rules[0]\"",
                assertAnswer(1, "/a").field("cache-status"));
    }

    @Test
    void answerToAnUncachedPostServesNoGet() throws Exception {
        start(
                "Cache-Control: max-age=60\r\nContent-Location: /b\r\n",
                NEVER_BELOW_A,
                rule().set(CacheRulesKeys.METHOD, List.of("POST"))
                        .set(CacheRulesKeys.ACTION, CacheRuleConfig.Action.NEVER_CACHE)
                        .build());
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("POST /b HTTP/1.1\r\nHost: test.example\r\nContent-Length: 0\r\n\r\n");
            assertEquals("answer 1", client.response().text());
        }
        assertAnswer(2, "/b");
    }

    @Test
    void inspectorNamesTheRulesThatMatch() throws Exception {
        start(
                "Cache-Control: max-age=600\r\n",
                NEVER_BELOW_A,
                rule().set(CacheRulesKeys.PREFIX, "/b")
                        .set(CacheRulesKeys.REVALIDATE, Duration.ofSeconds(10))
                        .build());
        proxy.get("/b");
        proxy.advanceSeconds(4);
        LookupSource.LookupReport report = lookup("/b");
        LookupSource.Stored stored = report.stored();
        assertNotNull(stored);
        assertEquals(10, stored.freshnessLifetimeSeconds());
        assertTrue(stored.fresh());
        assertEquals(
                "a request is answered from the cache: fresh, lifetime 10 s by cache_rules[1], age 4 s; the request is"
                        + " matched by cache_rules[1]",
                report.reason());
        assertNull(lookup("/a").stored());
        assertEquals(
                "nothing is stored; the request is matched by cache_rules[0]",
                lookup("/a").reason());
        assertEquals("nothing is stored", lookup("/c").reason());
    }

    private LookupSource.LookupReport lookup(String path) throws Exception {
        return new CacheInspection(new ServerView(proxy.proxy()))
                .lookup("http://test.example" + path, List.of())
                .toCompletableFuture()
                .get();
    }
}
