package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.InvalidationService.InvalidationReport;
import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.data.CacheInspection;
import io.millrace.proxy.admin.data.ScopedPurges;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests purges of more than one URL in the admin API, and the inspector's report about the covered responses. */
class ScopedPurgesTest {
    private static final String FRESH =
            "Cache-Control: max-age=600\r\nETag: \"1\"\r\nCache-Groups: \"g\"\r\nxkey: k caf\u00c3\u00a9\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private void start() throws IOException {
        proxy.start(request -> {
            if (request.has("If-None-Match")) {
                request.send("HTTP/1.1 304 Not Modified\r\n" + FRESH + "\r\n");
            } else {
                request.ok(FRESH, RawInput.latin1("answer " + request.number()));
            }
        });
        proxy.get("/a/b");
    }

    private InvalidationReport invalidate(Kind kind, String host, String text, boolean soft) throws Exception {
        return new ScopedPurges(new ServerView(proxy.proxy()))
                .invalidate(new Scope(kind, host, text, soft))
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS);
    }

    private String inspected() throws Exception {
        return new CacheInspection(new ServerView(proxy.proxy()))
                .lookup("http://test.example/a/b", List.of())
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS)
                .reason();
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "ALL, -, -, all, everything, all",
                "HOST, Test.example, -, host, test.example, host",
                "HOST, test.example:80, -, host, test.example, host",
                "PREFIX, -, http://test.example/a, prefix, http://test.example/a, prefix",
                "PREFIX, -, https://test.example/a/, prefix, https://test.example/a/, prefix",
                "PREFIX, -, http://test.example/, prefix, http://test.example/, host",
                "GROUP, test.example, g, group, g of test.example, group"
            })
    void whatIsCoveredIsGone(Kind kind, String host, String text, String scope, String target, String stamp)
            throws Exception {
        start();
        InvalidationReport report = invalidate(kind, host, text, false);
        assertEquals(scope, report.scope());
        assertEquals(target, report.target());
        assertEquals("stored responses are gone", report.detail());
        String said = inspected();
        assertTrue(
                said.startsWith(
                        "a request is a miss: invalidated-by-" + stamp + ", the response was fetched under stamp "),
                said);
        assertEquals("answer 2", proxy.get("/a/b").text());
        assertTrue(inspected().startsWith("a request is answered from the cache: fresh"), inspected());
        assertEquals("answer 2", proxy.get("/a/b").text());
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "HOST, other.example, -",
                "HOST, test.example:8080, -",
                "PREFIX, -, http://test.example/a/c",
                "PREFIX, -, http://test.example:8080/a",
                "GROUP, test.example, h",
                "GROUP, other.example, g"
            })
    void whatIsNotCoveredStays(Kind kind, String host, String text) throws Exception {
        start();
        invalidate(kind, host, text, false);
        assertEquals("answer 1", proxy.get("/a/b").text());
        assertEquals(1, proxy.origin().requests());
    }

    private InvalidationReport invalidateTags(String site, boolean soft, String... tags) throws Exception {
        return new ScopedPurges(new ServerView(proxy.proxy()))
                .invalidate(new Scope(Kind.TAG, null, null, soft, List.of(tags), site))
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "-, k, k of every site, 2",
                "Test.example, k, k of Test.example, 2",
                "-, caf\u00e9, caf\u00e9 of every site, 2",
                "-, g, g of every site, 2",
                "other.example, k, k of other.example, 1",
                "shop, k, k of shop, 1",
                "-, K, K of every site, 1"
            })
    void tagsAreOfOneSiteOrOfEverySite(String site, String tag, String target, int requests) throws Exception {
        start();
        InvalidationReport report = invalidateTags(site, false, "none", tag);
        assertEquals("tag", report.scope());
        assertEquals("none, " + target, report.target());
        assertTrue(report.id().length() > 1, report.id());
        proxy.get("/a/b");
        assertEquals(requests, proxy.origin().requests());
        assertEquals(1, proxy.counted(Counter.PURGES_TAG));
    }

    /** Rules with fixed hosts have no other sites, so that a name with a typing error is refused. */
    @Test
    void aSiteThatNoRuleHasIsRefused() throws Exception {
        proxy.withoutRules();
        proxy.start(
                request -> request.ok(FRESH, RawInput.latin1("answer " + request.number())),
                config -> config.map("http://test.example/", proxy.origin().url()));
        ExecutionException refused = assertThrows(ExecutionException.class, () -> invalidateTags("typo", false, "k"));
        AdminException why = assertInstanceOf(AdminException.class, refused.getCause());
        assertEquals(404, why.status());
        assertEquals(
                "no site typo: no rule has it as remap[].site, nor as its host; nothing was purged", why.getMessage());
        assertEquals("tag", invalidateTags("Test.example", false, "k").scope());
    }

    /** A host with a typing error is purged, but the answer says that no rule maps it. */
    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "HOST, typo.example, -, stored responses are gone; no remap rule maps this host",
                "PREFIX, -, https://typo.example/a, stored responses are gone; no remap rule maps this host",
                "GROUP, typo.example, g, stored responses are gone; no remap rule maps this host",
                "HOST, test.example:443, -, 'stored responses are gone; port 443 is not the default port of http: without"
                        + " a port, a purge covers http and https'",
                "PREFIX, -, https://test.example:80/a, 'stored responses are gone; port 80 is not the default port of"
                        + " https: without a port, a purge covers http and https'",
                "HOST, test.example:8090, -, stored responses are gone",
                "HOST, port.example:80, -, 'stored responses are gone; no remap rule maps this host with this port;"
                        + " rules map port.example:8090'",
                "PREFIX, -, http://port.example/a, 'stored responses are gone; no remap rule maps this host with this"
                        + " port; rules map port.example:8090'",
                "HOST, port.example:8090, -, stored responses are gone",
                "HOST, Test.example, -, stored responses are gone",
                "PREFIX, -, http://test.example/a, stored responses are gone"
            })
    void aHostThatNoRuleMapsIsNamed(Kind kind, String host, String text, String detail) throws Exception {
        proxy.withoutRules();
        proxy.start(request -> request.ok(FRESH, RawInput.latin1("answer " + request.number())), config -> config.map(
                        "http://test.example/", proxy.origin().url())
                .map("http://port.example:8090/", proxy.origin().url()));
        assertEquals(detail, invalidate(kind, host, text, false).detail());
    }

    @ParameterizedTest
    @CsvSource({
        "http://typo.example/a, true",
        "http://port.example/a, true",
        "http://port.example:8090/a, false",
        "http://test.example/a, false"
    })
    void aUrlThatNoRuleMapsIsNamedWhenItIsMadeStale(String url, boolean isNamed) throws Exception {
        proxy.withoutRules();
        proxy.start(request -> request.ok(FRESH, RawInput.latin1("answer " + request.number())), config -> config.map(
                        "http://test.example/", proxy.origin().url())
                .map("http://port.example:8090/", proxy.origin().url()));
        String detail = invalidate(Kind.URL, null, url, true).detail();
        assertEquals(isNamed, detail.endsWith("; no remap rule maps this URL"), detail);
    }

    @ParameterizedTest
    @CsvSource({
        "a b, k, not a site",
        "s/, k, not a site",
        "s, '', a tag is empty",
        "s, 'a\u0001', control byte 0x1 at position 1"
    })
    void whatIsNoSiteOrNoTagPurgesNothing(String site, String tag, String said) throws Exception {
        start();
        ExecutionException refused = assertThrows(ExecutionException.class, () -> invalidateTags(site, false, tag));
        AdminException why = assertInstanceOf(AdminException.class, refused.getCause());
        assertEquals(400, why.status());
        assertTrue(String.valueOf(why.getMessage()).contains(said), why.getMessage());
        assertEquals("answer 1", proxy.get("/a/b").text());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void aSingleUrlIsMadeStale() throws Exception {
        start();
        InvalidationReport report = invalidate(Kind.URL, null, "http://test.example/a/b", true);
        assertEquals("url", report.scope());
        assertTrue(inspected().startsWith("a request is validated at the origin first: stale-by-url"), inspected());
        assertEquals("answer 1", proxy.get("/a/b").text());
        assertEquals(2, proxy.origin().requests());
        assertEquals("answer 1", proxy.get("/a/b").text());
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void softIsValidated() throws Exception {
        start();
        InvalidationReport report = invalidate(Kind.HOST, "test.example", null, true);
        assertEquals("stored responses are stale and are validated before their next use", report.detail());
        assertTrue(inspected().startsWith("a request is validated at the origin first: stale-by-host"), inspected());
        assertEquals("answer 1", proxy.get("/a/b").text());
        assertEquals(2, proxy.origin().requests());
        assertEquals("answer 1", proxy.get("/a/b").text());
        assertEquals(2, proxy.origin().requests());
        assertEquals(1, proxy.counted(Counter.PURGES_HOST));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"http://test.example", "test.example/a", "test.example?", "user@test.example", "a b", "[", ":"})
    void whatIsNoHostIsRefused(String host) throws Exception {
        start();
        ExecutionException refused =
                assertThrows(ExecutionException.class, () -> invalidate(Kind.HOST, host, null, false));
        AdminException said = assertInstanceOf(AdminException.class, refused.getCause());
        assertEquals(400, said.status());
        assertEquals("answer 1", proxy.get("/a/b").text());
    }
}
