package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.InvalidationScope;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Purges and invalidations of more than a URL, over real sockets: hosts, beginnings of paths, cache groups. */
class PurgeScopeTest {
    private static final String FRESH = "Cache-Control: max-age=600\r\n";
    private static final String HOST = "test.example";

    /** Makes the test's address a trusted proxy whose clients have TLS. */
    private static final String SECURED = "X-Forwarded-Proto: https\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private void start(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(request -> request.ok(FRESH, RawInput.latin1("answer " + request.number())), more);
    }

    private void start() throws IOException {
        start(config -> config.set("access.trusted_proxies", "127.0.0.1"));
    }

    private RawClient.Response send(String method, String host, String target, String... fields) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            return client.send(method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + String.join("", fields)
                            + "\r\n")
                    .response();
        }
    }

    private RawClient.Response get(String host, String target, String... fields) throws IOException {
        String[] secured = {SECURED};
        return send("GET", host, target, target.startsWith("https:") ? secured : fields);
    }

    private void assertStored(String host, String target) throws IOException {
        int before = proxy.origin().requests();
        get(host, target);
        assertEquals(before, proxy.origin().requests(), host + target + " is not stored");
    }

    /** Fetches it and looks that it is stored again. */
    private void assertGone(String host, String target) throws IOException {
        int before = proxy.origin().requests();
        get(host, target);
        assertEquals(before + 1, proxy.origin().requests(), host + target + " is stored");
        proxy.settle();
        assertStored(host, target);
    }

    // a host

    @Test
    void aPurgeOfEverythingTakesTheHostInBothSchemesAndNoOther() throws Exception {
        start();
        for (String host : List.of(HOST, "other.example", HOST + ":8080")) {
            get(host, "/");
            get(host, "/a/b?c");
        }
        get(HOST, "https://" + HOST + "/a/b?c");
        RawClient.Response purged = send("PURGE", HOST, "/.*");
        assertEquals(200, purged.status());
        assertTrue(purged.text().startsWith("200 OK: invalidated all of host test.example, stamp "), purged.text());
        assertGone(HOST, "/");
        assertGone(HOST, "/a/b?c");
        assertGone(HOST, "https://" + HOST + "/a/b?c");
        assertStored("other.example", "/");
        assertStored("other.example", "/a/b?c");
        assertStored(HOST + ":8080", "/");
        assertEquals(1, proxy.counted(Counter.PURGES_HOST));
    }

    /** Proxy Cache Purge and WP Rocket name the method; W3 Total Cache does not; scripts write a star; others BAN. */
    @ParameterizedTest
    @CsvSource({
        "PURGE, /.*, X-Purge-Method: regex",
        "PURGE, /.*, X-VC-Purge-Method: regex",
        "PURGE, /.*, X-Purge-Method: default",
        "PURGE, /, X-Purge-Method: regex",
        "PURGE, /.*$, X-Purge-Method: regex",
        "PURGE, /*, ''",
        "PURGE, http://test.example/.*, ''",
        "BAN, /.*, ''",
        "BAN, /, ''",
    })
    void theWaysToAskForEverything(String method, String target, String field) throws Exception {
        start();
        get(HOST, "/x/y");
        RawClient.Response purged = send(method, HOST, target, field.isEmpty() ? "" : field + "\r\n");
        assertEquals(200, purged.status(), purged.text());
        assertGone(HOST, "/x/y");
    }

    @ParameterizedTest
    @CsvSource({
        "/blog/.*, '', /blog/a?b, /blogs/",
        "/blog.*, X-Purge-Method: regex, /blogs/, /b",
        "/blog/*, '', /blog/, /blog",
        "/blog/, X-Purge-Method: regex, /blog/x, /x/blog/",
        "/style.css.*, X-Purge-Method: regex, /style.css?v=3, /style-css",
    })
    void theBeginningOfAPathTakesWhatBeginsSo(String target, String field, String gone, String left) throws Exception {
        start();
        get(HOST, gone);
        get(HOST, left);
        get("other.example", gone);
        RawClient.Response purged = send("PURGE", HOST, target, field.isEmpty() ? "" : field + "\r\n");
        assertEquals(200, purged.status(), purged.text());
        assertTrue(purged.text().contains(" whose path begins with /"), purged.text());
        assertGone(HOST, gone);
        assertStored(HOST, left);
        assertStored("other.example", gone);
        assertEquals(1, proxy.counted(Counter.PURGES_PREFIX));
    }

    @Test
    void cacheStatusHasTheReasonOfTheInvalidation() throws Exception {
        start();
        get(HOST, "/a");
        send("PURGE", HOST, "/.*");
        String status = get(HOST, "/a").field("cache-status");
        assertTrue(status.contains("fwd=uri-miss") && status.contains("detail=invalidated-by-host"), status);
        assertTrue(get(HOST, "/a").field("cache-status").contains("; hit"));
    }

    @Test
    void onlyIfCachedFindsNothing() throws Exception {
        start();
        get(HOST, "/a");
        send("PURGE", HOST, "/.*");
        assertEquals(504, get(HOST, "/a", "Cache-Control: only-if-cached\r\n").status());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void everyVariantIsRemoved() throws Exception {
        proxy.start(request -> request.ok(FRESH + "Vary: Foo\r\n", RawInput.latin1("answer " + request.number())));
        get(HOST, "/a", "Foo: 1\r\n");
        get(HOST, "/a", "Foo: 2\r\n");
        send("PURGE", HOST, "/.*");
        get(HOST, "/a", "Foo: 1\r\n");
        get(HOST, "/a", "Foo: 2\r\n");
        assertEquals(4, proxy.origin().requests());
        get(HOST, "/a", "Foo: 1\r\n");
        assertEquals(4, proxy.origin().requests());
    }

    @Test
    void hostsThatGoByOneNameInKeysGoTogether() throws Exception {
        start(config -> config.set("cache.key.host", "shop.example"));
        get("a.example", "/x");
        assertStored("b.example", "/x");
        assertEquals(200, send("PURGE", "a.example", "/.*").status());
        assertGone("b.example", "/x");
        assertStored("a.example", "/x");
        assertEquals(200, send("PURGE", "b.example", "/x.*").status());
        assertGone("a.example", "/x");
    }

    @Test
    void aFetchInFlightIsNeitherJoinedNorStored() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(request -> {
            if (request.number() == 1) {
                request.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n" + FRESH + "\r\nab");
                go.await();
                request.send("cd");
            } else {
                request.ok(FRESH, RawInput.latin1("new"));
            }
        });
        RawClient slow = proxy.client().get("/a");
        RawClient.Response head = slow.head();
        send("PURGE", HOST, "/.*");
        assertEquals("new", get(HOST, "/a").text(), "joined a fetch that was purged");
        go.countDown();
        assertEquals("abcd", new String(slow.content(head), java.nio.charset.StandardCharsets.US_ASCII));
        proxy.settle();
        assertEquals("new", get(HOST, "/a").text());
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void aFetchWhoseHeadHasNotComeIsNotJoinedEither() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(request -> {
            if (request.number() == 1) {
                asked.countDown();
                go.await();
                request.ok(FRESH, RawInput.latin1("old"));
            } else {
                request.ok(FRESH, RawInput.latin1("new"));
            }
        });
        RawClient slow = proxy.client().get("/a");
        asked.await();
        send("PURGE", HOST, "/.*");
        assertEquals("new", get(HOST, "/a").text());
        go.countDown();
        assertEquals("old", slow.response().text());
        proxy.settle();
        assertEquals("new", get(HOST, "/a").text());
        assertEquals(2, proxy.origin().requests());
        assertEquals(1, proxy.counted(Counter.FILLS_INVALIDATED));
    }

    @Test
    void aValidationUnderWayDoesNotBringBackWhatIsGone() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(request -> {
            if (request.number() == 2) {
                asked.countDown();
                go.await();
                request.send("HTTP/1.1 304 Not Modified\r\n" + FRESH + "ETag: \"1\"\r\n\r\n");
            } else {
                request.ok(FRESH + "ETag: \"1\"\r\n", RawInput.latin1("answer " + request.number()));
            }
        });
        get(HOST, "/a");
        proxy.advanceSeconds(700);
        RawClient waiting = proxy.client().get("/a");
        asked.await();
        send("PURGE", HOST, "/.*");
        go.countDown();
        assertEquals("answer 1", waiting.response().text());
        assertEquals("answer 3", get(HOST, "/a").text());
    }

    // who may

    @Test
    void whoMayNotPurgeWhatEveryRuleOfTheHostMapsMayNotPurgeTheHost() throws Exception {
        start(config -> config.map(
                "http://test.example/private/",
                "http://127.0.0.1:1/",
                ConfigValues.builder()
                        .set(ConfigKeys.PURGE_ALLOW, List.of("192.0.2.1"))
                        .build()));
        get(HOST, "/a");
        RawClient.Response refused = send("PURGE", HOST, "/.*");
        assertEquals(403, refused.status());
        assertEquals("403 Forbidden: purge.allow of remap[1] does not contain 127.0.0.1\n", refused.text());
        assertEquals(403, send("PURGE", HOST, "/a.*").status());
        assertStored(HOST, "/a");
        assertEquals(200, send("PURGE", "other.example", "/.*").status());
        assertEquals(2, proxy.counted(Counter.DENIED_PURGE));
    }

    @Test
    void contentIsRefused() throws Exception {
        start();
        get(HOST, "/a");
        assertEquals(400, send("PURGE", HOST, "/.*", "Content-Length: 5\r\n").status());
        assertStored(HOST, "/a");
    }

    // what outlives the process

    @Test
    void whatIsGoneStaysGoneAfterARestartAndWhatCameLaterStays() throws Exception {
        UnaryOperator<ProxyConfig.Builder> onDisk = config -> config.storage(directory, 64 << 20);
        start(onDisk);
        for (String path : List.of("/old", "/again", "/blog/x")) {
            proxy.getAndSettle(path);
        }
        assertEquals(200, send("PURGE", HOST, "/o.*").status());
        assertEquals(200, send("PURGE", HOST, "/ag.*").status());
        proxy.getAndSettle("/again");
        proxy.proxy().close();
        proxy.origin().close();
        start(onDisk);
        assertStored(HOST, "/again");
        assertStored(HOST, "/blog/x");
        assertGone(HOST, "/old");
        // Only purges are counted, so not the mark from which responses have stamps.
        String entries = proxy.proxy()
                .metricsText()
                .lines()
                .filter(line -> line.startsWith("millrace_invalidation_entries{"))
                .collect(Collectors.joining("\n"));
        assertTrue(entries.contains("kind=\"prefix\"} 2.0"), entries);
        assertFalse(entries.contains("journal-lost"), entries);
    }

    @Test
    void aDamagedJournalMeansThatEverythingStoredIsOutdated() throws Exception {
        UnaryOperator<ProxyConfig.Builder> onDisk = config -> config.storage(directory, 64 << 20);
        start(onDisk);
        proxy.getAndSettle("/a");
        send("PURGE", "other.example", "/.*");
        proxy.getAndSettle("/b");
        proxy.proxy().close();
        proxy.origin().close();
        Path journal = directory.resolve("journal");
        byte[] bytes = Files.readAllBytes(journal);
        bytes[60] ^= 1;
        Files.write(journal, bytes);
        proxy.advanceSeconds(1);
        start(onDisk);
        String status = get(HOST, "/a").field("cache-status");
        assertTrue(status.contains("detail=invalidated-by-all"), status);
        proxy.settle();
        assertStored(HOST, "/a");
        assertGone(HOST, "/b");
    }

    @Test
    void aLostJournalMeansTheSame() throws Exception {
        UnaryOperator<ProxyConfig.Builder> onDisk = config -> config.storage(directory, 64 << 20);
        start(onDisk);
        proxy.getAndSettle("/a");
        send("PURGE", HOST, "/.*");
        proxy.proxy().close();
        proxy.origin().close();
        Files.delete(directory.resolve("journal"));
        proxy.advanceSeconds(1);
        start(onDisk);
        String status = get(HOST, "/a").field("cache-status");
        assertTrue(status.contains("detail=invalidated-by-journal-lost"), status);
        proxy.settle();
        assertStored(HOST, "/a");
    }

    // cache groups

    private void startGroups() throws IOException {
        proxy.start(request -> {
            String groups = request.has("/one ") ? "Cache-Groups: \"a\", \"b\"\r\n" : "Cache-Groups: \"b\"\r\n";
            if (request.has("POST ")) {
                String named = request.head().replaceFirst("(?s).*X-Named: ([^\r]*).*", "$1");
                request.ok("Cache-Group-Invalidation: " + named + "\r\n", RawInput.latin1("done"));
            } else {
                request.ok(FRESH + groups, RawInput.latin1("answer " + request.number()));
            }
        });
        get(HOST, "/one");
        get(HOST, "/two");
        get("other.example", "/one");
    }

    private void post(String named) throws IOException {
        assertEquals(
                200,
                send("POST", HOST, "/form", "X-Named: " + named + "\r\nContent-Length: 0\r\n")
                        .status());
    }

    @Test
    void rfc9875Section3TheAnswerToPostInvalidatesTheGroupsItNames() throws Exception {
        startGroups();
        post("\"a\"");
        assertGone(HOST, "/one");
        assertStored(HOST, "/two");
        post("\"x\", \"b\"");
        assertGone(HOST, "/one");
        assertGone(HOST, "/two");
        assertEquals(3, proxy.counted(Counter.INVALIDATIONS_GROUP));
    }

    @Test
    void rfc9875Section2_1GroupsOfAnotherOriginStay() throws Exception {
        startGroups();
        post("\"a\", \"b\"");
        assertStored("other.example", "/one");
    }

    @ParameterizedTest(name = "RFC 9875 3: Cache-Group-Invalidation: {0} names none of the groups")
    @ValueSource(strings = {"a", "\"A\"", "\"a\", 1", "(\"a\")"})
    void namesAreStringsAndCompareByTheirBytes(String named) throws Exception {
        startGroups();
        post(named);
        assertStored(HOST, "/one");
    }

    @Test
    void rfc9875Section3TheAnswerToGetInvalidatesNothing() throws Exception {
        proxy.start(request ->
                request.ok(FRESH + "Cache-Groups: \"a\"\r\nCache-Group-Invalidation: \"a\"\r\n", RawInput.latin1("x")));
        get(HOST, "/one");
        get(HOST, "/two");
        assertStored(HOST, "/one");
    }

    @Test
    void a304MayPutAResponseIntoAnotherGroup() throws Exception {
        proxy.start(request -> {
            if (request.has("POST ")) {
                request.ok("Cache-Group-Invalidation: \"late\"\r\n", RawInput.latin1("done"));
            } else if (request.has("If-None-Match")) {
                request.send("HTTP/1.1 304 Not Modified\r\nCache-Groups: \"late\"\r\nETag: \"1\"\r\n" + FRESH + "\r\n");
            } else {
                request.ok(FRESH + "ETag: \"1\"\r\n", RawInput.latin1("x"));
            }
        });
        get(HOST, "/a");
        proxy.advanceSeconds(700);
        get(HOST, "/a");
        assertStored(HOST, "/a");
        send("POST", HOST, "/form", "Content-Length: 0\r\n");
        assertGone(HOST, "/a");
    }

    // soft

    @Test
    void whatIsMadeStaleIsValidatedOnceAndThenFreshAgain() throws Exception {
        proxy.start(request -> {
            if (request.has("If-None-Match: \"1\"")) {
                request.send("HTTP/1.1 304 Not Modified\r\n" + FRESH + "ETag: \"1\"\r\n\r\n");
            } else {
                request.ok(FRESH + "ETag: \"1\"\r\n", RawInput.latin1("answer " + request.number()));
            }
        });
        get(HOST, "/a");
        TargetUri url = (TargetUri) TargetUri.parseAbsolute("http://" + HOST + "/");
        CountDownLatch done = new CountDownLatch(1);
        proxy.proxy()
                .shared()
                .invalidator()
                .invalidate(
                        List.of(InvalidationScope.host(url)),
                        true,
                        Runnable::run,
                        (entries, failure) -> done.countDown());
        done.await();
        RawClient.Response validated = get(HOST, "/a");
        assertEquals("answer 1", validated.text());
        String status = validated.field("cache-status");
        assertTrue(
                status.contains("fwd=stale")
                        && status.contains("fwd-status=304")
                        && status.contains("detail=stale-by-host"),
                status);
        assertEquals(2, proxy.origin().requests());
        assertTrue(get(HOST, "/a").field("cache-status").contains("; hit"));
        assertEquals(2, proxy.origin().requests());
    }
}
