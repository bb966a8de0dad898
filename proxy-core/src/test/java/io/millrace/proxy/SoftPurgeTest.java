package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.data.ScopedPurges;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that softly purged responses are stale from then on, also if their age says that they are fresh. */
class SoftPurgeTest {
    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private volatile boolean failing;

    private void start(String control, String maxStaleAge) throws IOException {
        proxy.start(
                request -> {
                    if (failing) {
                        request.send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n");
                    } else {
                        request.ok(
                                "Cache-Control: " + control + "\r\nCache-Groups: \"g\"\r\n",
                                RawInput.latin1("answer " + request.number()));
                    }
                },
                config -> config.set("cache.max_stale_age", maxStaleAge));
    }

    private void purgeSoftly(Kind kind) throws Exception {
        Scope scope =
                switch (kind) {
                    case HOST -> new Scope(kind, "test.example", null, true);
                    case PREFIX -> new Scope(kind, null, "http://test.example/a", true);
                    case GROUP -> new Scope(kind, "test.example", "g", true);
                    default -> new Scope(kind, null, null, true);
                };
        new ScopedPurges(new ServerView(proxy.proxy()))
                .invalidate(scope)
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS);
    }

    @ParameterizedTest(name = "RFC 5861 4: [{0}], at most {1}: {2} s after a soft purge, {3}")
    @CsvSource(
            delimiter = '|',
            value = {
                "max-age=6000, stale-if-error=20 | 7d | 20 | served",
                "max-age=6000, stale-if-error=20 | 7d | 21 | refused",
                "max-age=6000 | 30s | 30 | served",
                "max-age=6000 | 30s | 31 | refused",
                "max-age=6000 | 0s | 0 | refused",
                "max-age=15, stale-if-error=20 | 7d | 24 | refused",
                "max-age=6000, must-revalidate, stale-if-error=20 | 7d | 1 | refused",
                "s-maxage=6000 | 7d | 1 | refused",
                "s-maxage=6000, stale-if-error=20 | 7d | 20 | served",
            })
    void whenTheOriginFailsItIsServedForAsLongAsItMayBeStale(
            String control, String maxStaleAge, int seconds, String expected) throws Exception {
        start(control, maxStaleAge);
        assertEquals("answer 1", proxy.getAndSettle("/a").text());
        proxy.advanceSeconds(10);
        purgeSoftly(Kind.HOST);
        proxy.advanceSeconds(seconds);
        failing = true;
        RawClient.Response response = proxy.get("/a");
        assertEquals(expected.equals("served") ? 200 : 503, response.status(), response.field("cache-status"));
        if (response.status() == 200) {
            assertEquals("answer 1", response.text());
            assertEquals(
                    "millrace; hit; ttl=-" + Math.max(1, seconds) + "; detail=origin-503",
                    response.field("cache-status"));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Kind.class,
            names = {"ALL", "HOST", "PREFIX", "GROUP"})
    void everyKindOfPurgeBeginsTheTime(Kind kind) throws Exception {
        start("max-age=6000, stale-if-error=20", "7d");
        proxy.getAndSettle("/a");
        proxy.advanceSeconds(10);
        purgeSoftly(kind);
        proxy.advanceSeconds(20);
        failing = true;
        assertEquals(200, proxy.get("/a").status());
        proxy.advanceSeconds(1);
        assertEquals(503, proxy.get("/a").status());
    }

    @Test
    void staleWhileRevalidateDoesNotServeSoftlyPurgedObjects() throws Exception {
        start("max-age=600, stale-while-revalidate=6000", "7d");
        proxy.getAndSettle("/a");
        purgeSoftly(Kind.HOST);
        RawClient.Response response = proxy.get("/a");
        assertEquals("answer 2", response.text());
        assertTrue(response.field("cache-status").startsWith("millrace; fwd=stale"), response.field("cache-status"));
    }

    @Test
    void aClientsMaxStaleDoesNotTakeWhatWasPurgedSoftly() throws Exception {
        start("max-age=600", "7d");
        proxy.getAndSettle("/a");
        purgeSoftly(Kind.HOST);
        assertEquals("answer 2", proxy.get("/a", "Cache-Control: max-stale\r\n").text());
    }
}
