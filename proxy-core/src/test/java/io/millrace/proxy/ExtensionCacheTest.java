package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ExplainSource;
import io.millrace.proxy.admin.cache.LookupSource;
import io.millrace.proxy.admin.data.RequestExplanation;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.spi.BodyTransformHook;
import io.millrace.proxy.spi.CacheKeyHook;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.ExtensionCounter;
import io.millrace.proxy.spi.LookupHook;
import io.millrace.proxy.spi.OriginResolver;
import io.millrace.proxy.spi.OriginResponseView;
import io.millrace.proxy.spi.PurgeObserver;
import io.millrace.proxy.spi.RequestView;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the hooks of extensions for keys, lookups, content, origins and purges, with real clients. */
class ExtensionCacheTest extends LaneFixture {
    private static final String FRESH = "Cache-Control: max-age=600\r\n";

    private static void answer(RawOrigin.Exchange request) throws IOException {
        request.ok(FRESH, RawInput.latin1("content " + request.number()));
    }

    private void start(TestExtension extension) throws IOException {
        proxy.with(extension.entry());
        start(ExtensionCacheTest::answer, config -> config.set("purge.allow", "127.0.0.1"));
    }

    private static final class Divided extends TestExtension implements CacheKeyHook {
        @Override
        public void cacheKey(RequestView request, Parts parts) {
            String group = request.fields().get("X-Group");
            if (group != null) {
                parts.add(group);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void keyPartsDivideTheResponsesOfAUrl(Lane lane) throws Exception {
        start(new Divided());
        assertEquals("content 1", ask(lane, "GET", "/a", "X-Group", "a b").text());
        assertEquals("content 2", ask(lane, "GET", "/a", "X-Group", "b").text());
        assertEquals("content 3", ask(lane, "GET", "/a").text());
        proxy.settle();
        assertEquals("content 1", ask(lane, "GET", "/a", "X-Group", "a b").text());
        assertEquals("content 2", ask(lane, "GET", "/a", "X-Group", "b").text());
        assertEquals("content 3", ask(lane, "GET", "/a").text());
        assertEquals(3, proxy.origin().requests());
    }

    @Test
    void purgeOfAUrlPurgesAllItsParts() throws Exception {
        start(new Divided());
        proxy.getAndSettle("/a", "X-Group: a\r\n");
        proxy.getAndSettle("/ab", "X-Group: a\r\n");
        proxy.getAndSettle("/a");
        Received purged = ask(Lane.CLEAR, "PURGE", "/a");
        assertEquals(200, purged.status(), purged::head);
        RawClient.Response again = proxy.getAndSettle("/a", "X-Group: a\r\n");
        assertEquals("content 4", again.text());
        assertTrue(again.field("cache-status").contains("detail=invalidated-by-url"), again::head);
        assertEquals("content 4", proxy.get("/a", "X-Group: a\r\n").text());
        assertEquals("content 5", proxy.get("/a").text());
        assertEquals("content 2", proxy.get("/ab", "X-Group: a\r\n").text());
    }

    @Test
    void explainNamesExtensionsAndCallsOnlyTheKeyHook() throws Exception {
        Looking looking = new Looking();
        proxy.with(new Divided().entry()).with(new NamedLooking(looking).entry());
        start(ExtensionCacheTest::answer, config -> config);
        ExplainSource.Explanation explained = new RequestExplanation(new ServerView(proxy.proxy()))
                .explain(new ExplainSource.Question(
                        "http://test.example/a",
                        "GET",
                        List.of(new LookupSource.Field("X-Group", "a b")),
                        "127.0.0.1",
                        0,
                        false))
                .toCompletableFuture()
                .get();
        assertEquals("http://test.example/a ext=test:a%20b", explained.key());
        ExplainSource.Step step = explained.steps().stream()
                .filter(one -> one.name().equals("extensions"))
                .findFirst()
                .orElseThrow();
        assertEquals(
                "test is asked: cache_key; looking is asked: lookup_done; this dry run calls only cache_key",
                step.text());
        assertEquals(List.of(), looking.seen);
    }

    private static final class NamedLooking extends TestExtension implements LookupHook {
        private final Looking looking;

        NamedLooking(Looking looking) {
            this.looking = looking;
        }

        @Override
        public String name() {
            return "looking";
        }

        @Override
        public Action lookupDone(RequestView request, State state) {
            return looking.lookupDone(request, state);
        }
    }

    private static final class Looking extends TestExtension implements LookupHook {
        final List<State> seen = new CopyOnWriteArrayList<>();

        @Override
        public Action lookupDone(RequestView request, State state) {
            seen.add(state);
            String action = request.fields().get("X-Action");
            return action == null ? Action.PROCEED : Action.valueOf(action);
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void lookupHookValidatesOrBypasses(Lane lane) throws Exception {
        Looking extension = new Looking();
        proxy.with(extension.entry());
        start(
                request -> {
                    if (request.has("If-None-Match: \"e\"")) {
                        request.send("HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\nX-Validated: 1\r\n\r\n");
                    } else {
                        request.ok(FRESH + "ETag: \"e\"\r\n", RawInput.latin1("content " + request.number()));
                    }
                },
                config -> config);
        assertEquals("content 1", ask(lane, "GET", "/a", "X-Action", "VALIDATE").text());
        proxy.settle();
        assertNull(ask(lane, "GET", "/a").field("x-validated"));
        Received validated = ask(lane, "GET", "/a", "X-Action", "VALIDATE");
        assertEquals("content 1", validated.text());
        assertEquals("1", validated.field("x-validated"));
        proxy.settle();
        assertEquals("content 3", ask(lane, "GET", "/a", "X-Action", "BYPASS").text());
        proxy.settle();
        assertEquals("content 1", ask(lane, "GET", "/a").text());
        proxy.advanceSeconds(700);
        assertEquals("content 1", ask(lane, "GET", "/a").text());
        assertEquals(
                List.of(
                        LookupHook.State.MISS,
                        LookupHook.State.HIT,
                        LookupHook.State.HIT,
                        LookupHook.State.HIT,
                        LookupHook.State.HIT,
                        LookupHook.State.STALE),
                extension.seen);
    }

    /** Replaces each x by a comment, and appends one. */
    private static final class Commenting extends TestExtension implements BodyTransformHook {
        final AtomicInteger closed = new AtomicInteger();

        @Override
        public @Nullable Transform bodyTransform(OriginResponseView response) {
            if (response.url().contains("plain")) {
                return null;
            }
            response.fields().set("X-Transformed", "1");
            return new Transform() {
                private int bytes;

                @Override
                public void chunk(ByteBuffer in, Output out) {
                    bytes += in.remaining();
                    while (in.hasRemaining()) {
                        byte b = in.get();
                        out.write(
                                b == 'x'
                                        ? StandardCharsets.US_ASCII.encode("<!---->")
                                        : ByteBuffer.wrap(new byte[] {b}));
                    }
                }

                @Override
                public void end(Output out) {
                    out.write(StandardCharsets.US_ASCII.encode("<!--" + bytes + "-->"));
                }

                @Override
                public void close() {
                    closed.incrementAndGet();
                }
            };
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void transformedContentIsStoredForAllClients(Lane lane) throws Exception {
        Commenting extension = new Commenting();
        proxy.with(extension.entry());
        start(
                request -> {
                    assertTrue(request.has("\r\nAccept-Encoding: identity\r\n"), request::head);
                    assertTrue(!request.has("Range:"), request::head);
                    request.ok(
                            FRESH + "ETag: \"e\"\r\nLast-Modified: Thu, 01 Jan 2015 00:00:00 GMT\r\n",
                            RawInput.latin1("axbx"));
                },
                config -> config);
        String expected = "a<!---->b<!----><!--4-->";
        Received miss = ask(lane, "GET", "/a", "Accept-Encoding", "gzip");
        assertEquals(expected, miss.text());
        assertEquals("W/\"e\"", miss.field("etag"));
        assertEquals("1", miss.field("x-transformed"));
        proxy.settle();
        Received hit = ask(lane, "GET", "/a");
        assertEquals(expected, hit.text());
        assertEquals(String.valueOf(expected.length()), hit.field("content-length"));
        assertEquals("<!--", ask(lane, "GET", "/a", "Range", "bytes=1-4").text());
        assertEquals(304, ask(lane, "GET", "/a", "If-None-Match", "W/\"e\"").status());
        assertEquals(expected, ask(lane, "GET", "/b", "Range", "bytes=0-100").text());
        assertEquals("axbx", ask(lane, "GET", "/plain").text());
        proxy.settle();
        assertEquals(3, proxy.origin().requests());
        assertEquals(2, extension.closed.get());
    }

    @Test
    void longTransformedContentArrivesCompletely() throws Exception {
        byte[] content = "0123456789x".repeat(20_000).getBytes(StandardCharsets.US_ASCII);
        proxy.with(new Commenting().entry());
        start(request -> request.ok(FRESH, content), config -> config);
        String expected = new String(content, StandardCharsets.US_ASCII).replace("x", "<!---->") + "<!--"
                + content.length + "-->";
        assertEquals(expected, proxy.getAndSettle("/a").text());
        assertEquals(expected, proxy.get("/a").text());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void transformedResponseIsValidatedByItsWeakTag() throws Exception {
        proxy.with(new Commenting().entry());
        start(
                request -> {
                    if (request.has("If-None-Match: W/\"e\"")) {
                        request.send("HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\n" + FRESH + "\r\n");
                    } else {
                        request.ok(FRESH + "ETag: \"e\"\r\n", RawInput.latin1("ax"));
                    }
                },
                config -> config);
        assertEquals("a<!----><!--2-->", proxy.getAndSettle("/a").text());
        proxy.advanceSeconds(700);
        RawClient.Response validated = proxy.getAndSettle("/a");
        assertEquals("a<!----><!--2-->", validated.text());
        assertEquals("W/\"e\"", validated.field("etag"));
        assertEquals("a<!----><!--2-->", proxy.get("/a").text());
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void transformedContentIsCompressed() throws Exception {
        proxy.with(new Commenting().entry());
        String content = "0123456789x".repeat(1000);
        start(
                request -> request.ok(FRESH + "Content-Type: text/html\r\n", RawInput.latin1(content)),
                config -> config.set("compression.enabled", "true"));
        String expected = content.replace("x", "<!---->") + "<!--" + content.length() + "-->";
        for (int i = 0; i < 2; i++) {
            RawClient.Response compressed = proxy.getAndSettle("/a", "Accept-Encoding: gzip\r\n");
            assertEquals("gzip", compressed.field("content-encoding"));
            GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(compressed.content()));
            assertEquals(expected, new String(in.readAllBytes(), StandardCharsets.US_ASCII));
        }
        assertEquals(expected, proxy.getAndSettle("/a").text());
        assertEquals(1, proxy.origin().requests());
    }

    private static final class Routing extends TestExtension implements OriginResolver {
        private final URI other;

        Routing(URI other) {
            this.other = other;
        }

        @Override
        public @Nullable URI resolve(RequestView request) {
            return request.path().startsWith("/other") ? other : null;
        }
    }

    @ParameterizedTest
    @EnumSource(Lane.class)
    void resolverChoosesTheOrigin(Lane lane) throws Exception {
        try (RawOrigin other = new RawOrigin(request -> request.ok(FRESH, RawInput.latin1("other")))) {
            start(new Routing(URI.create(other.url())));
            assertEquals("content 1", ask(lane, "GET", "/a").text());
            assertEquals("other", ask(lane, "GET", "/other").text());
            proxy.settle();
            assertEquals("other", ask(lane, "GET", "/other").text());
            assertEquals(1, other.requests());
        }
    }

    private static final class Watching extends TestExtension implements PurgeObserver {
        final List<Purge> seen = new CopyOnWriteArrayList<>();
        private @Nullable ExtensionCounter counter;

        @Override
        public void open(ExtensionContext opened) throws Exception {
            super.open(opened);
            counter = opened.counter("purges_seen");
        }

        @Override
        public void purged(Purge purge) {
            if (counter != null) {
                counter.increment();
            }
            seen.add(purge);
        }
    }

    @Test
    void observerGetsPurges() throws Exception {
        Watching extension = new Watching();
        start(extension);
        proxy.getAndSettle("/a");
        assertEquals(200, ask(Lane.CLEAR, "PURGE", "/a").status());
        ProxyExtension.await("the purge", () -> extension.seen.size() == 1);
        assertEquals("url", extension.seen.get(0).kind());
        assertEquals("http://test.example/a", extension.seen.get(0).target());
        assertTrue(proxy.proxy()
                .metricsText()
                .contains("millrace_extension_counter_total{application=\"millrace\",counter=\"purges_seen\","
                        + "extension=\"test\"} 1"));
    }

    @Test
    void hitsWithoutHooksStayInTheFastLane() throws Exception {
        start(new Watching());
        proxy.getAndSettle("/a");
        RawClient client = proxy.client();
        for (int i = 0; i < 3; i++) {
            assertEquals(200, client.get("/a").response().status());
        }
        assertEquals(3, proxy.counted(Counter.FAST_LANE_ANSWERED));
    }
}
