package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.data.PurgeAdmin;
import io.millrace.proxy.cache.CacheCurve;
import io.millrace.proxy.cache.CacheException;
import io.millrace.proxy.cache.CacheLookup;
import io.millrace.proxy.cache.CachePurge;
import io.millrace.proxy.cache.CacheQuery;
import io.millrace.proxy.cache.CachedResponse;
import io.millrace.proxy.cache.ListingEnd;
import io.millrace.proxy.cache.ProxyCache;
import io.millrace.proxy.cache.PurgeEstimate;
import io.millrace.proxy.cache.PurgeResult;
import io.millrace.proxy.config.ProxyConfig;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the stored responses of a proxy as an embedding application sees them. */
class ProxyCacheTest {
    private static final List<String> PATHS = List.of("/a", "/a.png", "/b?q");

    @TempDir
    private Path directory;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private final ExecutorService executor = Executors.newSingleThreadExecutor(task -> new Thread(task, "application"));

    @AfterEach
    void shutDown() {
        executor.shutdownNow();
    }

    private void start(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(
                request -> {
                    if (request.has(" /vary")) {
                        request.ok("Cache-Control: max-age=600\r\nVary: X-Kind\r\n", new byte[5]);
                        return;
                    }
                    String type = request.has(".png") ? "image/png" : "text/html";
                    request.ok(
                            "Cache-Control: max-age=600\r\nETag: \"e\"\r\nxkey: all " + (request.has("/b") ? "b" : "a")
                                    + "\r\nContent-Type: " + type + "\r\n",
                            new byte[8]);
                },
                more);
    }

    private void startOnDisk() throws Exception {
        start(config -> config.storage(directory.resolve("disk"), 64 << 20));
        for (String path : PATHS) {
            proxy.getAndSettle(path);
        }
        PurgeRecordsTest.awaitInventory(proxy, new PurgeAdmin(new ServerView(proxy.proxy())));
    }

    private ProxyCache cache() {
        return proxy.proxy().cache(executor);
    }

    private static <T> T await(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    private static String refused(CompletionStage<?> stage) {
        ExecutionException failed = assertThrows(ExecutionException.class, () -> await(stage));
        return assertInstanceOf(CacheException.class, failed.getCause()).code();
    }

    private boolean isHit(String path) throws IOException {
        int before = proxy.origin().requests();
        proxy.getAndSettle(path);
        return proxy.origin().requests() == before;
    }

    // Lookup

    @Test
    void aLookupShowsTheStoredResponseAndWhy() throws Exception {
        start(config -> config);
        CacheLookup nothing = await(cache().lookup("http://test.example/a"));
        assertNull(nothing.stored());
        assertEquals("nothing is stored", nothing.reason());
        proxy.getAndSettle("/a");
        proxy.advanceSeconds(10);
        CacheLookup found = await(cache().lookup("HTTP://TEST.example:80/a"));
        assertEquals("http://test.example/a", found.url());
        assertEquals(List.of(), found.others());
        CacheLookup.Stored stored = found.stored();
        assertNotNull(stored);
        assertEquals(
                new CacheLookup.Stored(true, 200, true, 10, 600, 8, List.of(), "\"e\"", null, stored.tags()), stored);
        assertEquals(Set.of("all", "a"), Set.copyOf(stored.tags()));
        assertTrue(found.reason().startsWith("a request is answered from the cache"), found::reason);
        // A lookup is no request.
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void requestFieldsSelectAVariant() throws Exception {
        start(config -> config);
        proxy.getAndSettle("/vary", "X-Kind: one\r\n");
        assertNotNull(await(cache().lookup("http://test.example/vary", Map.of("X-Kind", "one")))
                .stored());
        CacheLookup other = await(cache().lookup("http://test.example/vary", Map.of("X-Kind", "two")));
        assertNull(other.stored());
        assertEquals("nothing is stored for these request fields", other.reason());
    }

    // Purges

    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            value = {
                "url http://test.example/a => /a",
                "host test.example => /a /a.png /b?q",
                "prefix http://test.example/a => /a /a.png",
                "tag b => /b?q",
                "where type == 'image/png' => /a.png",
                "regex [.]png$ => /a.png",
                "wildcard http://test.example/b* => /b?q",
                "all => /a /a.png /b?q",
            })
    void aCountIsWhatThePurgeThenCovers(String text, String covered) throws Exception {
        startOnDisk();
        CachePurge purge = purge(text);
        List<String> paths = List.of(covered.split(" ", -1));
        PurgeEstimate estimate = await(cache().count(purge));
        assertEquals(paths.size(), estimate.objects());
        assertEquals(8L * paths.size(), estimate.bytes());
        assertNull(estimate.note());
        assertFalse(estimate.hasMoreUrls());
        Set<String> urls = new TreeSet<>();
        paths.forEach(path -> urls.add("http://test.example" + path));
        assertEquals(urls, new TreeSet<>(estimate.urls()));
        for (String path : PATHS) {
            assertTrue(isHit(path), path);
        }
        PurgeResult result = await(cache().purge(purge.counted()));
        assertEquals(paths.size(), result.objects());
        assertFalse(result.id().isEmpty());
        for (String path : PATHS) {
            assertEquals(!paths.contains(path), isHit(path), path);
        }
    }

    private static CachePurge purge(String text) {
        int space = text.indexOf(' ');
        String target = text.substring(space + 1);
        return switch (space < 0 ? text : text.substring(0, space)) {
            case "url" -> CachePurge.url(target);
            case "host" -> CachePurge.host(target);
            case "prefix" -> CachePurge.prefix(target);
            case "tag" -> CachePurge.tagged(target);
            case "where" -> CachePurge.where(target);
            case "regex" -> CachePurge.regex(target);
            case "wildcard" -> CachePurge.wildcard(target);
            case "all" -> CachePurge.all();
            default -> throw new IllegalArgumentException(text);
        };
    }

    @Test
    void aSoftPurgeMakesResponsesStale() throws Exception {
        start(config -> config);
        proxy.getAndSettle("/a");
        PurgeResult result =
                await(cache().purge(CachePurge.url("http://test.example/a").soft()));
        assertEquals("url", result.scope());
        assertEquals(-1, result.objects());
        CacheLookup.Stored stored =
                await(cache().lookup("http://test.example/a")).stored();
        assertNotNull(stored);
        assertFalse(stored.isFresh());
    }

    @Test
    void purgesOfTheApplicationAreRecorded() throws Exception {
        start(config -> config);
        PurgeResult result = await(cache().purge(CachePurge.tagged("a").onSite("test.example")));
        assertEquals(
                result.id(),
                new PurgeAdmin(new ServerView(proxy.proxy()))
                        .latest(null, 1)
                        .get(0)
                        .record()
                        .id());
    }

    @Test
    void faultsHaveTheCodesOfTheAdminApi() throws Exception {
        start(config -> config);
        assertEquals("bad-url", refused(cache().lookup("no url")));
        assertEquals("bad-url", refused(cache().purge(CachePurge.url("no url"))));
        assertEquals("bad-request", refused(cache().purge(CachePurge.host("a b"))));
        assertEquals("bad-expression", refused(cache().purge(CachePurge.where("status = 1"))));
        assertEquals("bad-regex", refused(cache().purge(CachePurge.regex("("))));
        assertEquals("bad-request", refused(cache().purge(CachePurge.tagged())));
        assertEquals("bad-request", refused(cache().purge(CachePurge.tagged("a").onSite("no site"))));
        assertEquals("bad-expression", refused(cache().list(CacheQuery.all().withCondition("x"), found -> true)));
        // The RAM tier has no inventory.
        assertEquals("no-inventory", refused(cache().count(CachePurge.all())));
        proxy.proxy().close();
        assertEquals("closed", refused(cache().lookup("http://test.example/a")));
        assertEquals("closed", refused(cache().purge(CachePurge.all())));
        assertEquals("closed", refused(cache().count(CachePurge.all())));
        assertEquals("closed", refused(cache().list(CacheQuery.all(), found -> true)));
        assertEquals("closed", refused(cache().curve()));
    }

    // Listings

    private static List<String> urls(ProxyCache cache, CacheQuery query) throws Exception {
        List<String> urls = new ArrayList<>();
        ListingEnd end = await(cache.list(query, found -> urls.add(found.url())));
        assertTrue(end.isComplete());
        assertNull(end.reason());
        assertEquals(urls.size(), end.responses());
        return urls.stream()
                .map(url -> url.substring("http://test.example".length()))
                .sorted()
                .toList();
    }

    @Test
    void aListingHasTheResponsesOfItsConditions() throws Exception {
        startOnDisk();
        CacheQuery all = CacheQuery.all();
        assertEquals(PATHS, urls(cache(), all));
        assertEquals(List.of("/a", "/a.png"), urls(cache(), all.withPrefix("http://test.example/a")));
        assertEquals(List.of("/a.png"), urls(cache(), all.withRegex("[.]png$")));
        assertEquals(List.of("/b?q"), urls(cache(), all.withCondition("tag == 'b'")));
        assertEquals(PATHS, urls(cache(), all.withHost("test.example")));
        assertEquals(List.of(), urls(cache(), all.withHost("other.example")));
        List<CachedResponse> found = new ArrayList<>();
        await(cache().list(all.withCondition("type =~ 'png'"), found::add));
        CachedResponse image = found.get(0);
        assertEquals("image/png", image.contentType());
        assertEquals(200, image.status());
        assertEquals(8, image.length());
        assertTrue(image.isWhole());
        assertEquals(Set.of("all", "a"), Set.copyOf(image.tags()));
        assertEquals(ProxyExtension.START_MILLIS / 1000, image.storedAtSeconds());
    }

    /** More responses than are read at once. */
    @Test
    void aListingIsStreamed() throws Exception {
        int count = CacheAccess.PAGE + 50;
        start(config -> config.storage(directory.resolve("disk"), 64 << 20));
        try (RawClient client = new RawClient(proxy.address())) {
            for (int i = 0; i < count; i++) {
                assertEquals(200, client.get("/" + i).response().status());
            }
        }
        proxy.settle();
        PurgeRecordsTest.awaitInventory(proxy, new PurgeAdmin(new ServerView(proxy.proxy())));
        Set<String> different = ConcurrentHashMap.newKeySet();
        assertEquals(
                count,
                await(cache().list(CacheQuery.all(), found -> different.add(found.url())))
                        .responses());
        assertEquals(count, different.size());
        ListingEnd ended = await(cache().list(CacheQuery.all(), found -> false));
        assertEquals(new ListingEnd(1, false, null), ended);
    }

    @Test
    void theExceptionOfAReceiverEndsTheListing() throws Exception {
        startOnDisk();
        IllegalStateException thrown = new IllegalStateException("enough");
        ExecutionException failed = assertThrows(
                ExecutionException.class,
                () -> await(cache().list(CacheQuery.all(), found -> {
                    throw thrown;
                })));
        assertEquals(thrown, failed.getCause());
    }

    // Curve

    @Test
    void theCurveIsThereIfItIsSimulated() throws Exception {
        start(config -> config);
        assertEquals(Optional.empty(), await(cache().curve()));
        proxy.reload(config -> config.set("cache.curve", "true"));
        CacheCurve curve = await(cache().curve()).orElseThrow();
        assertFalse(curve.isReady());
        assertEquals(32L << 20, curve.ramBytes());
        assertTrue(curve.sizes().stream().anyMatch(size -> size.scale() == 2 && size.ramBytes() == 64L << 20));
    }

    // Threads

    /** A receiver and a dependent stage may block: they run on the executor, and clients are served meanwhile. */
    @Test
    void stagesAndReceiversRunOnTheExecutor() throws Exception {
        startOnDisk();
        Set<String> threads = ConcurrentHashMap.newKeySet();
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        CompletionStage<ListingEnd> listing = cache().list(CacheQuery.all(), found -> {
            threads.add(Thread.currentThread().getName());
            entered.countDown();
            try {
                return released.await(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        assertTrue(entered.await(30, TimeUnit.SECONDS));
        assertTrue(isHit("/a"));
        CompletionStage<String> after = listing.thenCombine(cache().curve(), (end, curve) -> "")
                .thenCombine(cache().lookup("http://test.example/a"), (none, found) -> Thread.currentThread()
                        .getName());
        released.countDown();
        assertEquals("application", await(after));
        assertEquals(Set.of("application"), threads);
    }

    /** The interface has only its own types and those of the JDK. */
    @Test
    void noTypeOfTheProxyIsVisible() throws Exception {
        Path classes = Path.of(ProxyCache.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .resolve("io/millrace/proxy/cache");
        List<Class<?>> types = new ArrayList<>();
        try (Stream<Path> files = Files.list(classes)) {
            for (Path file : files.toList()) {
                String name = file.getFileName().toString().replace(".class", "");
                types.add(Class.forName("io.millrace.proxy.cache." + name));
            }
        }
        assertTrue(types.size() >= 10, types::toString);
        for (Class<?> type : types) {
            for (Method method : type.getDeclaredMethods()) {
                if (Modifier.isPublic(method.getModifiers())) {
                    Stream.concat(Stream.of(method.getReturnType()), Arrays.stream(method.getParameterTypes()))
                            .map(used -> used.isArray() ? used.getComponentType() : used)
                            .forEach(used -> assertTrue(
                                    used.isPrimitive()
                                            || used.getName().startsWith("java.")
                                            || used.getName().startsWith("io.millrace.proxy.cache."),
                                    () -> method + ": " + used));
                }
            }
        }
    }
}
