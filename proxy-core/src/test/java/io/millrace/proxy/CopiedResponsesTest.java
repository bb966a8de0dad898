package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.copy.CopySource.StoredCopy;
import io.millrace.proxy.admin.copy.CopyTarget.NewCopy;
import io.millrace.proxy.admin.copy.CopyTarget.Progress;
import io.millrace.proxy.admin.data.ScopedPurges;
import io.millrace.proxy.admin.data.copy.ObjectExports;
import io.millrace.proxy.admin.data.copy.ObjectImports;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.reuse.VariantKey;
import io.millrace.proxy.caching.settings.EncodingRules;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.HttpDates;
import io.millrace.proxy.observe.Counter;
import io.millrace.store.StoredObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Copies of stored responses out of a proxy and into it, on real sockets. */
class CopiedResponsesTest {
    private static final String URL = "http://test.example/a";
    private static final String FRESH = "Cache-Control: max-age=600\r\nETag: \"1\"\r\nxkey: red blue\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    private Path directory;

    private ObjectExports exports;
    private ObjectImports imports;

    private void start(String fields, String body) throws IOException {
        proxy.purgeRecords(directory);
        proxy.start(request -> request.ok(fields, RawInput.latin1(body)));
        adapt();
    }

    private void adapt() {
        exports = new ObjectExports(new ServerView(proxy.proxy()));
        imports = new ObjectImports(new ServerView(proxy.proxy()));
    }

    private static <T> T now(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    private static byte[] key(String url) {
        return url.getBytes(StandardCharsets.ISO_8859_1);
    }

    private StoredCopy exported(byte[] key) throws Exception {
        return now(exports.head(key, AdminCaller.UNKNOWN));
    }

    private String refusedExport(byte[] key) {
        ExecutionException e = assertThrows(ExecutionException.class, () -> exported(key));
        return assertInstanceOf(AdminException.class, e.getCause()).code();
    }

    private byte[] content(byte[] key, StoredCopy copy) throws Exception {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        while (all.size() < copy.length()) {
            all.writeBytes(now(exports.content(key, copy.version(), all.size())));
        }
        return all.toByteArray();
    }

    private static NewCopy asNew(StoredCopy copy) {
        return new NewCopy(
                copy.url(),
                copy.head(),
                "GET",
                copy.varies() ? copy.requestFields() : null,
                copy.length(),
                copy.ageSeconds(),
                copy.requestMillis(),
                copy.nowMillis(),
                copy.lifetimeSeconds(),
                copy.tags());
    }

    private static byte[] sha256(byte[] content) throws Exception {
        return MessageDigest.getInstance("SHA-256").digest(content);
    }

    /** Uploads in two parts. */
    private Progress imported(NewCopy copy, byte[] content) throws Exception {
        Progress begun = now(imports.begin(copy, AdminCaller.UNKNOWN));
        String upload = begun.upload();
        if (upload == null) {
            return begun;
        }
        int half = content.length / 2;
        now(imports.add(upload, 0, Arrays.copyOf(content, half)));
        now(imports.add(upload, half, Arrays.copyOfRange(content, half, content.length)));
        return now(imports.end(upload, sha256(content)));
    }

    private NewCopy handMade(String url, String fields, String... requestFields) {
        long millis = proxy.proxy().shared().clock().millis();
        return new NewCopy(
                url,
                ("HTTP/1.1 200 OK\r\n" + fields).getBytes(StandardCharsets.ISO_8859_1),
                "GET",
                requestFields.length == 0 ? null : List.of(requestFields),
                4,
                10,
                millis - 10_000,
                millis,
                -1,
                new byte[0]);
    }

    private Progress imported(NewCopy copy) throws Exception {
        return imported(copy, "copy".getBytes(StandardCharsets.ISO_8859_1));
    }

    @Test
    void aCopyKeepsContentAgeLifetimeAndTags() throws Exception {
        start(FRESH, "hello");
        proxy.getAndSettle("/a");
        proxy.advanceSeconds(100);
        StoredCopy copy = exported(key(URL));
        byte[] content = content(key(URL), copy);
        assertEquals("hello", new String(content, StandardCharsets.ISO_8859_1));
        assertEquals(100, copy.ageSeconds());
        assertEquals(600, copy.lifetimeSeconds());
        assertEquals("red\nblue\n", new String(copy.tags(), StandardCharsets.ISO_8859_1));

        // Another node, with an empty cache, some time later.
        proxy.restart();
        adapt();
        proxy.advanceSeconds(50);
        assertEquals(new Progress(null, true, null), imported(asNew(copy), content));
        RawClient.Response response = proxy.get("/a");
        assertEquals("hello", response.text());
        assertEquals(1, proxy.origin().requests());
        assertTrue(response.head().contains("Age: 150"), response.head());
        assertTrue(response.head().contains("hit; ttl=450"), response.head());
        assertEquals(1, proxy.counted(Counter.COPIES_IMPORTED));

        new ScopedPurges(new ServerView(proxy.proxy()))
                .invalidate(new Scope(Kind.TAG, null, null, false, List.of("blue"), null))
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS);
        proxy.getAndSettle("/a");
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void longContentIsReadAndWrittenInParts() throws Exception {
        byte[] body = ProxyExtension.content(700_000);
        proxy.start(request -> request.ok(FRESH, body));
        adapt();
        proxy.getAndSettle("/a");
        StoredCopy copy = exported(key(URL));
        byte[] content = content(key(URL), copy);
        assertArrayEquals(body, content);
        proxy.restart();
        adapt();
        assertTrue(imported(asNew(copy), content).stored());
        assertArrayEquals(body, proxy.get("/a").content());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void aClockOfTheSourceThatIsAheadDoesNotMakeACopyFresher() throws Exception {
        start(FRESH, "hello");
        long millis = proxy.proxy().shared().clock().millis();
        NewCopy ahead = new NewCopy(
                URL,
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n".getBytes(StandardCharsets.ISO_8859_1),
                "GET",
                null,
                4,
                200,
                millis + 3_400_000,
                millis + 3_600_000,
                500,
                new byte[0]);
        assertTrue(imported(ahead).stored());
        assertTrue(
                proxy.get("/a").head().contains("hit; ttl=300"), proxy.get("/a").head());
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "max-age=600, -, no-request, Vary: Accept-Language",
                "max-age=600, Accept-Language: de, -, Vary: Accept-Language",
                "max-age=600, Cookie: a=b, of-one-client, Vary: Cookie",
                "max-age=600, -, of-one-client, Set-Cookie: a=b",
                "no-store, -, no-store, X: y",
                "private, -, private, X: y",
                "max-age=600, -, vary-any, Vary: *",
                "max-age=600, -, transfer-encoding, Transfer-Encoding: chunked",
                "max-age=600, -, length, Content-Length: 5",
                "max-age=600, -, length, Content-Length: 04",
                "max-age=600, -, -, Content-Length: 4",
                "max-age=0, -, no-lifetime, X: y"
            })
    void onlyResponsesThatMayBeStoredAreStored(String control, String request, String reason, String field)
            throws Exception {
        start(FRESH, "hello");
        String fields = "Cache-Control: " + control + "\r\n" + field + "\r\n";
        NewCopy copy = request == null ? handMade(URL, fields) : handMade(URL, fields, request);
        assertEquals(new Progress(null, reason == null, reason), imported(copy));
        assertEquals(
                reason == null ? "copy" : "hello",
                proxy.get("/a", "Accept-Language: de\r\n").text());
    }

    /** The source chose the coding by its own rules, so its variant may not be the one of the same clients here. */
    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "true, 'gzip, br', gzip, other-encoding",
                "true, 'gzip, br', br, -",
                "true, 'gzip, br', -, -",
                "true, gzip, gzip, -",
                "true, identity, gzip, other-encoding",
                "false, 'gzip, br', gzip, -"
            })
    void contentInAnotherCodingThanThatOfItsClientsIsNotStored(
            String enabled, String accepted, String coding, String reason) throws Exception {
        proxy.purgeRecords(directory);
        proxy.start(
                request -> request.ok(FRESH, RawInput.latin1("hello")),
                config -> config.set("compression.enabled", enabled));
        adapt();
        String field = coding == null ? "" : "Content-Encoding: " + coding + "\r\n";
        NewCopy copy = handMade(URL, FRESH + "Vary: Accept-Encoding\r\n" + field, "Accept-Encoding: " + accepted);
        assertEquals(new Progress(null, reason == null, reason), imported(copy));
    }

    @ParameterizedTest
    @ValueSource(strings = {"HEAD", "POST", "get"})
    void onlyResponsesToGetAreStored(String method) throws Exception {
        start(FRESH, "hello");
        NewCopy get = handMade(URL, FRESH + "Content-Length: 9\r\n");
        NewCopy copy = new NewCopy(
                URL,
                get.head(),
                method,
                List.of(),
                4,
                get.ageSeconds(),
                get.requestMillis(),
                get.exportedMillis(),
                -1,
                new byte[0]);
        assertEquals(Progress.refused("method"), imported(copy));
        assertEquals("hello", proxy.get("/a").text());
    }

    @Test
    void aHostWithoutARuleIsRefused() throws Exception {
        proxy.withoutRules();
        proxy.start(
                request -> request.ok(FRESH, RawInput.latin1("x")),
                config -> config.map("http://other.example/", "http://127.0.0.1:1/"));
        adapt();
        assertEquals("no-rule", imported(handMade(URL, FRESH)).reason());
        assertEquals("bad-head", imported(handMade(URL, "no field\r\n")).reason());
    }

    @Test
    void aWrongDigestOrLengthStoresNothing() throws Exception {
        start(FRESH, "hello");
        byte[] content = "copy".getBytes(StandardCharsets.ISO_8859_1);
        String upload =
                now(imports.begin(handMade(URL, FRESH), AdminCaller.UNKNOWN)).upload();
        assertNotNull(upload);
        now(imports.add(upload, 0, content));
        assertEquals(Progress.refused("digest"), now(imports.end(upload, sha256(new byte[1]))));
        String shorter =
                now(imports.begin(handMade(URL, FRESH), AdminCaller.UNKNOWN)).upload();
        now(imports.add(shorter, 0, new byte[3]));
        assertEquals(Progress.refused("length"), now(imports.end(shorter, sha256(new byte[3]))));
        String longer =
                now(imports.begin(handMade(URL, FRESH), AdminCaller.UNKNOWN)).upload();
        assertEquals(Progress.refused("length"), now(imports.add(longer, 0, new byte[5])));
        String given =
                now(imports.begin(handMade(URL, FRESH), AdminCaller.UNKNOWN)).upload();
        now(imports.abort(given));
        ExecutionException gone = assertThrows(ExecutionException.class, () -> now(imports.end(given, content)));
        assertEquals("unknown-upload", ((AdminException) gone.getCause()).code());
        assertEquals("hello", proxy.get("/a").text());
    }

    @Test
    void hostileTimesDoNotMakeACopyFresh() throws Exception {
        start(FRESH, "hello");
        byte[] head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nETag: \"1\"\r\n"
                .getBytes(StandardCharsets.ISO_8859_1);
        long max = Long.MAX_VALUE;
        for (long[] times : new long[][] {{max, 0, max}, {max, max, 0}, {max, max, max}, {0, 0, 0}}) {
            NewCopy copy = new NewCopy(URL, head, "GET", null, 4, times[0], times[1], times[2], -1, new byte[0]);
            imported(copy);
        }
        assertEquals("hello", proxy.get("/a").text());
        ExecutionException tags = assertThrows(
                ExecutionException.class,
                () -> now(imports.begin(
                        new NewCopy(URL, head, "GET", null, 4, 0, 0, 0, -1, new byte[] {'a'}), AdminCaller.UNKNOWN)));
        assertEquals(400, ((AdminException) tags.getCause()).status());
    }

    @Test
    void uploadsAreLimitedAndGivenUp() throws Exception {
        start(FRESH, "hello");
        for (int i = 0; i < ObjectImports.UPLOADS_MAX; i++) {
            assertNotNull(now(imports.begin(handMade(URL + i, FRESH), AdminCaller.UNKNOWN))
                    .upload());
        }
        ExecutionException busy = assertThrows(
                ExecutionException.class, () -> now(imports.begin(handMade(URL, FRESH), AdminCaller.UNKNOWN)));
        assertEquals(429, ((AdminException) busy.getCause()).status());
        imports.close();
        String upload =
                now(imports.begin(handMade(URL, FRESH), AdminCaller.UNKNOWN)).upload();
        assertNotNull(upload);
        now(imports.abort(upload));
    }

    @Test
    void aPurgeAfterTheFetchKeepsTheCopyAway() throws Exception {
        start(FRESH, "hello");
        proxy.getAndSettle("/a");
        StoredCopy copy = exported(key(URL));
        byte[] content = content(key(URL), copy);
        proxy.advanceSeconds(5);
        proxy.purge("/a");
        assertEquals("purged", imported(asNew(copy), content).reason());

        // The time of the removal survives a restart.
        proxy.restart();
        adapt();
        proxy.advanceSeconds(5);
        assertEquals("purged", imported(asNew(copy), content).reason());
        assertEquals("not-stored", refusedExport(key(URL)));
    }

    @ParameterizedTest
    @CsvSource({"true, 0", "false, 20"})
    void aPurgeIsRespectedIfTheClockOfTheSourceIsAhead(boolean hasDate, long ageSeconds) throws Exception {
        start(FRESH, "hello");
        long fetched = proxy.proxy().shared().clock().millis();
        proxy.advanceSeconds(5);
        proxy.purge("/a");
        proxy.advanceSeconds(15);
        String date = hasDate ? "Date: " + HttpDates.format(fetched / 1000) + "\r\n" : "";
        // Exported one second after the fetch, by a clock that is an hour ahead.
        NewCopy copy = new NewCopy(
                URL,
                ("HTTP/1.1 200 OK\r\n" + FRESH + date).getBytes(StandardCharsets.ISO_8859_1),
                "GET",
                null,
                4,
                ageSeconds,
                fetched + 3_600_000,
                fetched + 3_601_000,
                -1,
                new byte[0]);
        assertEquals(Progress.refused("purged"), imported(copy));
        assertEquals("hello", proxy.get("/a").text());
    }

    @Test
    void aPurgeDuringTheUploadKeepsTheCopyAway() throws Exception {
        start(FRESH, "hello");
        byte[] content = "copy".getBytes(StandardCharsets.ISO_8859_1);
        String upload =
                now(imports.begin(handMade(URL, FRESH), AdminCaller.UNKNOWN)).upload();
        now(imports.add(upload, 0, content));
        proxy.purge("/a");
        assertEquals(Progress.refused("purged-or-full"), now(imports.end(upload, sha256(content))));
        assertEquals("hello", proxy.get("/a").text());
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {"HOST, test.example, -", "PREFIX, -, http://test.example/a", "ALL, -, -", "TAG, -, red"})
    void aWiderPurgeAfterTheFetchKeepsTheCopyAway(Kind kind, String host, String text) throws Exception {
        start(FRESH, "hello");
        proxy.getAndSettle("/a");
        StoredCopy copy = exported(key(URL));
        byte[] content = content(key(URL), copy);
        proxy.advanceSeconds(5);
        Scope scope = kind == Kind.TAG
                ? new Scope(kind, null, null, false, List.of(text), null)
                : new Scope(kind, host, text, false);
        now(new ScopedPurges(new ServerView(proxy.proxy())).invalidate(scope));
        assertEquals("purged", refusedExport(key(URL)));
        assertEquals("purged", imported(asNew(copy), content).reason());
        proxy.getAndSettle("/a");
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void aSweptPurgeByPatternKeepsOlderCopiesAway() throws Exception {
        start(FRESH, "hello");
        proxy.getAndSettle("/a");
        StoredCopy copy = exported(key(URL));
        byte[] content = content(key(URL), copy);
        proxy.advanceSeconds(5);
        now(new ScopedPurges(new ServerView(proxy.proxy()))
                .invalidate(new Scope(Kind.PATTERN, null, "path == \"/a\"", false)));
        ProxyExtension.await(
                "the sweep",
                () -> proxy.proxy().shared().invalidator().patterns().isEmpty());
        assertEquals("purged", imported(asNew(copy), content).reason());
    }

    @Test
    void aNewerResponseIsNotReplaced() throws Exception {
        start(FRESH, "hello");
        proxy.getAndSettle("/a");
        assertEquals("newer-stored", imported(handMade(URL, FRESH)).reason());
        assertEquals("hello", proxy.get("/a").text());
    }

    @ParameterizedTest
    @CsvSource({"false, ''", "false, Vary: Accept-Language", "true, ''", "true, Vary: Accept-Language"})
    void aResponseThatIsStoredDuringTheUploadIsNotReplaced(boolean isOnDisk, String vary) throws Exception {
        String fields = vary.isEmpty() ? FRESH : FRESH + vary + "\r\n";
        byte[] body = ProxyExtension.content(isOnDisk ? 2 << 20 : 10);
        proxy.start(
                request -> request.ok(fields, body),
                config -> isOnDisk
                        ? config.storage(directory.resolve("cache"), 64 << 20).set("cache.ram_size", "1MiB")
                        : config);
        adapt();
        byte[] content = "copy".getBytes(StandardCharsets.ISO_8859_1);
        NewCopy copy = handMade(URL, fields, "Accept-Language: de");
        String upload = now(imports.begin(copy, AdminCaller.UNKNOWN)).upload();
        assertNotNull(upload);
        now(imports.add(upload, 0, content));
        proxy.getAndSettle("/a", "Accept-Language: de\r\n");
        if (isOnDisk && vary.isEmpty()) {
            assertFalse(proxy.proxy().store().isInRam(proxy.proxy().store().key(key(URL))));
        }
        assertEquals(Progress.refused("newer-stored"), now(imports.end(upload, sha256(content))));
        assertArrayEquals(body, proxy.get("/a", "Accept-Language: de\r\n").content());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void aMarkerThatIsStoredDuringTheUploadIsNotReplaced() throws Exception {
        start(FRESH + "Vary: Accept-Language\r\n", "hello");
        byte[] content = "copy".getBytes(StandardCharsets.ISO_8859_1);
        String upload =
                now(imports.begin(handMade(URL, FRESH), AdminCaller.UNKNOWN)).upload();
        assertNotNull(upload);
        now(imports.add(upload, 0, content));
        proxy.getAndSettle("/a", "Accept-Language: de\r\n");
        assertEquals(Progress.refused("newer-stored"), now(imports.end(upload, sha256(content))));
        assertEquals("hello", proxy.get("/a", "Accept-Language: de\r\n").text());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void variantsAreCopiedWithTheirFields() throws Exception {
        start(FRESH + "Vary: Accept-Language\r\n", "hello");
        proxy.getAndSettle("/a", "Accept-Language: de\r\n");
        StoredObject<StoredHead> marker =
                proxy.proxy().store().get(proxy.proxy().store().key(key(URL)));
        FieldSection fields =
                FieldSection.builder().add("Accept-Language", "de").build();
        byte[] variant = VariantKey.of(key(URL), marker.head(), fields, EncodingRules.NONE);
        marker.release();
        StoredCopy copy = exported(variant);
        assertTrue(copy.varies());
        assertTrue(copy.requestFields().get(0).startsWith("Accept-Language: de"), copy.toString());
        byte[] content = content(variant, copy);
        assertEquals("not-stored", refusedExport(key(URL)));
        proxy.restart();
        adapt();
        assertTrue(imported(asNew(copy), content).stored());
        assertEquals("hello", proxy.get("/a", "Accept-Language: de\r\n").text());
        assertEquals(1, proxy.origin().requests());
        proxy.getAndSettle("/a", "Accept-Language: fr\r\n");
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void responsesOfOneClientAreNotExported() throws Exception {
        start("Cache-Control: public, s-maxage=600\r\nSet-Cookie: a=b\r\n", "hello");
        proxy.getAndSettle("/a");
        assertEquals("of-one-client", refusedExport(key(URL)));
    }

    @Test
    void contentOfAReplacedResponseIsNotMixed() throws Exception {
        start(FRESH, "hello");
        proxy.getAndSettle("/a");
        StoredCopy copy = exported(key(URL));
        proxy.advanceSeconds(1);
        proxy.purge("/a");
        proxy.getAndSettle("/a");
        ExecutionException changed =
                assertThrows(ExecutionException.class, () -> now(exports.content(key(URL), copy.version(), 0)));
        assertEquals("changed", ((AdminException) changed.getCause()).code());
    }
}
