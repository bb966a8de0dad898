package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.Counter;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests targeted cache control, the effect of POST and HEAD on stored responses, and further settings, over real
 * sockets.
 */
final class CacheKnobsTest {

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    /** Starts a proxy whose origin counts its responses in the content. */
    private void start(String fields, String... settings) throws Exception {
        proxy.start(request -> request.ok(fields, RawInput.latin1("answer " + request.number())), config -> {
            for (int i = 0; i < settings.length; i += 2) {
                config.set(settings[i], settings[i + 1]);
            }
            return config;
        });
    }

    private void assertAnswer(int number, String path, String... fields) throws Exception {
        assertEquals("answer " + number, proxy.get(path, fields).text());
    }

    @Test
    void aTargetedFieldDecidesAndIsPassedOn_rfc9213_s2_2() throws Exception {
        start("CDN-Cache-Control: max-age=60\r\nCache-Control: no-store\r\n");
        RawClient.Response first = proxy.get("/a");
        assertTrue(first.head().contains("CDN-Cache-Control: max-age=60"), first.head());
        RawClient.Response second = proxy.get("/a");
        assertEquals("answer 1", second.text());
        assertTrue(second.head().contains("CDN-Cache-Control: max-age=60"), second.head());
        assertTrue(second.head().contains("Cache-Control: no-store"), second.head());
        proxy.advanceSeconds(60);
        assertAnswer(2, "/a");
    }

    @Test
    void anEmptyListLeavesTargetedFieldsAlone() throws Exception {
        start("CDN-Cache-Control: max-age=60\r\nCache-Control: no-store\r\n", "cache.targeted_cache_control", "");
        assertAnswer(1, "/a");
        assertAnswer(2, "/a");
    }

    @Test
    void headFreshensTheStoredResponseToGet_rfc9111_s4_3_5() throws Exception {
        proxy.start(request -> {
            if (request.head().startsWith("HEAD")) {
                request.send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nCache-Control: max-age=100\r\nX: new\r\n"
                        + "Content-Length: 8\r\n\r\n");
            } else {
                request.ok(
                        "ETag: \"a\"\r\nCache-Control: max-age=10\r\nX: old\r\n",
                        RawInput.latin1("answer " + request.number()));
            }
        });
        assertAnswer(1, "/a");
        proxy.advanceSeconds(20);
        RawClient client = proxy.client();
        client.send("HEAD /a HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n\r\n");
        assertEquals(200, client.head().status());
        RawClient.Response later = proxy.get("/a");
        assertEquals("answer 1", later.text());
        assertTrue(later.head().contains("X: new"), later.head());
    }

    @Test
    void headThatContradictsRemovesTheStoredResponse_rfc9111_s4_3_5() throws Exception {
        proxy.start(request -> {
            if (request.head().startsWith("HEAD")) {
                request.send(
                        "HTTP/1.1 200 OK\r\nETag: \"b\"\r\nCache-Control: max-age=100\r\nContent-Length: 8\r\n\r\n");
            } else {
                assertTrue(!request.has("If-None-Match"), request.head());
                request.ok(
                        "ETag: \"a\"\r\nCache-Control: max-age=10\r\n", RawInput.latin1("answer " + request.number()));
            }
        });
        assertAnswer(1, "/a");
        proxy.advanceSeconds(20);
        RawClient client = proxy.client();
        client.send("HEAD /a HTTP/1.1\r\nHost: test.example\r\nConnection: close\r\n\r\n");
        assertEquals(200, client.head().status());
        assertAnswer(3, "/a");
    }

    @Test
    void anAnswerToPostMayStandForLaterGets_rfc9110_s9_3_3() throws Exception {
        start("Cache-Control: max-age=60\r\nContent-Location: /a\r\n");
        post("/a");
        assertAnswer(1, "/a");
        post("/a");
        assertAnswer(2, "/a");
    }

    @ParameterizedTest
    @CsvSource({"false, ''", "false, Vary: Accept-Encoding", "true, ''", "true, Vary: Accept-Encoding"})
    void aVariantFromPostAnswersLaterGets_rfc9110_s9_3_3(String compression, String vary) throws Exception {
        byte[] content = CompressionOnTheWireTest.text(9000);
        proxy.start(
                request -> request.ok(
                        "Cache-Control: max-age=60\r\nContent-Location: /a\r\nContent-Type: text/html\r\n"
                                + (vary.isEmpty() ? "" : vary + "\r\n"),
                        content),
                config -> config.set("compression.enabled", compression));
        for (int i = 1; i <= 2; i++) {
            try (RawClient client = proxy.client()) {
                client.send("POST /a HTTP/1.1\r\nHost: test.example\r\nContent-Length: 0\r\n"
                                + "Accept-Encoding: gzip\r\n\r\n")
                        .response();
            }
            RawClient.Response hit = proxy.get("/a", "Accept-Encoding: gzip\r\n");
            assertEquals(i, proxy.origin().requests(), hit.head());
            String coding = hit.field("content-encoding");
            assertEquals(compression.equals("true") ? "gzip" : null, coding, hit.head());
            assertArrayEquals(content, CompressionOnTheWireTest.decoded(coding == null ? "" : coding, hit.content()));
        }
    }

    @Test
    void postMethodOffStoresNoAnswerToPost() throws Exception {
        start("Cache-Control: max-age=60\r\nContent-Location: /a\r\n", "cache.post_method", "false");
        post("/a");
        assertAnswer(2, "/a");
    }

    @Test
    void anAnswerToPostForAnotherUrlIsNotStored_rfc9110_s9_3_3() throws Exception {
        start("Cache-Control: max-age=60\r\nContent-Location: /b\r\n");
        post("/a");
        assertAnswer(2, "/a");
    }

    @Test
    void theOldestVariantMakesRoomForANewOne() throws Exception {
        start("Cache-Control: max-age=60\r\nVary: Foo\r\n", "cache.variants_max", "2");
        assertAnswer(1, "/a", "Foo: 1\r\n");
        assertAnswer(2, "/a", "Foo: 2\r\n");
        assertAnswer(1, "/a", "Foo: 1\r\n");
        assertAnswer(3, "/a", "Foo: 3\r\n");
        assertEquals(1, proxy.counted(Counter.VARIANTS_DROPPED));
        assertAnswer(2, "/a", "Foo: 2\r\n");
        assertAnswer(3, "/a", "Foo: 3\r\n");
        assertAnswer(4, "/a", "Foo: 1\r\n");
        assertEquals(2, proxy.counted(Counter.VARIANTS_DROPPED));
    }

    @Test
    void urlsThatLookDynamicAreForwardedWhereTheyAreNotCached() throws Exception {
        start("Cache-Control: max-age=60\r\n", "cache.cache_urls_that_look_dynamic", "false");
        assertAnswer(1, "/a?b");
        assertAnswer(2, "/a?b");
        assertAnswer(3, "/a");
        assertAnswer(3, "/a");
    }

    @Test
    void aForcedStaleIfErrorAnswersWithAnExpiresOfItsOwn() throws Exception {
        proxy.start(
                request -> {
                    if (request.number() == 1) {
                        request.ok("Cache-Control: max-age=10\r\nExpires: 0\r\n", RawInput.latin1("answer 1"));
                    } else {
                        request.send("HTTP/1.1 418 Teapot\r\nContent-Length: 0\r\n\r\n");
                    }
                },
                config -> config.set("cache.force_stale_if_error", "1h")
                        .set("cache.negative_revalidating.list", "418")
                        .set("cache.negative_revalidating.lifetime", "30s"));
        assertAnswer(1, "/a");
        proxy.advanceSeconds(60);
        RawClient.Response stale = proxy.get("/a");
        assertEquals("answer 1", stale.text());
        assertTrue(stale.head().contains("Expires: Thu, 01 Jan 2026 00:01:30 GMT"), stale.head());
        proxy.advanceSeconds(3600);
        assertEquals(418, proxy.get("/a").status());
    }

    @Test
    void negativeCachingStoresErrorsOfItsList() throws Exception {
        proxy.start(
                request -> request.send("HTTP/1.1 503 Sorry\r\nContent-Length: 1\r\n\r\n" + request.number()),
                config -> config.set("cache.negative_caching.enabled", "true")
                        .set("cache.negative_caching.lifetime", "10s"));
        assertEquals("1", proxy.get("/a").text());
        assertEquals("1", proxy.get("/a").text());
        proxy.advanceSeconds(10);
        assertEquals("2", proxy.get("/a").text());
    }

    /**
     * A response with a known excessive length is not stored. Storing of a response without a length is aborted at the
     * limit.
     */
    @Test
    void responsesAboveTheSizeLimitAreSentAndNotStored() throws Exception {
        proxy.start(
                request -> {
                    int length = request.head().startsWith("GET /long") ? 1025 : 1024;
                    String content = Character.toString('0' + request.number()).repeat(length);
                    if (request.has(" /long/said") || request.has(" /fits/said")) {
                        request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1(content));
                    } else {
                        request.send(
                                "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n"
                                        + "200\r\n" + content.substring(0, 512) + "\r\n"
                                        + Integer.toHexString(length - 512)
                                        + "\r\n" + content.substring(512) + "\r\n0\r\n\r\n");
                    }
                },
                config -> config.set("cache.max_object_size", "1KiB"));
        assertEquals("1".repeat(1025), proxy.get("/long/chunked").text());
        assertEquals("2".repeat(1025), proxy.get("/long/chunked").text());
        assertEquals("3".repeat(1025), proxy.get("/long/said").text());
        assertEquals("4".repeat(1025), proxy.get("/long/said").text());
        assertEquals("5".repeat(1024), proxy.get("/fits/chunked").text());
        assertEquals("5".repeat(1024), proxy.get("/fits/chunked").text());
        assertEquals("6".repeat(1024), proxy.get("/fits/said").text());
        assertEquals("6".repeat(1024), proxy.get("/fits/said").text());
        assertEquals(2, proxy.counted(Counter.FILLS_TOO_LARGE));
    }

    /** The origin never ends, so the store must stop by itself. The client still receives every byte. */
    @Test
    void endlessBodyFillsOnlyItsShareOfTheStorage(@TempDir Path directory) throws Exception {
        byte[] piece = RawInput.latin1("x".repeat(64 << 10));
        proxy.start(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n"
                            + (request.has(" /said") ? "Content-Length: 4000000\r\n\r\n" : "\r\n"));
                    while (true) {
                        request.send(piece);
                    }
                },
                config -> config.storage(directory.resolve("disk"), 64 << 20)
                        .set("cache.fill_window", "64KiB")
                        .set("cache.object_share_max", "5%"));
        RawClient endless = proxy.client().get("/endless");
        endless.head();
        endless.in.read(16 << 20);
        assertEquals(1, proxy.counted(Counter.FILLS_OVER_SHARE));
        assertTrue(proxy.proxy().store().statistics().volumes().get(0).bytes() < 12 << 20);
        RawClient said = proxy.client().get("/said");
        said.head();
        assertEquals(4_000_000, said.in.read(4_000_000).length);
        assertEquals(2, proxy.counted(Counter.FILLS_OVER_SHARE));
    }

    @ParameterizedTest
    @CsvSource({
        "always,         '',                  1",
        "never,          '',                  2",
        "not_for_ranges, '',                  1",
        "not_for_ranges, 'Range: bytes=0-1',  2"
    })
    void readWhileWritingControlsSharingOfAFetch(String mode, String field, int fetches) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(
                request -> {
                    go.await();
                    request.ok("Cache-Control: max-age=60\r\n", RawInput.latin1("answer"));
                },
                config -> config.set("cache.read_while_writing", mode));
        RawClient leader = proxy.client().get("/a");
        ProxyExtension.await("the fetch", () -> proxy.origin().requests() == 1);
        RawClient other = proxy.client();
        if (field.isEmpty()) {
            other.get("/a");
        } else {
            other.get("/a", field + "\r\n");
        }
        ProxyExtension.await(
                "the other request", () -> proxy.origin().requests() + proxy.counted(Counter.LOOKUPS_FILLING) == 2);
        go.countDown();
        assertEquals("answer", leader.response().text());
        assertTrue(other.response().text().startsWith("an"));
        assertEquals(fetches, proxy.origin().requests());
    }

    private void post(String path) throws Exception {
        RawClient client = proxy.client();
        client.send("POST " + path + " HTTP/1.1\r\nHost: test.example\r\nContent-Length: 0\r\n"
                + "Connection: close\r\n\r\n");
        assertEquals(200, client.response().status());
    }
}
