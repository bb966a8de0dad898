package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ExplainSource.Question;
import io.millrace.proxy.admin.cache.InvalidationService.InvalidationReport;
import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.data.CacheInspection;
import io.millrace.proxy.admin.data.RequestExplanation;
import io.millrace.proxy.admin.data.ScopedPurges;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.cache.CacheRulesKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Purges by pattern over real sockets: in force at once, then swept and retired. No soft purge can be undone here. */
class PatternPurgeTest {
    private static final String FRESH = "Cache-Control: max-age=600\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private void start(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(
                request -> {
                    if (request.has("If-None-Match")) {
                        request.send("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n" + FRESH + "\r\n");
                    } else {
                        String type = request.has(".png") ? "image/png" : "text/html; charset=utf-8";
                        request.ok(
                                FRESH + "ETag: \"1\"\r\nxkey: k " + (request.has("/b") ? "b" : "a")
                                        + "\r\nContent-Type: " + type + "\r\n",
                                RawInput.latin1("answer " + request.number()));
                    }
                },
                config -> more.apply(config.set("purge.undo_window", "0s")));
    }

    private ProxyConfig.Builder onDisk(ProxyConfig.Builder config) {
        return config.storage(directory.resolve("disk"), 64 << 20);
    }

    /** Keeps the sweeper from starting. */
    private void stopSweeper() {
        new ServerView(proxy.proxy()).shared().invalidator().onPattern(() -> {});
    }

    private InvalidationReport purge(String expression, boolean soft) throws Exception {
        return new ScopedPurges(new ServerView(proxy.proxy()))
                .invalidate(new Scope(Kind.PATTERN, null, expression, soft))
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS);
    }

    private AdminException refused(String expression) {
        ExecutionException refused = assertThrows(ExecutionException.class, () -> purge(expression, false));
        return assertInstanceOf(AdminException.class, refused.getCause());
    }

    private int live() {
        return new ServerView(proxy.proxy()).shared().invalidator().patterns().size();
    }

    private void awaitRetired() {
        ProxyExtension.await("patterns are retired", () -> live() == 0);
    }

    private boolean isStored(String path) throws IOException {
        int before = proxy.origin().requests();
        proxy.get(path);
        proxy.settle();
        return proxy.origin().requests() == before;
    }

    private boolean isHit(String path) {
        try {
            RawClient.Response response = proxy.get(path);
            assertEquals("newx", response.text());
            return response.field("cache-status").contains("; hit");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            value = {
                "path =~ '\\.png$' => /a.png",
                "url == 'http://test.example/a.png' => /a.png",
                "host == 'test.example' && type == 'text/html' => /a /b?q",
                "query == 'q' => /b?q",
                "target =~ '^/b[?]' => /b?q",
                "tag == 'a' => /a /a.png",
                "tag == 'b' || type =~ 'png' => /a.png /b?q",
                "header['ETag'] == '\"1\"' && status in (200, 203) => /a /a.png /b?q",
                "size < 100B && age < 1h => /a /a.png /b?q",
                "size > 100B || age > 1h || status != 200 => none"
            })
    void whatAConditionHoldsForIsGone(String expression, String gone) throws Exception {
        for (boolean disk : new boolean[] {false, true}) {
            start(disk ? this::onDisk : config -> config);
            List<String> paths = List.of("/a", "/a.png", "/b?q");
            for (String path : paths) {
                assertFalse(isStored(path));
                assertTrue(isStored(path));
            }
            InvalidationReport report = purge(expression, false);
            assertEquals("s" + Long.toString(report.stamp(), 36), report.id());
            assertEquals("pattern", report.scope());
            assertEquals(expression, report.target());
            awaitRetired();
            for (String path : paths) {
                boolean expected = !List.of(gone.split(" ")).contains(path);
                assertEquals(expected, isStored(path), expression + " " + path + " disk=" + disk);
                assertTrue(isStored(path));
            }
            assertEquals(1, proxy.counted(Counter.PURGES_PATTERN));
            proxy.proxy().close();
            proxy.origin().close();
        }
    }

    @Test
    void inForceAtOnceAndNamed() throws Exception {
        start(config -> config);
        proxy.get("/a");
        proxy.settle();
        stopSweeper();
        String id = purge("path =~ '^/a'", false).id();
        assertEquals(1, live(), "no sweep has run");
        String said = new CacheInspection(new ServerView(proxy.proxy()))
                .lookup("http://test.example/a", List.of())
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS)
                .reason();
        assertTrue(said.startsWith("a request is a miss: invalidated-by-pattern"), said);
        assertTrue(said.contains("before purge " + id), said);
        String status = proxy.get("/a").field("cache-status");
        assertTrue(status.contains("detail=invalidated-by-pattern; purged-by=" + id), status);
        proxy.settle();
        assertTrue(isStored("/a"), "stored after the purge");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void softIsValidatedBeforeAndAfterTheSweep(boolean swept) throws Exception {
        start(this::onDisk);
        proxy.get("/a");
        proxy.settle();
        if (!swept) {
            stopSweeper();
        }
        purge("path == '/a'", true);
        if (swept) {
            awaitRetired();
        }
        RawClient.Response validated = proxy.get("/a");
        assertEquals("answer 1", validated.text());
        assertEquals(2, proxy.origin().requests());
        proxy.settle();
        assertTrue(isStored("/a"), "validated");
        assertEquals("answer 1", proxy.get("/a").text());
    }

    /** After the sweep, the lifetime in the stored head is that at the purge, which no field of the origin gives. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Cache-Control: max-age=3600 | it was 3600 s by max-age",
                "Cache-Control: max-age=60, s-maxage=90 | it was 90 s by s-maxage",
                "Date: Thu, 01 Jan 2026 00:00:00 GMT~Expires: Thu, 01 Jan 2026 01:00:00 GMT | it was 3600 s by "
            })
    void theEndOfALifetimeByASweepIsNamed(String fields, String before) throws Exception {
        proxy.start(
                request -> request.ok(fields.replace("~", "\r\n") + "\r\nETag: \"1\"\r\n", RawInput.latin1("x")),
                config -> config.set("purge.undo_window", "0s"));
        proxy.get("/a");
        proxy.settle();
        proxy.advanceSeconds(5);
        purge("path == '/a'", true);
        awaitRetired();
        ServerView view = new ServerView(proxy.proxy());
        String said = new CacheInspection(view)
                .lookup("http://test.example/a", List.of())
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS)
                .reason();
        assertTrue(said.contains("stale-by-pattern"), said);
        assertTrue(
                said.matches(".*lifetime ended after [0-9]+ s by a soft purge by pattern \\(" + before + ".*"), said);
        String explained = new RequestExplanation(view)
                .explain(new Question("http://test.example/a", "GET", List.of(), null, 0, false))
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS)
                .toString();
        assertTrue(explained.contains("s by a soft purge by pattern; " + before), explained);
    }

    /** A rule that overrides lifetimes does not make a swept response fresh, nor does a response to HEAD. */
    @Test
    void aMarkOutlivesForcedLifetimesAndUnconfirmedHeads() throws Exception {
        proxy.start(
                request -> {
                    if (request.has("HEAD ")) {
                        request.send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n" + FRESH + "\r\n");
                    } else {
                        request.ok(FRESH, RawInput.latin1("answer " + request.number()));
                    }
                },
                config -> config.set("purge.undo_window", "0s")
                        .cacheRule(ConfigValues.builder()
                                .set(CacheRulesKeys.PREFIX, "/")
                                .set(CacheRulesKeys.TTL_IN_CACHE, Duration.ofHours(1))
                                .build()));
        proxy.get("/a");
        proxy.settle();
        purge("path == '/a'", true);
        awaitRetired();
        proxy.client().send("HEAD /a HTTP/1.1\r\nHost: test.example\r\n\r\n").head();
        proxy.settle();
        assertFalse(isStored("/a"), "answered with a response from before the purge");
        assertTrue(isStored("/a"));
    }

    @Test
    void theSixtyFifthIsRefusedAndPurgesNothing() throws Exception {
        start(config -> config);
        proxy.get("/a");
        proxy.settle();
        stopSweeper();
        for (int i = 0; i < 64; i++) {
            purge("path == '/none" + i + "'", i % 2 == 0);
        }
        AdminException full = refused("path == '/a'");
        assertEquals(429, full.status());
        assertEquals("too-many-patterns", full.code());
        assertEquals(64, live());
        assertTrue(isStored("/a"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            value = {
                "path = '/a' => 400 => where:1:6: a single '=' (did you mean ==?); nothing was purged",
                "tier == 'ram' => 400 => where:1:1: unknown field 'tier'",
                "path =~ '(a{1000}){1000}' => 400 => where:1:9: regular expression: error parsing regexp: it has a program of"
            })
    void aBadConditionPurgesNothing(String expression, int status, String message) throws Exception {
        start(config -> config);
        proxy.get("/a");
        proxy.settle();
        AdminException refused = refused(expression);
        assertEquals(status, refused.status());
        assertTrue(refused.message().startsWith(message), refused.message());
        assertTrue(isStored("/a"));
        assertEquals(400, refused("path == '/" + "a".repeat(4000) + "'").status());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPatternOutlivesARestartAndIsRetiredThen(boolean soft) throws Exception {
        start(this::onDisk);
        proxy.get("/a");
        proxy.get("/b");
        proxy.settle();
        stopSweeper();
        purge("path == '/a'", soft);
        assertEquals(1, live());
        proxy.proxy().close();
        proxy.origin().close();
        start(this::onDisk);
        assertFalse(isStored("/a"));
        assertTrue(isStored("/b"));
        awaitRetired();
        proxy.proxy().close();
        proxy.origin().close();
        start(this::onDisk);
        assertEquals(0, live(), "a retired pattern does not return");
        assertTrue(isStored("/a"));
        assertTrue(isStored("/b"));
    }

    /** The sweep for a purge from before the restart lets a fetch that began after the restart be stored. */
    @Test
    void aFetchAfterARestartIsStoredAlthoughASweepRunsMeanwhile() throws Exception {
        start(config -> onDisk(config.set("purge.undo_window", "1h")));
        proxy.get("/a");
        proxy.settle();
        purge("path == '/a'", true);
        proxy.proxy().close();
        proxy.origin().close();
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch asked = new CountDownLatch(1);
        proxy.start(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n" + FRESH + "\r\nne");
                    asked.countDown();
                    go.await();
                    request.send("wx");
                },
                config -> onDisk(config.set("purge.undo_window", "1h")));
        RawClient slow = proxy.client().get("/a");
        RawClient.Response head = slow.head();
        asked.await();
        proxy.reload(config -> onDisk(config.set("purge.undo_window", "0s")));
        purge("path == '/none'", false);
        awaitRetired();
        go.countDown();
        assertEquals("newx", new String(slow.content(head), StandardCharsets.US_ASCII));
        proxy.settle();
        assertTrue(isHit("/a"));
    }

    /** A fetch from before the purge is neither joined nor stored, before and after the sweep. */
    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void aFetchInFlightIsNeitherJoinedNorServedLater(boolean soft, boolean headFirst) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        CountDownLatch asked = new CountDownLatch(1);
        proxy.start(
                request -> {
                    String head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n" + FRESH + "xkey: p\r\n\r\n";
                    if (request.number() == 1) {
                        request.send(headFirst ? head + "ab" : "");
                        asked.countDown();
                        go.await();
                        request.send(headFirst ? "cd" : head + "abcd");
                    } else {
                        request.send(head + "newx");
                    }
                },
                config -> config.set("purge.undo_window", "0s"));
        RawClient slow = proxy.client().get("/a");
        RawClient.Response head = headFirst ? slow.head() : null;
        asked.await();
        purge("tag == 'p'", soft);
        awaitRetired();
        assertEquals("newx", proxy.get("/a").text(), "joined a fetch that was purged");
        // The first fetch goes on, so settle() would wait for it.
        ProxyExtension.await("the new response is stored", () -> isHit("/a"));
        go.countDown();
        RawClient.Response first = head == null ? slow.head() : head;
        assertEquals("abcd", new String(slow.content(first), StandardCharsets.US_ASCII));
        proxy.settle();
        RawClient.Response later = proxy.get("/a");
        assertEquals("newx", later.text(), later.field("cache-status"));
    }

    /**
     * Clients read while the origin changes pages and purges them by pattern, and sweeps run. No response to a request
     * sent after the answer to a purge is older than the purge.
     */
    @ParameterizedTest
    @ValueSource(longs = {21, 22, 23, 24})
    void noRequestAfterAPurgeSeesWhatWasBefore(long seed) throws Exception {
        int pages = 4;
        AtomicIntegerArray versions = new AtomicIntegerArray(pages);
        AtomicIntegerArray purged = new AtomicIntegerArray(pages);
        proxy.start(
                request -> {
                    int page = request.head().charAt(request.head().indexOf("/t") + 2) - '0';
                    String vary = request.has("/t1") ? "Vary: Foo\r\n" : "";
                    int version = versions.get(page);
                    // Slower than a purge, now and then.
                    if (request.number() % 3 == 0) {
                        java.util.concurrent.locks.LockSupport.parkNanos(200_000);
                    }
                    request.ok(FRESH + "xkey: k" + page + "\r\n" + vary, RawInput.latin1(String.valueOf(version)));
                },
                config -> seed % 2 == 0
                        ? onDisk(config.set("purge.undo_window", "0s"))
                        : config.set("purge.undo_window", "0s"));
        // The first sweep opens the inventory, which takes long beside busy clients.
        purge("path == '/none'", false);
        awaitRetired();
        ExecutorService clients = Executors.newFixedThreadPool(3);
        List<Future<?>> ends = new ArrayList<>();
        CountDownLatch over = new CountDownLatch(1);
        for (int client = 0; client < 3; client++) {
            long own = seed * 31 + client;
            ends.add(clients.submit(() -> {
                Random random = new Random(own);
                while (over.getCount() > 0) {
                    int page = random.nextInt(pages);
                    int least = purged.get(page);
                    RawClient.Response response = get("/t" + page + "?" + random.nextInt(2), random.nextInt(2));
                    int seen = Integer.parseInt(response.text());
                    assertTrue(
                            seen >= least,
                            "seed " + seed + ": page " + page + " version " + seen + " after the purge of " + least
                                    + ": " + response.field("cache-status"));
                }
                return null;
            }));
        }
        Random random = new Random(seed);
        try {
            for (int step = 0; step < 150; step++) {
                int page = random.nextInt(pages);
                int version = versions.incrementAndGet(page);
                if (random.nextInt(10) == 0 || live() > 60) {
                    awaitRetired();
                }
                String expression = random.nextBoolean() ? "path == '/t" + page + "'" : "tag == 'k" + page + "'";
                purge(expression, random.nextInt(3) == 0);
                purged.set(page, version);
            }
            awaitRetired();
        } finally {
            over.countDown();
            clients.shutdown();
        }
        for (Future<?> end : ends) {
            end.get(60, TimeUnit.SECONDS);
        }
    }

    private RawClient.Response get(String target, int foo) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            return client.send("GET " + target + " HTTP/1.1\r\nHost: test.example\r\nFoo: " + foo + "\r\n\r\n")
                    .response();
        }
    }
}
