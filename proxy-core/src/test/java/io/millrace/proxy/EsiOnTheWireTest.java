package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ExplainSource.Question;
import io.millrace.proxy.admin.cache.ExplainSource.Step;
import io.millrace.proxy.admin.data.RequestExplanation;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.edge.EsiKeys;
import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests pages that are assembled from fragments, with real clients and an origin. */
class EsiOnTheWireTest {
    private static final String ESI = "Surrogate-Control: content=\"ESI/1.0\"\r\n";
    private static final String STORED = "Cache-Control: max-age=60\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    /** The contents of the origin, by path; other paths have status 404. */
    private final Map<String, String> contents = new ConcurrentHashMap<>(
            Map.of("/f", "F", "/g", "G", "/empty", "", "/dir/rel", "R", "/q?a=1&b=2", "Q", "/500", "!"));

    private final Map<String, String> fields = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<String> requests = new ConcurrentLinkedQueue<>();
    private final CountDownLatch gate = new CountDownLatch(1);

    private void start(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.start(this::answer, config -> more.apply(config.set(EsiKeys.ENABLED, true)));
    }

    private void answer(RawOrigin.Exchange request) throws IOException, InterruptedException {
        requests.add(request.head());
        String path = path(request.head());
        String content = contents.get(path);
        if (path.equals("/slow")) {
            gate.await();
        }
        if (path.equals("/500")) {
            request.send("HTTP/1.1 500 No\r\nContent-Length: 1\r\n\r\n!");
        } else if (content == null) {
            request.send("HTTP/1.1 404 None\r\nContent-Length: 4\r\n\r\nnone");
        } else {
            request.ok(fields.getOrDefault(path, STORED), RawInput.latin1(content));
        }
    }

    private static String path(String head) {
        return head.split(" ", 3)[1];
    }

    private void document(String path, String content) {
        contents.put(path, content);
        fields.put(path, ESI + STORED);
    }

    private long requested(String path) {
        return requests.stream().filter(head -> path(head).equals(path)).count();
    }

    private static String include(String src) {
        return "<esi:include src=\"" + src + "\"/>";
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "plain # plain",
                "<p><esi:include src='/f'/></p><esi:include src=\"/g\"/>! # <p>F</p>G!",
                "<esi:include src='rel'/> # R",
                "<esi:include src='../f'/> # F",
                "<esi:include src='/q?a=1&amp;b=2'/> # Q",
                "<esi:include src='http://test.example/f'/> # F",
                "<esi:include src='http://other.example/f'/> # F",
                "a<esi:include src='/empty'/>b # ab",
                "a<esi:include src='/none' onerror='continue'/>b # ab",
                "a<esi:include src='/500' onerror='continue'/>b # ab",
                "<esi:include src='/none' alt='/g'/> # G",
                "a<esi:include src='/none' alt='/500' onerror='continue'/>b # ab",
                "<esi:remove><a href='/'></esi:remove>x<esi:comment text='c'/> # x",
                "<!--esi <esi:include src='/f'/>--> # ` F`",
                "<esi:try><esi:attempt><esi:include src='/f'/></esi:attempt><esi:except>E</esi:except></esi:try> # F",
                "<esi:try><esi:attempt>a<esi:include src='/none'/><esi:include src='/g'/></esi:attempt>"
                        + "<esi:except>E<esi:include src='/g'/></esi:except></esi:try>z # EGz",
                "<esi:try><esi:attempt><esi:try><esi:attempt><esi:include src='/none'/></esi:attempt>"
                        + "<esi:except><esi:include src='/500'/></esi:except></esi:try></esi:attempt>"
                        + "<esi:except>E</esi:except></esi:try> # E",
                "<esi:include src='ftp://x/' onerror='continue'/>x # x"
            })
    void pagesAreAssembled(String content, String page) throws Exception {
        start(config -> config);
        document("/dir/page", content);
        for (int round = 0; round < 2; round++) {
            RawClient.Response response = proxy.getAndSettle("/dir/page");
            assertEquals(page, response.text());
            assertEquals(200, response.status());
            assertEquals(String.valueOf(page.length()), response.field("content-length"));
            assertNull(response.field("surrogate-control"));
        }
        assertEquals(1, requested("/dir/page"), "the document is stored");
        assertEquals(2, proxy.counted(Counter.ESI_PAGES_ASSEMBLED));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "<esi:include src='/none'/> # esi-fragment-404 # 1:1",
                "x <esi:include src='/none' alt='/500'/> # esi-fragment-500 # 1:3",
                "<esi:try><esi:attempt><esi:include src='/none'/></esi:attempt>"
                        + "<esi:except><esi:include src='/500'/></esi:except></esi:try> # esi-fragment-500 # 1:75",
                "<esi:include src='ftp://x/'/> # esi-url # 1:1",
                "<esi:include/> # esi-markup # 1:1",
                "<esi:vars>$(HTTP_HOST)</esi:vars> # esi-unsupported # 1:1"
            })
    void failedPagesAreRefused(String content, String detail, String place) throws Exception {
        start(config -> config);
        document("/page", content);
        for (int round = 0; round < 2; round++) {
            RawClient.Response response = proxy.getAndSettle("/page");
            assertEquals(502, response.status(), response.text());
            assertTrue(response.field("cache-status").contains("detail=" + detail), response.head());
            assertTrue(response.text().contains(place), response.text());
            assertEquals("no-store", response.field("cache-control"));
            assertFalse(response.text().contains("src="), response.text());
        }
        assertEquals("F", proxy.get("/f").text());
        assertEquals(0, proxy.counted(Counter.ESI_PAGES_ASSEMBLED));
    }

    @Test
    void otherResponsesAreUnchanged() throws Exception {
        start(config -> config);
        contents.put("/page", include("/f"));
        fields.put("/page", STORED + "Content-Type: text/html\r\nETag: \"a\"\r\nSurrogate-Control: max-age=5\r\n");
        for (int round = 0; round < 2; round++) {
            RawClient.Response response = proxy.getAndSettle("/page");
            assertEquals(include("/f"), response.text());
            assertEquals("\"a\"", response.field("etag"));
            assertEquals("max-age=5", response.field("surrogate-control"));
        }
        assertEquals(0, requested("/f"));
    }

    @Test
    void allHtmlIsAssembledIfSet() throws Exception {
        start(config -> config.set("esi.when", "always"));
        contents.put("/page", include("/f"));
        fields.put("/page", STORED + "Content-Type: text/html; charset=utf-8\r\n");
        contents.put("/css", include("/f"));
        fields.put("/css", STORED + "Content-Type: text/css\r\n");
        for (int round = 0; round < 2; round++) {
            assertEquals("F", proxy.getAndSettle("/page").text());
            assertEquals(include("/f"), proxy.getAndSettle("/css").text());
        }
    }

    @Test
    void rulesWithoutTheSettingPassDocuments() throws Exception {
        proxy.start(this::answer, config -> config);
        document("/page", include("/f"));
        for (int round = 0; round < 2; round++) {
            assertEquals(include("/f"), proxy.getAndSettle("/page").text());
        }
        assertNull(RawClient.field(requests.element(), "surrogate-capability"));
    }

    @Test
    void fragmentsAreRequestsOfTheClient() throws Exception {
        start(config -> config);
        document("/page", include("/f") + include("http://other.example/g"));
        proxy.getAndSettle(
                "/page",
                "Cookie: s=1\r\n",
                "Authorization: Basic eDp5\r\n",
                "X-Own: c\r\n",
                "Accept-Language: en\r\n",
                "Accept-Encoding: gzip\r\n",
                "If-None-Match: \"x\"\r\n",
                "Surrogate-Capability: evil=\"ESI/1.0\"\r\n");
        String page = requests.stream()
                .filter(head -> path(head).equals("/page"))
                .findFirst()
                .orElseThrow();
        assertEquals("millrace=\"ESI/1.0\"", RawClient.field(page, "surrogate-capability"));
        assertEquals("identity", RawClient.field(page, "accept-encoding"));
        String own = requests.stream()
                .filter(head -> path(head).equals("/f"))
                .findFirst()
                .orElseThrow();
        assertEquals("s=1", RawClient.field(own, "cookie"));
        assertEquals("Basic eDp5", RawClient.field(own, "authorization"));
        assertEquals("c", RawClient.field(own, "x-own"));
        assertNull(RawClient.field(own, "if-none-match"));
        String other = requests.stream()
                .filter(head -> path(head).equals("/g"))
                .findFirst()
                .orElseThrow();
        assertNull(RawClient.field(other, "cookie"), "cookies of another host");
        assertNull(RawClient.field(other, "authorization"), "credentials of another host");
        assertNull(RawClient.field(other, "x-own"), "fields of applications may contain tokens");
        assertEquals("en", RawClient.field(other, "accept-language"));
    }

    @Test
    void fragmentsHaveTheirOwnLifetimes() throws Exception {
        start(config -> config);
        document("/page", include("/f") + include("/once"));
        contents.put("/once", "1");
        fields.put("/once", "Cache-Control: no-store\r\n");
        assertEquals("F1", proxy.getAndSettle("/page").text());
        contents.put("/once", "2");
        assertEquals("F2", proxy.getAndSettle("/page").text());
        assertEquals(1, requested("/page"));
        assertEquals(1, requested("/f"));
        assertEquals(2, requested("/once"));
        assertEquals(4, proxy.counted(Counter.ESI_FRAGMENTS_INCLUDED));
    }

    @Test
    void pagesHaveNoValidatorsAndNoRanges() throws Exception {
        start(config -> config);
        contents.put("/page", "a" + include("/f"));
        fields.put(
                "/page",
                ESI + STORED + "ETag: \"a\"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
                        + "Accept-Ranges: bytes\r\nX-Kept: k\r\n");
        for (int round = 0; round < 2; round++) {
            RawClient.Response response = proxy.getAndSettle(
                    "/page",
                    "If-None-Match: \"a\"\r\nIf-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT\r\nRange: bytes=0-0\r\n");
            assertEquals(200, response.status());
            assertEquals("aF", response.text());
            assertEquals("k", response.field("x-kept"));
            for (String absent : List.of("etag", "last-modified", "accept-ranges", "content-range")) {
                assertNull(response.field(absent), absent);
            }
        }
    }

    /** The origin answers a request that is passed on with a part of the document. */
    @Test
    void aPartOfADocumentIsNotSent() throws Exception {
        proxy.start(
                request -> {
                    if (request.has("Range: ")) {
                        request.send("HTTP/1.1 206 Part\r\nContent-Range: bytes 0-3/9\r\nContent-Length: 4\r\n" + ESI
                                + "Cache-Control: no-store\r\n\r\n<esi");
                    } else {
                        request.ok(
                                path(request.head()).equals("/f") ? "" : ESI + "Cache-Control: no-store\r\n",
                                RawInput.latin1(path(request.head()).equals("/f") ? "F" : include("/f")));
                    }
                },
                config -> config.set(EsiKeys.ENABLED, true).set("cache.enabled", "false"));
        RawClient.Response response = proxy.getAndSettle("/page", "Range: bytes=0-3\r\n");
        assertEquals(200, response.status());
        assertEquals("F", response.text());
        assertEquals(2, proxy.counted(Counter.REQUESTS_BYPASS), "page, fragment");
        assertEquals(0, proxy.counted(Counter.REQUESTS_ACTIVE));
    }

    @Test
    void headHasTheFieldsOfThePage() throws Exception {
        start(config -> config);
        contents.put("/page", "a" + include("/f"));
        fields.put("/page", ESI + STORED + "ETag: \"a\"\r\n");
        for (int round = 0; round < 2; round++) {
            try (RawClient client = proxy.client()) {
                client.send("HEAD /page HTTP/1.1\r\nHost: test.example\r\n\r\n");
                RawClient.Response head = client.head();
                assertEquals(200, head.status());
                assertNull(head.field("content-length"));
                assertNull(head.field("etag"));
                assertNull(head.field("surrogate-control"));
                assertEquals("F", client.get("/f").response().text());
            }
            assertEquals("aF", proxy.getAndSettle("/page").text());
        }
    }

    @Test
    void oldClientsAndPipelinesGetPages() throws Exception {
        start(config -> config);
        document("/page", "a" + include("/f"));
        try (RawClient client = proxy.client()) {
            client.send("GET /page HTTP/1.0\r\nHost: test.example\r\n\r\n");
            assertEquals("aF", client.response().text());
        }
        try (RawClient client = proxy.client()) {
            String request = "GET /page HTTP/1.1\r\nHost: test.example\r\n\r\n";
            client.send(request + request.replace("/page", "/g") + request);
            assertEquals("aF", client.response().text());
            assertEquals("G", client.response().text());
            assertEquals("aF", client.response().text());
        }
    }

    // Limits

    @Test
    void recursionEndsAtTheDepth() throws Exception {
        start(config -> config.set("esi.max_depth", "3"));
        document("/page", "x<esi:include src='/page' onerror='continue'/>");
        assertEquals("xxxx", proxy.getAndSettle("/page").text());
        document("/loop", include("/loop"));
        RawClient.Response response = proxy.get("/loop");
        assertEquals(502, response.status());
        assertTrue(response.field("cache-status").contains("detail=esi-fragment-502"), response.head());
        assertEquals(1, requested("/loop"));
    }

    @Test
    void includesAreLimitedForTheWholePage() throws Exception {
        start(config -> config.set("esi.max_includes", "10"));
        document("/many", include("/f").repeat(11));
        RawClient.Response response = proxy.getAndSettle("/many");
        assertEquals(502, response.status());
        assertTrue(response.field("cache-status").contains("detail=esi-includes"), response.head());
        assertEquals(0, requested("/f"));
        document("/page", "<esi:include src='/two' onerror='continue'/>".repeat(4));
        document("/two", "<esi:include src='/f' onerror='continue'/>".repeat(3));
        assertEquals("FFF".repeat(2), proxy.getAndSettle("/page").text());
        assertEquals(1, proxy.counted(Counter.ESI_PAGES_FAILED_LIMIT));
    }

    @Test
    void recursionThatBranchesIsLimited() throws Exception {
        start(config -> config.set("esi.max_depth", "10"));
        document("/page", "x" + "<esi:include src='/page' onerror='continue'/>".repeat(10));
        RawClient.Response response = proxy.getAndSettle("/page");
        assertEquals("x".repeat(257), response.text());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void documentsAreLimited(boolean isLengthKnown) throws Exception {
        proxy.start(
                request -> {
                    String content = "x".repeat(2000);
                    if (isLengthKnown) {
                        request.ok(ESI + STORED, RawInput.latin1(content));
                    } else {
                        request.send("HTTP/1.1 200 OK\r\n" + ESI + STORED + "Transfer-Encoding: chunked\r\n\r\n");
                        request.send("7d0\r\n" + content + "\r\n0\r\n\r\n");
                    }
                },
                config -> config.set(EsiKeys.ENABLED, true).set("esi.max_document_size", "1KiB"));
        for (int round = 0; round < 2; round++) {
            RawClient.Response response = proxy.getAndSettle("/page");
            assertEquals(502, response.status());
            assertTrue(response.field("cache-status").contains("detail=esi-document-size"), response.head());
        }
    }

    @Test
    void aDocumentWithoutEndIsBrokenOff() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        proxy.start(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\n" + ESI + "Cache-Control: no-store\r\n"
                            + "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + "x".repeat(2000) + "\r\n");
                    request.awaitClose();
                    closed.countDown();
                },
                config -> config.set(EsiKeys.ENABLED, true).set("esi.max_document_size", "1KiB"));
        assertEquals(502, proxy.get("/page").status());
        closed.await();
        proxy.settle();
        assertEquals(0, proxy.counted(Counter.REQUESTS_ACTIVE));
        assertEquals(0, proxy.counted(Counter.CLIENT_FAILURES_ABORTED));
    }

    @Test
    void theTimeOfTheWholeRequestIsLimited() throws Exception {
        start(config -> config.set("timeouts.transaction", "1s"));
        contents.put("/slow", "late");
        document("/page", include("/slow"));
        try {
            RawClient.Response response = proxy.get("/page");
            assertEquals(502, response.status());
            assertTrue(response.field("cache-status").contains("detail=esi-"), response.head());
        } finally {
            gate.countDown();
        }
    }

    @Test
    void pagesAreLimited() throws Exception {
        start(config -> config.set("esi.max_page_size", "4KiB"));
        contents.put("/k", "k".repeat(1000));
        document("/page", include("/k").repeat(3));
        assertEquals("k".repeat(3000), proxy.getAndSettle("/page").text());
        document("/long", include("/k").repeat(5));
        RawClient.Response response = proxy.getAndSettle("/long");
        assertEquals(502, response.status());
        assertTrue(response.field("cache-status").contains("detail=esi-page-size"), response.head());
        document("/part", "<esi:include src='/k' onerror='continue'/>".repeat(5));
        assertEquals("k".repeat(3000), proxy.getAndSettle("/part").text());
    }

    /** Fragments of all levels share the limit, which is that of the whole proxy. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "<esi:include src='/long'/> # 503",
                "<esi:include src='/nested'/> # 503",
                "a<esi:include src='/long' onerror='continue'/> # 200",
                "a<esi:include src='/nested' onerror='continue'/> # 200",
                "a<esi:include src='/f'/> # 200",
            })
    void theMemoryOfAllPagesIsLimited(String content, int status) throws Exception {
        start(config -> config.set("limits.memory_esi", "64KiB"));
        contents.put("/long", "x".repeat(70_000));
        document("/nested", include("/long"));
        document("/page", content);
        for (int round = 0; round < 2; round++) {
            RawClient.Response response = proxy.getAndSettle("/page");
            assertEquals(status, response.status());
            if (status == 503) {
                assertTrue(response.field("cache-status").contains("detail=esi-memory"), response.head());
                assertTrue(response.text().contains("65536 (limits.memory_esi)"), response.text());
            }
            assertEquals(0, proxy.proxy().shared().pages().usedBytes());
        }
        assertEquals(content.contains("/f"), proxy.counted(Counter.ESI_FRAGMENTS_FAILED) == 0);
        assertTrue(status != 503 || proxy.counted(Counter.ESI_PAGES_FAILED_MEMORY) > 0);
    }

    /** The text says what was asked for, the limit, and the setting; never the query of a fragment. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            value = {
                "<esi:include src='/f'/><esi:include src='/f'/><esi:include src='/f'/> # include 3, at most 2 are"
                        + " permitted (esi.max_includes)",
                "<esi:include src='/one'/> # esi-fragment-502",
                "<esi:include src='/k?token=secret'/><esi:include src='/k?token=secret'/> # /k at 1:37 failed:"
                        + " esi-page-size: the page has ",
                "<esi:include src='/k?token=secret'/><esi:include src='/k?token=secret'/> # bytes; at most 4096 are"
                        + " permitted (esi.max_page_size)",
                "<esi:include src='/slow'/> # not complete after 50 ms (esi.include_timeout)",
            })
    void limitsAreNamed(String content, String text) throws Exception {
        start(config -> config.set("esi.max_includes", "2")
                .set("esi.max_depth", "1")
                .set("esi.max_page_size", "4KiB")
                .set("esi.include_timeout", content.contains("/slow") ? "50ms" : "30s"));
        contents.put("/k?token=secret", "k".repeat(3000));
        contents.put("/slow", "late");
        document("/one", include("/f"));
        document("/page", content);
        try {
            RawClient.Response response = proxy.get("/page");
            assertEquals(502, response.status());
            assertTrue(response.text().contains(text), response.text());
            assertFalse(response.text().contains("secret"), response.text());
        } finally {
            gate.countDown();
        }
    }

    @Test
    void slowFragmentsFail() throws Exception {
        start(config -> config.set("esi.include_timeout", "50ms"));
        contents.put("/slow", "late");
        document("/page", "a<esi:include src='/slow' onerror='continue'/>b");
        try {
            assertEquals("ab", proxy.get("/page").text());
        } finally {
            gate.countDown();
        }
    }

    @Test
    void aClientThatLeavesCancelsFragments() throws Exception {
        start(config -> config);
        contents.put("/slow", "late");
        document("/page", "a" + include("/slow"));
        try (RawClient client = proxy.client()) {
            client.get("/page");
            ProxyExtension.await("the fragment is requested", () -> requested("/slow") == 1);
            // A close without reset may be that of a client that has only ended its requests.
            client.reset();
        }
        ProxyExtension.await("no request is active", () -> proxy.counted(Counter.REQUESTS_ACTIVE) == 0);
        gate.countDown();
        proxy.settle();
        assertEquals(0, proxy.counted(Counter.ESI_PAGES_ASSEMBLED));
    }

    @Test
    void incompleteDocumentsAreRefused() throws Exception {
        proxy.start(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\n" + ESI + STORED + "Content-Length: 100\r\n\r\n<p>");
                    request.reset();
                },
                config -> config.set(EsiKeys.ENABLED, true));
        RawClient.Response response = proxy.get("/page");
        assertEquals(502, response.status());
        assertTrue(response.field("cache-status").contains("detail=esi-document-incomplete"), response.head());
    }

    @ParameterizedTest
    @CsvSource({"'',502", "onerror='continue',200"})
    void fragmentsThatBreakOffFail(String attribute, int status) throws Exception {
        proxy.start(
                request -> {
                    if (request.has("GET /page ")) {
                        request.ok(ESI + STORED, RawInput.latin1("a<esi:include src='/f' " + attribute + "/>b"));
                    } else {
                        request.send("HTTP/1.1 200 OK\r\n" + STORED + "Content-Length: 100\r\n\r\nf");
                        request.reset();
                    }
                },
                config -> config.set(EsiKeys.ENABLED, true));
        RawClient.Response response = proxy.getAndSettle("/page");
        assertEquals(status, response.status());
        if (status == 200) {
            assertEquals("ab", response.text());
        } else {
            assertTrue(response.field("cache-status").contains("detail=esi-fragment-incomplete"), response.head());
        }
        assertEquals(0, proxy.proxy().shared().pages().usedBytes());
    }

    /** A refused page neither closes nor confuses the connection, also while its document still arrives. */
    @Test
    void connectionsOutliveRefusedPages() throws Exception {
        CountDownLatch closed = new CountDownLatch(1);
        proxy.start(
                request -> {
                    if (request.has("GET /long ")) {
                        request.send("HTTP/1.1 200 OK\r\n" + ESI + "Cache-Control: no-store\r\n"
                                + "Transfer-Encoding: chunked\r\n\r\n7d0\r\n" + "x".repeat(2000) + "\r\n");
                        request.awaitClose();
                        closed.countDown();
                    } else {
                        request.ok(
                                request.has("GET /f ") ? STORED : ESI + STORED,
                                RawInput.latin1(request.has("GET /f ") ? "F" : "<esi:include/>"));
                    }
                },
                config -> config.set(EsiKeys.ENABLED, true).set("esi.max_document_size", "1KiB"));
        try (RawClient client = proxy.client()) {
            for (String path : List.of("/long", "/bad", "/bad")) {
                assertEquals(502, client.get(path).response().status());
                assertEquals("F", client.get("/f").response().text());
            }
        }
        closed.await();
        proxy.settle();
        assertEquals(0, proxy.counted(Counter.REQUESTS_ACTIVE));
        assertEquals(0, proxy.proxy().shared().pages().usedBytes());
    }

    @Test
    void codedDocumentsAreRefused() throws Exception {
        start(config -> config);
        document("/page", "x");
        fields.put("/page", ESI + STORED + "Content-Encoding: gzip\r\n");
        for (int round = 0; round < 2; round++) {
            RawClient.Response response = proxy.getAndSettle("/page");
            assertEquals(502, response.status());
            assertTrue(response.field("cache-status").contains("detail=esi-encoding"), response.head());
        }
    }

    @Test
    void fragmentsOfUnknownHostsAreNotForwarded() throws Exception {
        proxy.withoutRules().start(this::answer, config -> config.set(EsiKeys.ENABLED, true)
                .set("forward_proxy.enabled", "true")
                .map(
                        "http://test.example/",
                        "http://127.0.0.1:" + proxy.origin().port()));
        document("/page", include("http://127.0.0.1:" + proxy.origin().port() + "/f"));
        RawClient.Response response = proxy.getAndSettle("/page");
        assertEquals(502, response.status());
        assertTrue(response.field("cache-status").contains("detail=esi-not-mapped"), response.head());
        assertEquals(0, requested("/f"));
    }

    @Test
    void compressionLeavesDocumentsAsTheyAre() throws Exception {
        start(config -> config.set("compression.enabled", "true"));
        String text = "text ".repeat(1000);
        contents.put("/page", text + include("/f"));
        fields.put("/page", ESI + STORED + "Content-Type: text/html\r\n");
        for (int round = 0; round < 2; round++) {
            RawClient.Response response = proxy.getAndSettle("/page", "Accept-Encoding: gzip\r\n");
            assertNull(response.field("content-encoding"));
            assertEquals(text + "F", response.text());
        }
    }

    /** One line for each request of a client: fragments have none. */
    @Test
    void theLogHasPagesOnly(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("access.log");
        start(config -> config.set("log.access.enabled", "true")
                .set("log.access.path", file.toString())
                .set("log.access.format", "%<cquup> %<crc> %<pssc> %<pscl>"));
        int length = 0;
        document("/page", "a" + include("/f"));
        document("/bad", include("/none"));
        for (String path : List.of("/page", "/page", "/bad", "/f")) {
            RawClient.Response response = proxy.getAndSettle(path);
            length = path.equals("/bad") ? response.content().length : length;
        }
        ProxyExtension.await("the lines", () -> lines(file).size() >= 4);
        assertEquals(
                List.of(
                        "/page TCP_MISS 200 2",
                        "/page TCP_MEM_HIT 200 2",
                        "/bad ERR_UNKNOWN 502 " + length,
                        "/f TCP_MEM_HIT 200 1"),
                lines(file));
    }

    private static List<String> lines(Path file) {
        try {
            return Files.exists(file) ? Files.readAllLines(file) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void explainNamesTheSetting() throws Exception {
        start(config -> config.set("esi.max_depth", "2"));
        List<Step> steps = new RequestExplanation(new ServerView(proxy.proxy()))
                .explain(new Question("http://test.example/a", "GET", List.of(), null, 0, false))
                .toCompletableFuture()
                .get()
                .steps();
        assertTrue(
                steps.stream()
                        .anyMatch(
                                step -> step.name().equals("esi") && step.text().contains("2 levels")),
                steps.toString());
    }
}
