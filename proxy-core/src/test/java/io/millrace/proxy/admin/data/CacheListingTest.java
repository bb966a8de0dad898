package io.millrace.proxy.admin.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ListSource.HostCount;
import io.millrace.proxy.admin.cache.ListSource.ListQuery;
import io.millrace.proxy.admin.cache.ListSource.ListReport;
import io.millrace.proxy.admin.cache.ListSource.Listed;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.StoredHeadCodec;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.caching.reuse.VariantKey;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.remap.RemapTable;
import io.millrace.store.CacheStore;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.VolumeConfig;
import io.millrace.store.engine.StoreEngine;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a listing shows of a real store, in the words of HTTP. */
class CacheListingTest {
    private static final long NOW = 1_790_000_000_000L;

    @TempDir
    private Path directory;

    private CacheStore<StoredHead> store;
    private CacheListing listing;
    private RemapTable rules = RemapTable.of(ConfigLoader.parse("listen: [127.0.0.1:80]\n", "test.yaml", Map.of())
            .config());

    @BeforeEach
    void open() throws IOException {
        store = StoreEngine.open(
                StoreConfig.builder()
                        .ramBytes(1 << 20)
                        .inventoryDelayNanos(0)
                        .volumes(List.of(new VolumeConfig(directory, 16 << 20)))
                        .build(),
                new StoredHeadCodec());
        listing = new CacheListing(() -> store, () -> rules, () -> NOW + TimeUnit.DAYS.toMillis(3));
    }

    @AfterEach
    void close() throws IOException {
        store.close();
    }

    private static TargetUri url(String url) {
        return (TargetUri) TargetUri.parseAbsolute(url);
    }

    private static RequestHead request(String url) {
        FieldSection fields =
                FieldSection.builder().add("Accept-Encoding", "GZIP, br").build();
        return RequestHead.of("GET", url(url), fields);
    }

    private static StoredHead head(String url, String... fields) {
        FieldSection.Builder section =
                FieldSection.builder().add("Cache-Control", "max-age=60").add("Content-Type", "text/html");
        for (int i = 0; i < fields.length; i += 2) {
            section.add(fields[i], fields[i + 1]);
        }
        ResponseHead response = ResponseHead.of(200, "OK", section.build());
        return StoredHead.of(request(url), response, NOW, NOW, CacheSettings.DEFAULTS);
    }

    private void put(StoreKey key, StoredHead head, int length) {
        ObjectWriter<StoredHead> writer = store.create(key);
        writer.head(head, length);
        if (length > 0) {
            writer.write(0, Unpooled.wrappedBuffer(new byte[length]));
        }
        writer.complete(length);
    }

    private void put(String url, int length) {
        put(store.key(CacheKey.of(url(url)).bytes()), head(url), length);
    }

    /** Asks until the inventory knows all. */
    private ListReport ask(ListQuery query) {
        ListReport[] last = {null};
        Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> {
            store.sync();
            last[0] = listing.list(query).toCompletableFuture().get(30, TimeUnit.SECONDS);
            return last[0].complete() && settled();
        });
        return last[0];
    }

    /** Whether what was stored has been written behind. */
    private boolean settled() {
        return store.inventory().entries()
                >= store.statistics().volumes().get(0).entries();
    }

    private static ListQuery query(String prefix, String regex, String host, int limit, String after, boolean count) {
        return new ListQuery(prefix, regex, host, null, null, limit, after, count);
    }

    private static ListQuery where(String expression, boolean count) {
        return new ListQuery(null, null, null, null, expression, 1000, null, count);
    }

    private Set<String> urls(String prefix, String regex, String host) {
        ask(query(null, null, null, 1000, null, false));
        Set<String> urls = new HashSet<>();
        ask(query(prefix, regex, host, 1000, null, false)).objects().forEach(object -> urls.add(object.url()));
        return urls;
    }

    @Test
    void findsByPrefixRegexAndHost() {
        put("http://a.example/js/1.js", 10);
        put("http://a.example/css/1.css", 20);
        put("https://a.example/js/1.js", 30);
        put("http://b.example:8080/js/2.js", 40);
        assertEquals(4, urls(null, null, null).size());
        assertEquals(Set.of("http://a.example/js/1.js"), urls("http://a.example/js/", null, null));
        assertEquals(
                Set.of("http://a.example/js/1.js", "https://a.example/js/1.js", "http://b.example:8080/js/2.js"),
                urls(null, "\\.js$", null));
        assertEquals(Set.of("http://b.example:8080/js/2.js"), urls(null, "js", "B.example:8080"));
        assertEquals(Set.of(), urls("http://a.example/", "2\\.js", null));
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            quoteCharacter = '`',
            value = {
                "host == 'A.example' => 1 2 3",
                "scheme == 'https' => 3",
                "path =~ '\\.js$' => 1 4",
                "query == 'v=1' => 2",
                "url == 'http://a.example/css/1.css?v=1' => 2",
                "type in ('text/html', 'image/png') && size < 25B => 1 2",
                "size >= 30B => 3 4",
                "status == 200 && age > 2d && age < 4d => 1 2 3 4",
                "age > 3d => ``",
                "tag == 'post-17' => 2",
                "tag =~ 'archive' || host != 'a.example' => 2 4",
                "!(tag =~ '') => 1 3 4",
                "tier == 'ram' => 1 2 3 4",
                "tier == 'disk' => ``"
            })
    void findsByExpression(String expression, String numbers) {
        List<String> urls = List.of(
                "http://a.example/js/1.js",
                "http://a.example/css/1.css?v=1",
                "https://a.example/img/1.jpg",
                "http://b.example:8080/js/2.js");
        for (int i = 0; i < urls.size(); i++) {
            String url = urls.get(i);
            StoredHead head =
                    i == 1 ? head(url, "Surrogate-Key", "post-17 archive").withStamp(1, url(url), null) : head(url);
            put(store.key(CacheKey.of(url(url)).bytes()), head, 10 * (i + 1));
        }
        ask(query(null, null, null, 1000, null, false));
        Set<String> expected = new HashSet<>();
        for (String number : numbers.isBlank() ? new String[0] : numbers.split(" ", -1)) {
            expected.add(urls.get(Integer.parseInt(number) - 1));
        }
        Set<String> found = new HashSet<>();
        ask(where(expression, false)).objects().forEach(object -> found.add(object.url()));
        assertEquals(expected, found, expression);
        long counted = ask(where(expression, true)).hosts().stream()
                .mapToLong(HostCount::objects)
                .sum();
        assertEquals(expected.size(), counted, expression);
    }

    /** Tags are purged on one site, so that {@code cache warm --purged} requests only its URLs. */
    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            value = {
                "shop => 1 2",
                "SHOP => 1 2",
                "a.example => 3",
                "b.example => 4",
                "b.example:8080 => ''",
                "c.example => 5",
                "unknown => ''"
            })
    void findsBySite(String site, String numbers) {
        ConfigResult result = ConfigLoader.parse("""
                listen: [127.0.0.1:80]
                remap:
                  - {map: http://a.example/shop/, to: http://o, site: shop}
                  - {map: https://s.example/, to: http://o, site: Shop}
                  - {map: http://a.example/, to: http://o}
                  - {map: http://b.example:8080/, to: http://o}
                """, "test.yaml", Map.of());
        assertNotNull(result.config(), () -> result.problems().toString());
        rules = RemapTable.of(result.config());
        List<String> urls = List.of(
                "http://a.example/shop/1",
                "https://s.example/2",
                "http://a.example/3",
                "http://b.example:8080/4",
                "http://c.example/5");
        urls.forEach(url -> put(url, 1));
        ask(query(null, null, null, 1000, null, false));
        Set<String> expected = new HashSet<>();
        for (String number : numbers.isBlank() ? new String[0] : numbers.split(" ", -1)) {
            expected.add(urls.get(Integer.parseInt(number) - 1));
        }
        Set<String> found = new HashSet<>();
        ask(new ListQuery(null, null, null, site, null, 1000, null, false))
                .objects()
                .forEach(object -> found.add(object.url()));
        assertEquals(expected, found, site);
    }

    @Test
    void anExpressionThatIsNoneIsRefusedWithItsPosition() {
        CompletionException e = Assertions.assertThrows(
                CompletionException.class, () -> listing.list(where("host == 'a' && sise > 1M", false))
                        .toCompletableFuture()
                        .join());
        AdminException refused = assertInstanceOf(AdminException.class, e.getCause());
        assertEquals(400, refused.status());
        assertEquals("bad-expression", refused.code());
        assertTrue(
                refused.message().startsWith("where:1:16: unknown field 'sise' (did you mean size?)"),
                refused.message());
    }

    @Test
    void countsByHost() {
        put("http://a.example/1", 10);
        put("http://a.example/2", 20);
        put("http://b.example:8080/", 0);
        ask(query(null, null, null, 1, null, false));
        ListReport report = ask(query(null, null, null, 1, null, true));
        assertEquals(List.of(new HostCount("a.example", 2, 30), new HostCount("b.example:8080", 1, 0)), report.hosts());
        assertEquals(List.of(), report.objects());
    }

    @Test
    void showsVariantsByTheirUrlAndNoMarkers() {
        String url = "http://a.example/varies";
        StoredHead variant = head(url, "Vary", "Accept-Encoding, Cookie");
        StoredHead marker = StoredHead.varyMarker(variant.variance(), 7, NOW);
        byte[] primary = CacheKey.of(url(url)).bytes();
        put(store.key(primary), marker, 0);
        put(store.key(VariantKey.of(primary, marker, request(url).fields(), EncodingRules.NONE)), variant, 50);
        assertEquals(Set.of(url), urls(null, null, null));
        Listed listed = ask(query(null, null, null, 10, null, false)).objects().get(0);
        assertEquals("Accept-Encoding: br,gzip; Cookie absent", listed.variant());
        assertEquals(200, listed.status());
        assertEquals("text/html", listed.type());
        assertEquals(50, listed.length());
        assertTrue(listed.whole());
        assertEquals(NOW / 1000, listed.storedAt());
        assertEquals(directory.toString(), listed.volume());
        CompletableFuture<Boolean> removed = new CompletableFuture<>();
        store.remove(store.key(primary), Runnable::run, (present, failure) -> removed.complete(present));
        assertTrue(removed.join());
        ListReport after = listing.list(query(null, null, null, 10, null, false))
                .toCompletableFuture()
                .join();
        assertEquals(List.of(), after.objects(), "its marker was purged");
        assertEquals(Variance.NONE, head(url).variance());
    }

    private List<Listed> listed() {
        return ask(query(null, null, null, 10, null, false)).objects();
    }

    private void putVariant(byte[] primary, StoredHead marker, StoredHead variant, int length) {
        byte[] key = VariantKey.of(primary, marker, request("http://a.example/").fields(), EncodingRules.NONE);
        put(store.key(key), variant, length);
    }

    /** The nonce of a new marker makes variants of the earlier one unreachable; they stay on disk until reclaim. */
    @Test
    void variantsOfAnEarlierMarkerAreNotListed() throws IOException {
        String url = "http://a.example/varies";
        StoredHead variant = head(url, "Vary", "Accept-Encoding");
        byte[] primary = CacheKey.of(url(url)).bytes();
        for (int nonce = 1; nonce <= 3; nonce++) {
            StoredHead marker = StoredHead.varyMarker(variant.variance(), -nonce, NOW);
            put(store.key(primary), marker, 0);
            putVariant(primary, marker, variant, nonce);
        }
        assertEquals(List.of(3L), listed().stream().map(Listed::length).toList(), "with the marker in RAM");
        close();
        open();
        assertEquals(List.of(3L), listed().stream().map(Listed::length).toList(), "with the marker on disk only");
        assertFalse(store.isInRam(store.key(primary)));
        put(url, 70);
        assertEquals(
                List.of(70L), listed().stream().map(Listed::length).toList(), "with a response that does not vary");
    }

    @Test
    void goesOnWhereAPageEnded() {
        for (int i = 0; i < 25; i++) {
            put("http://a.example/" + i, 10);
        }
        ask(query(null, null, null, 1000, null, false));
        Set<String> seen = new HashSet<>();
        String after = null;
        do {
            ListReport page = ask(query(null, null, null, 10, after, false));
            page.objects().forEach(object -> assertTrue(seen.add(object.url())));
            after = page.next();
        } while (after != null);
        assertEquals(25, seen.size());
    }

    @Test
    void refusesWhatItCannotUnderstand() {
        for (ListQuery bad :
                List.of(query(null, "(", null, 1, null, false), query(null, null, null, 1, "nowhere", false))) {
            CompletionException e = Assertions.assertThrows(
                    CompletionException.class,
                    () -> listing.list(bad).toCompletableFuture().join());
            assertEquals(
                    400, assertInstanceOf(AdminException.class, e.getCause()).status());
        }
        assertNull(ask(query(null, null, null, 1, null, false)).reason());
        assertNotNull(store.inventory());
    }
}
