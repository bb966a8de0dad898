package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which content the variants of a compressed response have after changes, and the limit of encoders. */
class CompressedVariantsTest {
    private static final String HTML = "Content-Type: text/html\r\n";
    private static final String BR = "Accept-Encoding: br\r\n";
    private static final String GZIP = "Accept-Encoding: gzip\r\n";
    private static final String MODIFIED = "Mon, 02 Nov 2026 10:00:00 GMT";
    private static final String DATES = "Date: Tue, 03 Nov 2026 10:00:00 GMT\r\nLast-Modified: " + MODIFIED + "\r\n";

    /** Permits of all encoders, divided by those of one at the slowest level of Brotli. */
    private static final int SLOW_ENCODERS_MAX = 32;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    private volatile String version = "v1";

    private void start(RawOrigin.Script script, String... settings) throws IOException {
        proxy.start(script, config -> {
            config.set("compression.enabled", "true");
            for (int i = 0; i < settings.length; i += 2) {
                config.set(settings[i], settings[i + 1]);
            }
            return config;
        });
    }

    private byte[] content() {
        byte[] content = CompressionOnTheWireTest.text(9000);
        System.arraycopy(version.getBytes(StandardCharsets.US_ASCII), 0, content, 0, 2);
        return content;
    }

    private String fields(String control) {
        return "Cache-Control: " + control + "\r\n" + HTML + "ETag: \"" + version + "\"\r\n";
    }

    private void assertGets(String coding, String... fields) throws IOException {
        String[] all = Arrays.copyOf(fields, fields.length + 1);
        all[fields.length] = "Accept-Encoding: " + coding + "\r\n";
        RawClient.Response response = proxy.getAndSettle("/a", all);
        assertEquals(coding, response.field("content-encoding"), response.head());
        assertEquals("W/\"" + version + "\"", response.field("etag"));
        assertArrayEquals(content(), CompressionOnTheWireTest.decoded(coding, response.content()));
    }

    /** Slow responses hold all encoders, so the next one is passed without a coding, for its client only. */
    @Test
    void contentThatCouldNotBeEncodedIsNotStored() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        start(
                request -> {
                    if (request.has("/slow")) {
                        request.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + HTML + "\r\n");
                        if (!end.await(60, TimeUnit.SECONDS)) {
                            throw new IOException("the test did not go on");
                        }
                        request.send("5\r\nhello\r\n0\r\n\r\n");
                    } else {
                        request.ok(fields("max-age=600"), content());
                    }
                },
                "compression.br_level",
                "11");
        List<RawClient> slow = new ArrayList<>();
        for (int i = 0; i < SLOW_ENCODERS_MAX; i++) {
            RawClient client = proxy.client();
            client.get("/slow" + i, BR);
            slow.add(client);
        }
        ProxyExtension.await("Counter.COMPRESSED_BR", () -> proxy.counted(Counter.COMPRESSED_BR) == SLOW_ENCODERS_MAX);
        RawClient.Response plain = proxy.get("/a", BR);
        assertNull(plain.field("content-encoding"));
        assertEquals("Accept-Encoding", plain.field("vary"));
        assertArrayEquals(content(), plain.content());
        end.countDown();
        for (RawClient client : slow) {
            assertEquals("br", client.response().field("content-encoding"));
        }
        assertGets("br");
        assertGets("br");
        assertEquals(SLOW_ENCODERS_MAX + 2, proxy.origin().requests());
    }

    /** A response to HEAD shows that the content has changed: no variant is made from the old content. */
    @Test
    void headOutdatesTheContentInAllCodings() throws Exception {
        start(request -> {
            if (request.has("HEAD ")) {
                request.send("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n" + fields("max-age=600") + "\r\n");
            } else {
                request.ok(fields("max-age=600"), content());
            }
        });
        assertGets("br");
        assertGets("gzip");
        version = "v2";
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("HEAD /a HTTP/1.1\r\nHost: test.example\r\nCache-Control: no-cache\r\n" + BR + "\r\n")
                    .head();
        }
        proxy.settle();
        assertEquals(2, proxy.origin().requests());
        assertGets("br");
        assertGets("gzip");
        assertGets("zstd");
        assertEquals(3, proxy.origin().requests());
    }

    @Test
    void newContentOutdatesTheOldContentInOtherCodings() throws Exception {
        start(request -> request.ok(fields("max-age=600"), content()));
        assertGets("br");
        assertGets("gzip");
        version = "v2";
        assertGets("br", "Cache-Control: no-cache\r\n");
        assertGets("gzip");
        assertGets("zstd");
        assertEquals(2, proxy.origin().requests());
    }

    /** New content that is in the cache in another coding stays there. */
    @Test
    void newContentInOtherCodingsStays() throws Exception {
        start(request -> request.ok(fields("max-age=60"), content()));
        assertGets("br");
        proxy.advanceSeconds(61);
        version = "v2";
        assertGets("gzip");
        assertGets("br");
        assertEquals(3, proxy.origin().requests());
        assertGets("gzip");
        assertEquals(3, proxy.origin().requests());
    }

    /** A validation shows that the content is gone, by a response that is not stored. */
    @Test
    void contentThatIsGoneIsRemovedInAllCodings() throws Exception {
        start(request -> {
            if (version.equals("v1")) {
                request.ok(fields("max-age=600"), content());
            } else {
                request.send("HTTP/1.1 404 Not Found\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n");
            }
        });
        assertGets("br");
        assertGets("gzip");
        version = "v2";
        assertEquals(
                404, proxy.getAndSettle("/a", BR, "Cache-Control: no-cache\r\n").status());
        assertEquals(404, proxy.getAndSettle("/a", BR).status());
        assertEquals(404, proxy.getAndSettle("/a", GZIP).status());
        assertEquals(4, proxy.origin().requests());
    }

    /** A 304 about other content leads to a second request, whose answer does not come from an old variant. */
    @Test
    void a304AboutOtherContentIsFollowedByTheContent() throws Exception {
        start(request -> {
            if (request.has("If-None-Match: ")) {
                request.send("HTTP/1.1 304 Not Modified\r\n" + fields("max-age=60") + "\r\n");
            } else {
                request.ok(fields("max-age=60"), content());
            }
        });
        assertGets("br");
        assertGets("gzip");
        proxy.advanceSeconds(100);
        assertGets("gzip");
        version = "v2";
        assertGets("br");
        assertGets("gzip");
        assertEquals(4, proxy.origin().requests());
    }

    /** The client's copy of encoded content has a weak tag; its copy of content without a coding has a strong one. */
    @ParameterizedTest
    @CsvSource({"br, W/\"v1\", W/\"v1\"", "br, \"v1\", \"v1\"", "identity, W/\"v1\", \"v1\""})
    void aPassed304HasTheTagOfTheClientsCopy(String accepted, String condition, String tag) throws Exception {
        start(
                request -> request.send("HTTP/1.1 304 Not Modified\r\nETag: \"v1\"\r\nVary: Accept-Language\r\n\r\n"),
                "cache.enabled",
                "false");
        RawClient.Response response =
                proxy.get("/a", "Accept-Encoding: " + accepted + "\r\n", "If-None-Match: " + condition + "\r\n");
        assertEquals(304, response.status());
        assertEquals(tag, response.field("etag"));
        assertEquals("br".equals(accepted), response.head().contains("Accept-Encoding"), response.head());
    }

    /** A download of a type that is not encoded is resumed; encoded content is sent again as a whole. */
    @ParameterizedTest
    @CsvSource({
        "video/mp4, bytes=10-19, 206",
        "text/html, bytes=10-19, 200",
        "'multipart/byteranges; boundary=b', 'bytes=10-19,30-39', 200"
    })
    void datedRangesArePassedForTypesThatAreNotEncoded(String type, String range, int status) throws Exception {
        byte[] content = content();
        start(
                request -> {
                    if (request.has("Range: ")) {
                        request.send("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 10-19/9000\r\n"
                                + "Content-Length: 10\r\nContent-Type: " + type + "\r\n" + DATES + "\r\n");
                        request.send(Arrays.copyOfRange(content, 10, 20));
                    } else {
                        request.ok(HTML + DATES, content);
                    }
                },
                "cache.enabled",
                "false");
        RawClient.Response response = proxy.get("/a", BR, "Range: " + range + "\r\n", "If-Range: " + MODIFIED + "\r\n");
        assertEquals(status, response.status());
        if (status == 206) {
            assertArrayEquals(Arrays.copyOfRange(content, 10, 20), response.content());
        } else {
            assertEquals("br", response.field("content-encoding"));
            assertArrayEquals(content, CompressionOnTheWireTest.decoded("br", response.content()));
        }
        assertEquals(status == 206 ? 1 : 2, proxy.origin().requests());
    }

    /** The origin's own encoded content has a date that identifies its bytes, unless this proxy encodes too. */
    @ParameterizedTest
    @CsvSource({"false, 206", "true, 200"})
    void datesIdentifyContentThatOnlyTheOriginEncodes(String enabled, int status) throws Exception {
        start(
                request -> request.ok(
                        "Cache-Control: max-age=99999999\r\n" + HTML + DATES
                                + "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n",
                        content()),
                "compression.enabled",
                enabled);
        proxy.getAndSettle("/a", GZIP);
        RawClient.Response part = proxy.get("/a", GZIP, "Range: bytes=10-19\r\n", "If-Range: " + MODIFIED + "\r\n");
        assertEquals(status, part.status());
        assertEquals(1, proxy.origin().requests());
    }
}
