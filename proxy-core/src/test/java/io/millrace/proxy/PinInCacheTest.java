package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.cache.LookupSource;
import io.millrace.proxy.admin.data.CacheInspection;
import io.millrace.proxy.admin.data.ScopedPurges;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.config.cache.CacheRulesKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.http.TargetUri;
import io.millrace.store.StoreKey;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that {@code pin_in_cache} keeps responses on a disk that is overwritten many times. */
class PinInCacheTest {
    private static final int LENGTH = 200_000;
    private static final int DISK = 8 << 20;

    /** Number of responses that are requested once. */
    private static final int ONCE = 20;

    private static final String FIELDS = "Cache-Control: max-age=60\r\nETag: \"1\"\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private volatile Runnable beforeConfirming = () -> {};

    /** Paths that the origin received without a condition. */
    private final Set<String> sent = ConcurrentHashMap.newKeySet();

    /** Starts with a disk of 8 MiB, little RAM, and a rule that pins the responses under /pin for ten years. */
    private void start(String permit, String more) throws IOException {
        proxy.start(
                request -> {
                    String path = request.head().split(" ", 3)[1];
                    String fields = path.startsWith("/pin") ? FIELDS + more : FIELDS;
                    if (request.head().contains("\r\nIf-None-Match:")) {
                        beforeConfirming.run();
                        request.send("HTTP/1.1 304 Not Modified\r\n" + fields + "\r\n");
                    } else {
                        sent.add(path);
                        request.ok(fields, ProxyExtension.content(LENGTH));
                    }
                },
                config -> config.storage(directory, DISK)
                        .set("cache.ram_size", "1MiB")
                        .set("store.disk_admission", "second_hit")
                        .set("cache.permit_pinning", permit)
                        .cacheRule(ConfigValues.builder()
                                .set(CacheRulesKeys.PREFIX, "/pin")
                                .set(CacheRulesKeys.PIN_IN_CACHE, Duration.ofDays(3650))
                                .build()));
    }

    private void get(String path) throws IOException {
        assertArrayEquals(
                ProxyExtension.content(LENGTH), proxy.getAndSettle(path).content());
    }

    /**
     * Stores other responses, one and a half times the size of the disk. They are requested twice, as admission
     * requires.
     */
    private void fill(int round) throws IOException {
        long until = written() + DISK / 2 * 3;
        for (int i = 0; written() < until; i++) {
            assertTrue(i < 1000, "the disk takes nothing: " + ring());
            get("/other/" + round + "/" + i);
            get("/other/" + round + "/" + i);
        }
    }

    private long written() {
        return ring().bytesWritten() - ring().bytesCarried();
    }

    /** Returns whether the origin had to send the content, and not only confirm it. */
    private boolean isFetched(String path) throws IOException {
        sent.clear();
        get(path);
        return sent.contains(path);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Vary: Accept-Language\r\n"})
    void aPinnedResponseStaysAndIsValidatedWhenItIsStale(String more) throws Exception {
        start("true", more);
        fill(1);
        // Admission accepts it at its first request; it is not requested again.
        get("/pin/a");
        get("/other/once");
        fill(2);
        proxy.advanceSeconds(120);
        assertTrue(isFetched("/other/once"), "the ring has not come round");
        assertFalse(isFetched("/pin/a"), "the pinned response is gone");
        fill(3);
        proxy.restart();
        fill(4);
        proxy.advanceSeconds(120);
        assertFalse(isFetched("/pin/a"), "after a 304 and a restart");
    }

    /** The miss itself, its fetch and its store count as one request. */
    @Test
    void aFullDiskDoesNotAdmitWhatIsRequestedOnce() throws Exception {
        start("true", "");
        fill(1);
        long refusedBefore = ring().objectsRefused();
        for (int i = 0; i < ONCE; i++) {
            get("/once/" + i);
        }
        assertEquals(ONCE, ring().objectsRefused() - refusedBefore);
    }

    @Test
    void aPurgeTakesWhatIsPinned() throws Exception {
        start("true", "");
        get("/pin/a");
        proxy.purge("/pin/a");
        assertTrue(isFetched("/pin/a"));
    }

    private StoreStatistics.Ring ring() {
        return proxy.proxy().store().statistics().volumes().get(0).ring();
    }

    /** For a purge of the URL itself the disk has only the marker; for one of the host it has nothing. */
    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, false"})
    void purgedResponsesAreNotKeptUntilTheirPinEnds(boolean varies, boolean ofTheUrl) throws Exception {
        start("true", varies ? "Vary: Accept-Language\r\n" : "");
        get("/pin/a");
        assertTrue(ring().bytesPinned() > LENGTH);
        if (ofTheUrl) {
            proxy.purge("/pin/a");
        } else {
            new ScopedPurges(new ServerView(proxy.proxy()))
                    .invalidate(new Scope(Kind.HOST, "test.example", null, false))
                    .toCompletableFuture()
                    .get();
        }
        fill(1);
        fill(2);
        assertTrue(ring().bytesPinned() < 1000, ring()::toString);
        assertEquals(0, ring().pinsBroken());
        assertTrue(isFetched("/pin/a"));
    }

    /** RFC 9111 s4.3.5: the response to HEAD freshens the stored response, and renews its pin. */
    @Test
    void theMarkerHasTheRenewedPinOfTheHead() throws Exception {
        start("true", "Vary: Accept-Language\r\n");
        get("/pin/a");
        long before = marker("/pin/a").pinnedUntilSeconds();
        proxy.advanceSeconds(TimeUnit.DAYS.toSeconds(4000));
        try (RawClient client = proxy.client()) {
            client.send("HEAD /pin/a HTTP/1.1\r\nHost: test.example\r\nCache-Control: no-cache\r\n\r\n");
            assertEquals(200, client.head().status());
        }
        proxy.settle();
        ProxyExtension.await(
                "the marker's pin is renewed", () -> marker("/pin/a").pinnedUntilSeconds() > before);
    }

    private StoredHead marker(String path) {
        TargetUri url = (TargetUri) TargetUri.parseAbsolute("http://test.example" + path);
        StoreKey key = proxy.proxy().store().key(CacheKey.of(url).bytes());
        CompletableFuture<StoredObject<StoredHead>> answer = new CompletableFuture<>();
        proxy.proxy().store().open(key, Runnable::run, answer::complete);
        StoredObject<StoredHead> marker = answer.join();
        assertTrue(marker.head().isVaryMarker());
        try {
            return marker.head();
        } finally {
            marker.release();
        }
    }

    @Test
    void aPurgeBeforeA304LeavesNoMarkerToWhatWasPinned() throws Exception {
        start("true", "Vary: Accept-Language\r\n");
        get("/pin/a");
        // So long that the pin of the marker must be renewed too.
        proxy.advanceSeconds(TimeUnit.DAYS.toSeconds(4000));
        beforeConfirming = () -> proxy.purge("/pin/a");
        assertFalse(isFetched("/pin/a"), "a 304 confirms it for the one who asked");
        beforeConfirming = () -> {};
        assertTrue(isFetched("/pin/a"));
    }

    @Test
    void withoutPermissionNothingIsPinned() throws Exception {
        start("false", "");
        fill(1);
        get("/pin/a");
        fill(2);
        proxy.advanceSeconds(120);
        assertTrue(isFetched("/pin/a"));
    }

    @Test
    void theInspectorAndTheMetricsTellOfPins() throws Exception {
        start("true", "");
        get("/pin/a");
        LookupSource.LookupReport report = new CacheInspection(new ServerView(proxy.proxy()))
                .lookup("http://test.example/pin/a", List.of())
                .toCompletableFuture()
                .get();
        assertTrue(report.reason().contains(", pinned until 2035-12-30T00:00:00Z"), report.reason());
        String scraped = proxy.proxy().metrics().prometheusText();
        String series = "millrace_volume_pinned_bytes{application=\"millrace\",volume=\"" + directory + "\"} ";
        int at = scraped.indexOf(series);
        assertTrue(at > 0, scraped);
        assertTrue(Double.parseDouble(scraped.substring(at + series.length(), scraped.indexOf('\n', at))) > LENGTH);
        assertEquals(
                0, proxy.proxy().store().statistics().volumes().get(0).ring().pinsBroken());
    }
}
