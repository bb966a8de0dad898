package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Purges by tag, over real sockets. */
class TagPurgeTest {
    private static final String FRESH = "Cache-Control: max-age=600\r\n";
    private static final String HOST = "test.example";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    /** The origin's tags of a path are what follows {@code /tags/} in it, a plus sign being a space. */
    private void start(String field, UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(
                request -> {
                    String path = request.head().split(" ", 3)[1];
                    String tags = path.startsWith("/tags/") ? path.substring(6).replace('+', ' ') : "";
                    String line = tags.isEmpty() ? "" : field + ": " + tags + "\r\n";
                    if (request.has("If-None-Match")) {
                        request.send("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n" + FRESH + "\r\n");
                    } else {
                        request.ok(FRESH + "ETag: \"1\"\r\n" + line, RawInput.latin1("answer " + request.number()));
                    }
                },
                more);
    }

    private void start() throws IOException {
        start("xkey", config -> config);
    }

    private RawClient.Response send(String method, String host, String target, String... fields) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            String lines = String.join("\r\n", fields);
            return client.send(method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + lines
                            + (lines.isEmpty() ? "" : "\r\n") + "\r\n")
                    .response();
        }
    }

    private RawClient.Response get(String host, String target) throws IOException {
        RawClient.Response response = send("GET", host, target);
        proxy.settle();
        return response;
    }

    private boolean isStored(String host, String target) throws IOException {
        int before = proxy.origin().requests();
        get(host, target);
        return proxy.origin().requests() == before;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "PURGE | xkey: p1",
                "PURGE | xkey-purge: x p1",
                "PURGE | Surrogate-Key: p1 p2",
                "PURGE | Cache-Tag: p1,p2",
                "PURGE | Edge-Cache-Tag: p2, p1",
                "BAN | Cache-Tag: p1"
            })
    void aPurgeByTagTakesWhatHasItOnTheHostsSite(String method, String field) throws Exception {
        start();
        get(HOST, "/tags/p1");
        get(HOST, "/tags/a+p1+b");
        get(HOST, "/tags/q");
        get(HOST, "/plain");
        get("other.example", "/tags/p1");
        RawClient.Response purged = send(method, HOST, "/any", field);
        assertEquals(200, purged.status(), purged.text());
        assertTrue(purged.text().startsWith("200 OK: invalidated tag"), purged.text());
        assertTrue(purged.text().contains(" on the site of host test.example, stamp "), purged.text());
        String status = get(HOST, "/tags/p1").field("cache-status");
        assertTrue(status.contains("detail=invalidated-by-tag"), status);
        assertFalse(isStored(HOST, "/tags/a+p1+b"));
        assertTrue(isStored(HOST, "/tags/a+p1+b"));
        assertTrue(isStored(HOST, "/tags/q"));
        assertTrue(isStored(HOST, "/plain"));
        assertTrue(isStored("other.example", "/tags/p1"));
        assertEquals(1, proxy.counted(Counter.PURGES_TAG));
    }

    @ParameterizedTest
    @ValueSource(strings = {"xkey-softpurge: p1", "xkey: p1\r\nFastly-Soft-Purge: 1"})
    void aSoftPurgeByTagMakesStale(String field) throws Exception {
        start();
        get(HOST, "/tags/p1");
        RawClient.Response purged = send("PURGE", HOST, "/", field);
        assertTrue(purged.text().startsWith("200 OK: made stale tag p1"), purged.text());
        RawClient.Response validated = send("GET", HOST, "/tags/p1");
        assertEquals("answer 1", validated.text());
        assertTrue(validated.field("cache-status").contains("detail=stale-by-tag"), validated.field("cache-status"));
        proxy.settle();
        assertTrue(isStored(HOST, "/tags/p1"));
        // The 304 named no tags: those from before stay.
        send("PURGE", HOST, "/", "xkey: p1");
        assertFalse(isStored(HOST, "/tags/p1"));
    }

    @Test
    void aSoftPurgeOfAUrlMakesItStale() throws Exception {
        start();
        get(HOST, "/plain");
        get(HOST, "/plain?q");
        RawClient.Response purged = send("PURGE", HOST, "/plain", "Fastly-Soft-Purge: 1");
        assertTrue(purged.text().startsWith("200 OK: made stale http://test.example/plain, stamp "), purged.text());
        RawClient.Response validated = send("GET", HOST, "/plain");
        assertEquals("answer 1", validated.text());
        assertTrue(validated.field("cache-status").contains("detail=stale-by-url"), validated.field("cache-status"));
        proxy.settle();
        assertTrue(isStored(HOST, "/plain"));
        assertTrue(isStored(HOST, "/plain?q"));
        assertEquals(1, proxy.counted(Counter.PURGES_URL_SOFT));
    }

    @ParameterizedTest
    @CsvSource({
        "Surrogate-Key, false, false",
        "Cache-Tag, false, false",
        "Edge-Cache-Tag, false, false",
        "xkey, true, true",
        "X-Other, false, true"
    })
    void clientsGetFieldsOfTagsOnlyWhereTheyAreKept(String field, boolean keep, boolean seen) throws Exception {
        start(field, config -> config.set("cache.tags.keep", String.valueOf(keep)));
        for (String kind : List.of("miss", "hit")) {
            RawClient.Response response = send("GET", HOST, "/tags/p1");
            assertEquals(seen, response.head().contains(field + ": p1"), kind + ": " + response.head());
            proxy.settle();
        }
        assertEquals(
                seen, send("GET", HOST, "/tags/p1", "Range: bytes=1-2").head().contains(field));
    }

    @Test
    void cacheGroupsIsSentOnAndIsATagToo() throws Exception {
        start("Cache-Groups", config -> config);
        assertTrue(send("GET", HOST, "/tags/\"g\"").head().contains("Cache-Groups: \"g\""));
        proxy.settle();
        assertTrue(send("GET", HOST, "/tags/\"g\"").head().contains("Cache-Groups: \"g\""));
        send("PURGE", HOST, "/", "xkey: g");
        assertFalse(isStored(HOST, "/tags/\"g\""));
    }

    @Test
    void otherFieldsAreConfigured() throws Exception {
        start("X-Magento-Tags", config -> config.set("cache.tags.fields", "X-Magento-Tags"));
        assertFalse(send("GET", HOST, "/tags/p1,p2").head().contains("X-Magento-Tags"));
        proxy.settle();
        send("PURGE", HOST, "/", "xkey: p2");
        assertFalse(isStored(HOST, "/tags/p1,p2"));
    }

    @Test
    void moreThanAThousandTagsAreNotStored() throws Exception {
        start();
        String thousand = IntStream.range(0, 1000).mapToObj(i -> "t" + i).collect(Collectors.joining("+"));
        get(HOST, "/tags/" + thousand);
        assertTrue(isStored(HOST, "/tags/" + thousand));
        send("PURGE", HOST, "/", "xkey: t999");
        assertFalse(isStored(HOST, "/tags/" + thousand));
        get(HOST, "/tags/" + thousand + "+more");
        assertFalse(isStored(HOST, "/tags/" + thousand + "+more"));
    }

    @Test
    void aSiteJoinsHosts() throws Exception {
        UnaryOperator<ProxyConfig.Builder> shop = config -> config.map(
                        "http://a.example/",
                        "http://127.0.0.1:" + proxy.origin().port() + "/",
                        ConfigValues.builder().set(RemapKeys.SITE, "shop").build())
                .map(
                        "http://b.example/",
                        "http://127.0.0.1:" + proxy.origin().port() + "/",
                        ConfigValues.builder().set(RemapKeys.SITE, "shop").build());
        start("xkey", shop);
        get("a.example", "/tags/p");
        get(HOST, "/tags/p");
        assertEquals(200, send("PURGE", "b.example", "/", "xkey: p").status());
        assertFalse(isStored("a.example", "/tags/p"));
        assertTrue(isStored(HOST, "/tags/p"));
    }

    @Test
    void aSiteNeedsTheRightOfEveryRuleOfIt() throws Exception {
        UnaryOperator<ProxyConfig.Builder> shop = config -> config.map(
                        "http://a.example/",
                        "http://127.0.0.1:" + proxy.origin().port() + "/",
                        ConfigValues.builder().set(RemapKeys.SITE, "shop").build())
                .map(
                        "http://b.example/",
                        "http://127.0.0.1:1/",
                        ConfigValues.builder()
                                .set(RemapKeys.SITE, "shop")
                                .set(ConfigKeys.PURGE_ALLOW, List.of("192.0.2.1"))
                                .build());
        start("xkey", shop);
        get("a.example", "/tags/p");
        RawClient.Response refused = send("PURGE", "a.example", "/", "xkey: p");
        assertEquals(403, refused.status());
        assertTrue(isStored("a.example", "/tags/p"));
    }

    /** The tags are known with the head: a response that a purge of its tag has outdated is not stored. */
    @ParameterizedTest
    @CsvSource({"xkey: p1, 0", "Fastly-Soft-Purge: 1, 1"})
    void aFetchInFlightIsNotStoredIfItsTagWasPurged(String field, int stored) throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(request -> {
            if (request.number() == 1) {
                asked.countDown();
                go.await();
            }
            request.ok(FRESH + "ETag: \"1\"\r\nxkey: p1\r\n", RawInput.latin1("answer " + request.number()));
        });
        RawClient slow = proxy.client().get("/tags/p1");
        asked.await();
        send("PURGE", HOST, "/", "xkey: p1", field.startsWith("xkey") ? "X-None: 1" : field);
        go.countDown();
        RawClient.Response old = slow.response();
        assertEquals("answer 1", old.text());
        assertEquals(stored == 1, old.field("cache-status").contains("stored"), old.field("cache-status"));
        proxy.settle();
        String next = get(HOST, "/tags/p1").field("cache-status");
        assertEquals(stored == 1, next.contains("fwd=stale"), next);
        assertEquals(2, proxy.origin().requests());
        assertEquals(1 - stored, proxy.counted(Counter.FILLS_INVALIDATED));
    }

    @Test
    void tagsThatBreakALimitPurgeNothing() throws Exception {
        start();
        get(HOST, "/tags/t1");
        String many = IntStream.range(0, 1001).mapToObj(i -> "t" + i).collect(Collectors.joining(" "));
        RawClient.Response refused = send("PURGE", HOST, "/", "xkey: " + many);
        assertEquals(400, refused.status());
        assertTrue(refused.text().contains("limit=1000; nothing was purged"), refused.text());
        assertEquals(400, send("PURGE", HOST, "/", "xkey: ").status());
        assertTrue(isStored(HOST, "/tags/t1"));
    }

    /** Cache-Status says why a response with too many tags or cache groups is not stored. */
    @ParameterizedTest
    @CsvSource({"xkey, t, 1000, true", "xkey, t, 1001, false", "Cache-Groups, g, 1025, false"})
    void aResponseBeyondALimitIsNotStoredAndSaysSo(String field, String letter, int count, boolean isStored)
            throws Exception {
        String mark = field.equals("xkey") ? "" : "\"";
        String names = IntStream.range(0, count)
                .mapToObj(i -> mark + letter + i + mark)
                .collect(Collectors.joining(mark.isEmpty() ? " " : ", "));
        proxy.start(request ->
                request.ok("Cache-Control: max-age=600\r\n" + field + ": " + names + "\r\n", RawInput.latin1("x")));
        for (int i = 0; i < 2; i++) {
            String status = get(HOST, "/a").field("cache-status");
            String limit = field.equals("xkey") ? "tags-limit" : "cache-groups-limit";
            assertEquals(!isStored, status.endsWith("; detail=" + limit), status);
            assertEquals(isStored && i == 1, status.contains("; hit"), status);
            proxy.settle();
        }
    }

    @Test
    void whatIsPurgedStaysPurgedAfterARestart() throws Exception {
        UnaryOperator<ProxyConfig.Builder> onDisk = config -> config.storage(directory, 64 << 20);
        start("xkey", onDisk);
        for (String path : List.of("/tags/old", "/tags/again", "/tags/left")) {
            get(HOST, path);
        }
        send("PURGE", HOST, "/", "xkey: old");
        send("PURGE", HOST, "/", "xkey: again");
        get(HOST, "/tags/again");
        proxy.proxy().close();
        proxy.origin().close();
        start("xkey", onDisk);
        assertTrue(isStored(HOST, "/tags/again"));
        assertTrue(isStored(HOST, "/tags/left"));
        assertFalse(isStored(HOST, "/tags/old"));
        send("PURGE", HOST, "/", "xkey: left");
        assertFalse(isStored(HOST, "/tags/left"));
    }

    @Test
    void aFetchInFlightIsNeitherJoinedNorServedLater() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(request -> {
            String head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n" + FRESH + "xkey: p\r\n\r\n";
            if (request.number() == 1) {
                request.send(head + "ab");
                go.await();
                request.send("cd");
            } else {
                request.send(head + "newx");
            }
        });
        RawClient slow = proxy.client().get("/a");
        RawClient.Response head = slow.head();
        send("PURGE", HOST, "/", "xkey: p");
        assertEquals("newx", proxy.get("/a").text(), "joined a fetch that was purged");
        go.countDown();
        assertEquals("abcd", new String(slow.content(head), java.nio.charset.StandardCharsets.US_ASCII));
        proxy.settle();
        assertEquals("newx", proxy.get("/a").text());
        assertEquals(2, proxy.origin().requests());
    }

    /**
     * Clients read, and the origin changes and purges what it changed: no response to a request sent after the answer to a purge
     * is older than the purge.
     */
    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14})
    void noRequestAfterAPurgeGetsEarlierContent(long seed) throws Exception {
        int tags = 4;
        AtomicIntegerArray versions = new AtomicIntegerArray(tags);
        AtomicIntegerArray purged = new AtomicIntegerArray(tags);
        proxy.start(request -> {
            int tag = request.head().charAt(request.head().indexOf("/t") + 2) - '0';
            String vary = request.has("/t1") ? "Vary: Foo\r\n" : "";
            int version = versions.get(tag);
            // Slower than a purge, now and then.
            if (request.number() % 3 == 0) {
                java.util.concurrent.locks.LockSupport.parkNanos(200_000);
            }
            request.ok(FRESH + "xkey: k" + tag + " all\r\n" + vary, RawInput.latin1(String.valueOf(version)));
        });
        ExecutorService clients = Executors.newFixedThreadPool(3);
        List<Future<?>> ends = new ArrayList<>();
        CountDownLatch over = new CountDownLatch(1);
        for (int client = 0; client < 3; client++) {
            long own = seed * 31 + client;
            ends.add(clients.submit(() -> {
                Random random = new Random(own);
                while (over.getCount() > 0) {
                    int tag = random.nextInt(tags);
                    int least = purged.get(tag);
                    RawClient.Response response =
                            send("GET", HOST, "/t" + tag + "?" + random.nextInt(2), "Foo: " + random.nextInt(2));
                    int seen = Integer.parseInt(response.text());
                    assertTrue(
                            seen >= least,
                            "seed " + seed + ": tag " + tag + " version " + seen + " after the purge of " + least + ": "
                                    + response.field("cache-status"));
                }
                return null;
            }));
        }
        Random random = new Random(seed);
        try {
            for (int step = 0; step < 150; step++) {
                int tag = random.nextInt(tags);
                int version = versions.incrementAndGet(tag);
                String soft = random.nextInt(3) == 0 ? "Fastly-Soft-Purge: 1" : "X-Any: 1";
                assertEquals(
                        200, send("PURGE", HOST, "/", "xkey: k" + tag, soft).status());
                purged.set(tag, version);
            }
        } finally {
            over.countDown();
            clients.shutdown();
        }
        for (Future<?> end : ends) {
            end.get(60, TimeUnit.SECONDS);
        }
    }
}
