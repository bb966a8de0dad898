package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.aayushatharva.brotli4j.decoder.BrotliInputStream;
import com.github.luben.zstd.ZstdInputStream;
import io.millrace.proxy.observe.Counter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests compression over real sockets: each coding, what is stored, ranges, tags, validation and purges. */
class CompressionOnTheWireTest {
    private static final String FRESH = "Cache-Control: max-age=600\r\n";
    private static final String HTML = "Content-Type: text/html; charset=utf-8\r\n";
    private static final String BROWSER = "Accept-Encoding: gzip, deflate, br, zstd\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    /** Returns text of this length, which is compressible but not trivial. */
    static byte[] text(int length) {
        StringBuilder text = new StringBuilder(length + 32);
        for (int i = 0; text.length() < length; i++) {
            text.append("<li>item ").append(Integer.toString(i * 7919, 36)).append("</li>\n");
        }
        return text.substring(0, length).getBytes(StandardCharsets.US_ASCII);
    }

    static byte[] decoded(String coding, byte[] content) throws IOException {
        InputStream from = new ByteArrayInputStream(content);
        try (InputStream decoder =
                switch (coding) {
                    case "br" -> new BrotliInputStream(from);
                    case "zstd" -> new ZstdInputStream(from);
                    case "gzip" -> new GZIPInputStream(from);
                    default -> from;
                }) {
            return decoder.readAllBytes();
        }
    }

    private void start(String fields, byte[] content) throws IOException {
        start(request -> request.ok(fields, content));
    }

    private void start(RawOrigin.Script script) throws IOException {
        proxy.start(script, config -> config.set("compression.enabled", "true"));
    }

    private static String accepting(String coding) {
        return "Accept-Encoding: " + coding + "\r\n";
    }

    @ParameterizedTest
    @CsvSource({"br, 9000", "zstd, 9000", "gzip, 9000", "br, 700000", "zstd, 700000", "gzip, 700000"})
    void theEncodedVariantIsStored(String coding, int length) throws Exception {
        byte[] content = text(length);
        start(FRESH + HTML + "ETag: \"v1\"\r\nAccept-Ranges: bytes\r\n", content);
        RawClient.Response miss = proxy.getAndSettle("/a", accepting(coding));
        RawClient.Response hit = proxy.getAndSettle("/a", accepting(coding));
        for (RawClient.Response response : new RawClient.Response[] {miss, hit}) {
            assertEquals(200, response.status(), response.head());
            assertEquals(coding, response.field("content-encoding"));
            assertEquals("Accept-Encoding", response.field("vary"));
            assertEquals("W/\"v1\"", response.field("etag"));
            assertNull(response.field("accept-ranges"));
            assertTrue(response.content().length < length / 2, response.content().length + " bytes");
            assertArrayEquals(content, decoded(coding, response.content()));
        }
        assertEquals(Integer.toString(hit.content().length), hit.field("content-length"));
        assertEquals(1, proxy.origin().requests());
        ProxyExtension.await("Counter.REQUESTS_HIT", () -> proxy.counted(Counter.REQUESTS_HIT) == 1);
    }

    @Test
    void bytesAndResponsesAreCounted() throws Exception {
        start(FRESH + HTML, text(50_000));
        int sent = proxy.getAndSettle("/a", BROWSER).content().length;
        proxy.getAndSettle("/a");
        ProxyExtension.await("Counter.COMPRESSED_BR", () -> proxy.counted(Counter.COMPRESSED_BR) == 1);
        ProxyExtension.await("Counter.COMPRESSION_PLAIN", () -> proxy.counted(Counter.COMPRESSION_PLAIN) == 1);
        ProxyExtension.await("Counter.COMPRESSION_IN_BR", () -> proxy.counted(Counter.COMPRESSION_IN_BR) == 50_000);
        ProxyExtension.await("Counter.COMPRESSION_OUT_BR", () -> proxy.counted(Counter.COMPRESSION_OUT_BR) == sent);
    }

    /** Clients that get the same coding share one variant, although the texts of Accept-Encoding differ. */
    @Test
    void clientsWithTheSameCodingShareAVariant() throws Exception {
        start(request -> request.ok(
                FRESH + HTML + "X-Asked: " + RawClient.field(request.head(), "accept-encoding") + "\r\n", text(9000)));
        String[][] same = {
            {
                BROWSER,
                accepting("br"),
                accepting("BR;q=1.0, gzip;q=0.5"),
                accepting("*"),
                accepting("identity;q=0.5, br")
            },
            {
                accepting("gzip"),
                accepting("x-gzip"),
                accepting("br;q=0, zstd;q=0, gzip;q=0.1"),
                accepting("gzip, deflate")
            },
            {
                "",
                accepting("identity"),
                accepting("deflate"),
                accepting("br;q=0"),
                accepting("br;q=0.2, identity"),
                BROWSER + "Cache-Control: no-transform\r\n"
            }
        };
        String[] asked = {"br", "gzip", "identity"};
        for (int i = 0; i < same.length; i++) {
            boolean first = true;
            for (String fields : same[i]) {
                RawClient.Response response = proxy.getAndSettle("/a", fields);
                assertEquals(asked[0], response.field("x-asked"), fields);
                // RFC 9211 s2.2: fwd only if the request went to the origin.
                String how = !first ? "; hit; ttl=" : i == 0 ? "; fwd=uri-miss" : "; hit; detail=from-other-encoding";
                String cacheStatus = String.valueOf(response.field("cache-status"));
                assertTrue(cacheStatus.contains(how), () -> fields + ": " + cacheStatus);
                first = false;
                assertEquals(i == 2 ? null : asked[i], response.field("content-encoding"), fields);
                assertArrayEquals(text(9000), decoded(asked[i], response.content()), fields);
            }
        }
        assertEquals(1, proxy.origin().requests());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Type: image/png\r\n",
                "Content-Type: text/html\r\nCache-Control: max-age=600, no-transform\r\n",
                "Content-Type: text/html\r\nContent-Encoding: deflate\r\n",
                ""
            })
    void otherResponsesStayAsTheyAre(String fields) throws Exception {
        start(FRESH + fields + "ETag: \"v1\"\r\n", text(9000));
        for (String accepted : new String[] {BROWSER, "", accepting("gzip")}) {
            RawClient.Response response = proxy.getAndSettle("/a", accepted);
            assertArrayEquals(text(9000), response.content());
            assertNull(response.field("vary"));
            assertEquals("\"v1\"", response.field("etag"));
        }
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void shortContentStaysAsItIs() throws Exception {
        start(FRESH + HTML, text(1023));
        assertNull(proxy.getAndSettle("/a", BROWSER).field("content-encoding"));
        assertArrayEquals(text(1023), proxy.get("/a", accepting("gzip")).content());
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void codingsOfTheOriginAreKept() throws Exception {
        start(FRESH + HTML + "Content-Encoding: br\r\nVary: Accept-Encoding\r\nETag: \"v1\"\r\n", text(9000));
        RawClient.Response response = proxy.getAndSettle("/a", BROWSER);
        assertEquals("br", response.field("content-encoding"));
        assertEquals("\"v1\"", response.field("etag"));
        assertArrayEquals(text(9000), response.content());
        proxy.get("/a", accepting("br"));
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void contentOfUnknownLengthComesPieceByPiece() throws Exception {
        CountDownLatch second = new CountDownLatch(1);
        start(request -> {
            request.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + HTML + "\r\n5\r\nfirst\r\n");
            try {
                assertTrue(second.await(20, TimeUnit.SECONDS));
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            request.send("6\r\nsecond\r\n0\r\n\r\n");
        });
        try (RawClient client = proxy.client()) {
            client.get("/a", accepting("gzip"));
            RawClient.Response head = client.head();
            assertEquals("gzip", head.field("content-encoding"));
            // The first chunk arrives before the origin sends more.
            String size = client.line();
            assertTrue(Integer.parseInt(size, 16) > 10, size);
            second.countDown();
        }
    }

    @Test
    void tagsMatchAcrossVariants() throws Exception {
        start(FRESH + HTML + "ETag: \"v1\"\r\n", text(9000));
        proxy.getAndSettle("/a", BROWSER);
        proxy.getAndSettle("/a");
        for (String accepted : new String[] {BROWSER, ""}) {
            assertEquals(
                    304,
                    proxy.get("/a", accepted, "If-None-Match: W/\"v1\"\r\n").status());
            assertEquals(
                    200, proxy.get("/a", accepted, "If-None-Match: \"v2\"\r\n").status());
        }
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void rangesAreOfTheStoredVariant() throws Exception {
        start(FRESH + HTML + "ETag: \"v1\"\r\n", text(9000));
        byte[] whole = proxy.getAndSettle("/a", BROWSER).content();
        RawClient.Response part = proxy.get("/a", BROWSER, "Range: bytes=10-19\r\n");
        assertEquals(206, part.status());
        assertEquals("br", part.field("content-encoding"));
        assertEquals("bytes 10-19/" + whole.length, part.field("content-range"));
        assertArrayEquals(java.util.Arrays.copyOfRange(whole, 10, 20), part.content());
        RawClient.Response all = proxy.get("/a", BROWSER, "Range: bytes=10-19\r\n", "If-Range: \"v1\"\r\n");
        assertEquals(200, all.status());
        assertArrayEquals(whole, all.content());
        assertEquals(1, proxy.origin().requests());
    }

    /** A part from the origin is passed, but does not become the variant of any client. */
    @Test
    void partsOfTheOriginAreNotStored() throws Exception {
        byte[] content = text(9000);
        start(request -> {
            if (request.has("Range: ")) {
                request.send("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/9000\r\nContent-Length: 10\r\n"
                        + FRESH + HTML + "ETag: \"v1\"\r\n\r\n"
                        + new String(content, 0, 10, StandardCharsets.US_ASCII));
            } else {
                request.ok(FRESH + HTML + "ETag: \"v1\"\r\n", content);
            }
        });
        RawClient.Response part = proxy.getAndSettle("/a", BROWSER, "Range: bytes=0-9\r\n");
        assertEquals(206, part.status());
        assertNull(part.field("content-encoding"));
        assertEquals("br", proxy.getAndSettle("/a", BROWSER).field("content-encoding"));
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void validationKeepsTheVariants() throws Exception {
        start(request -> {
            if (request.has("If-None-Match: W/\"v1\"") || request.has("If-None-Match: \"v1\"")) {
                request.send("HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\nETag: \"v1\"\r\n"
                        + "Vary: Accept-Language\r\nAccept-Ranges: bytes\r\n\r\n");
            } else {
                request.ok("Cache-Control: max-age=60\r\n" + HTML + "ETag: \"v1\"\r\n", text(9000));
            }
        });
        proxy.getAndSettle("/a", BROWSER);
        proxy.getAndSettle("/a", accepting("identity"));
        proxy.advanceSeconds(100);
        for (int i = 0; i < 2; i++) {
            RawClient.Response encoded = proxy.getAndSettle("/a", BROWSER);
            assertEquals("br", encoded.field("content-encoding"));
            assertEquals("W/\"v1\"", encoded.field("etag"));
            assertNull(encoded.field("accept-ranges"));
            assertArrayEquals(text(9000), decoded("br", encoded.content()));
            RawClient.Response plain = proxy.getAndSettle("/a", accepting("identity"));
            assertEquals("\"v1\"", plain.field("etag"));
            assertArrayEquals(text(9000), plain.content());
        }
        // One for both variants, and a validation of each.
        assertEquals(3, proxy.origin().requests());
        ProxyExtension.await("Counter.REQUESTS_REVALIDATED", () -> proxy.counted(Counter.REQUESTS_REVALIDATED) == 2);
    }

    @Test
    void headHasTheFieldsOfGet() throws Exception {
        start(request -> {
            if (request.has("HEAD ")) {
                request.send("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n" + FRESH + HTML + "ETag: \"v1\"\r\n\r\n");
            } else {
                request.ok(FRESH + HTML + "ETag: \"v1\"\r\n", text(9000));
            }
        });
        for (int i = 0; i < 2; i++) {
            try (RawClient client = new RawClient(proxy.address())) {
                RawClient.Response head = client.send("HEAD /a HTTP/1.1\r\nHost: test.example\r\n" + BROWSER + "\r\n")
                        .head();
                assertEquals("br", head.field("content-encoding"), head.head());
                assertEquals("W/\"v1\"", head.field("etag"));
                assertEquals("Accept-Encoding", head.field("vary"));
            }
            proxy.getAndSettle("/a", BROWSER);
        }
        assertEquals(2, proxy.origin().requests());
    }

    @Test
    void aPurgeRemovesAllVariants() throws Exception {
        start(FRESH + HTML, text(9000));
        for (int round = 1; round <= 2; round++) {
            for (String coding : new String[] {"br", "gzip", "zstd", "identity"}) {
                proxy.getAndSettle("/a", accepting(coding));
                proxy.get("/a", accepting(coding));
            }
            assertEquals(round, proxy.origin().requests());
            proxy.purge("/a");
        }
    }

    /** The tag field is not stored, but each variant has its tags. */
    @Test
    void aPurgeByTagRemovesAllVariants() throws Exception {
        start(FRESH + HTML + "Surrogate-Key: page\r\n", text(9000));
        for (int round = 1; round <= 2; round++) {
            for (String coding : new String[] {"br", "gzip", "identity"}) {
                proxy.getAndSettle("/a", accepting(coding));
                assertEquals(round, proxy.origin().requests(), coding);
            }
            try (RawClient client = new RawClient(proxy.address())) {
                RawClient.Response purged = client.send(
                                "PURGE /a HTTP/1.1\r\nHost: test.example\r\nSurrogate-Key: page\r\n\r\n")
                        .response();
                assertEquals(200, purged.status(), purged.text());
            }
        }
    }

    private static byte[] zipped(byte[] content) throws IOException {
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(to)) {
            gzip.write(content);
        }
        return to.toByteArray();
    }

    /** An origin that has files compressed with gzip, and sends them to every client that accepts it. */
    private void startWithFiles(String fields) throws IOException {
        byte[] zipped = zipped(text(9000));
        start(request -> {
            boolean accepts = "gzip".equals(RawClient.field(request.head(), "accept-encoding"));
            request.ok(
                    FRESH + fields + "Vary: Accept-Encoding\r\n" + (accepts ? "Content-Encoding: gzip\r\n" : ""),
                    accepts ? zipped : text(9000));
        });
    }

    @Test
    void codingsOfTheOriginAreDecodedForOtherClients() throws Exception {
        startWithFiles(HTML);
        for (String coding : new String[] {"gzip", "br", "identity"}) {
            RawClient.Response response = proxy.getAndSettle("/a", accepting(coding));
            assertEquals(coding.equals("identity") ? null : coding, response.field("content-encoding"));
            assertArrayEquals(text(9000), decoded(coding, response.content()));
        }
        assertEquals(1, proxy.origin().requests());
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Type: text/html\r\nCache-Control: no-transform\r\n", "Content-Type: font/ttf\r\n"})
    void codingsOfTheOriginAreNotDecodedIfItForbidsItOrTheTypeIsAnother(String fields) throws Exception {
        startWithFiles(fields);
        for (String coding : new String[] {"gzip", "br", "identity"}) {
            RawClient.Response response = proxy.getAndSettle("/a", accepting(coding));
            assertEquals(coding.equals("gzip") ? "gzip" : null, response.field("content-encoding"));
            assertArrayEquals(text(9000), decoded(coding.equals("gzip") ? "gzip" : "", response.content()));
        }
        assertEquals(3, proxy.origin().requests());
    }

    /** A part of the encoded bytes must not be completed with bytes of the origin's content, or of another encoding. */
    @ParameterizedTest
    @ValueSource(strings = {"max-age=99999999", "private, max-age=0"})
    void datesDoNotIdentifyEncodedContent(String control) throws Exception {
        byte[] content = text(9000);
        String modified = "Mon, 02 Nov 2026 10:00:00 GMT";
        String fields = "Cache-Control: " + control + "\r\n" + HTML + "Date: Tue, 03 Nov 2026 10:00:00 GMT\r\n"
                + "Last-Modified: " + modified + "\r\n";
        start(request -> {
            if (request.has("Range: ")) {
                request.send("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-8999/9000\r\n"
                        + "Content-Length: 9000\r\n" + fields + "\r\n"
                        + new String(content, StandardCharsets.US_ASCII));
            } else {
                request.ok(fields, content);
            }
        });
        // The first time from the origin, then from the cache if it is stored.
        for (int i = 0; i < 2; i++) {
            RawClient.Response all =
                    proxy.getAndSettle("/a", BROWSER, "Range: bytes=10-19\r\n", "If-Range: " + modified + "\r\n");
            assertEquals(200, all.status());
            assertEquals("br", all.field("content-encoding"));
            assertArrayEquals(content, decoded("br", all.content()));
        }
        RawClient.Response part = proxy.getAndSettle(
                "/a", accepting("identity"), "Range: bytes=10-19\r\n", "If-Range: " + modified + "\r\n");
        assertEquals(206, part.status());
        assertNull(part.field("content-encoding"));
    }

    /** The encoder does not read ahead of a client that reads slowly. */
    @Test
    void slowClientsGetEveryByteInBoundedMemory() throws Exception {
        byte[] content = new byte[12 << 20];
        new Random(27).nextBytes(content);
        start("Cache-Control: no-store\r\n" + HTML, content);
        RawClient client = proxy.slowClient();
        client.get("/a", accepting("gzip"));
        assertEquals("gzip", client.head().field("content-encoding"));
        ByteArrayOutputStream got = new ByteArrayOutputStream(content.length);
        int size = Integer.parseInt(client.line(), 16);
        while (size > 0) {
            got.write(client.in.read(size));
            assertEquals("", client.line());
            assertTrue(proxy.usedBytes() < 6 << 20, () -> "bytes in use: " + proxy.usedBytes());
            size = Integer.parseInt(client.line(), 16);
        }
        assertArrayEquals(content, decoded("gzip", got.toByteArray()));
    }

    /** The client leaves while the content is encoded, so the encoder and its buffers are given back. */
    @Test
    void nothingIsLeftOfAClientThatLeaves() throws Exception {
        byte[] content = new byte[12 << 20];
        new Random(27).nextBytes(content);
        start("Cache-Control: no-store\r\n" + HTML, content);
        try (RawClient client = proxy.slowClient()) {
            client.get("/a", BROWSER);
            client.head();
        }
        proxy.settle();
        // An event loop keeps a buffer for requests.
        ProxyExtension.await("the content is given back", () -> proxy.usedBytes() < 512 << 10);
        assertEquals("br", proxy.get("/a", BROWSER).field("content-encoding"));
    }

    @Test
    void responsesThatAreNotStoredAreCompressedToo() throws Exception {
        start("Cache-Control: private\r\n" + HTML, text(300_000));
        RawClient.Response response = proxy.get("/a", BROWSER);
        assertEquals("br", response.field("content-encoding"));
        assertArrayEquals(text(300_000), decoded("br", response.content()));
        assertArrayEquals(text(300_000), proxy.get("/a").content());
    }

    @Test
    void aTruncatedResponseIsNotStored() throws Exception {
        start(request -> {
            request.send("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n" + FRESH + HTML + "\r\n");
            request.send(java.util.Arrays.copyOf(text(9000), 5000));
            request.reset();
        });
        for (int i = 1; i <= 2; i++) {
            try (RawClient client = new RawClient(proxy.address())) {
                client.get("/a", BROWSER);
                client.response();
            } catch (IOException e) {
                // The connection is closed before the end of the content.
                assertTrue(e.getMessage() != null);
            }
            proxy.settle();
            assertEquals(i, proxy.origin().requests());
        }
    }

    @Test
    void withoutSettingsNothingChanges() throws Exception {
        proxy.start(request -> request.ok(
                FRESH + HTML + "X-Asked: " + RawClient.field(request.head(), "accept-encoding") + "\r\n", text(9000)));
        RawClient.Response response = proxy.getAndSettle("/a", BROWSER);
        assertEquals("gzip, deflate, br, zstd", response.field("x-asked"));
        assertArrayEquals(text(9000), response.content());
        assertNull(response.field("vary"));
    }
}
