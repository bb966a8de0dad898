package io.millrace.proxy.caching;

import static io.millrace.proxy.caching.Heads.NOW;
import static io.millrace.proxy.caching.Heads.NOW_SECONDS;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.store.CorruptHeadException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class StoredHeadTest {

    @Test
    void wireHeadKeepsEndToEndFieldsUnchanged_RFC9111_3_1() {
        StoredHead stored = Heads.stored(Heads.bare(
                200,
                "Date: {0}^etag: \"a\"^X-A: caf\u00e9^Connection: x-hop, close^X-Hop: 1^Keep-Alive: 5",
                "Proxy-Authenticate: x^Proxy-Authentication-Info: x^Proxy-Authorization: x^Proxy-Connection: x",
                "TE: x^Trailer: x^Upgrade: x^Age: 5^Set-Cookie: a=b^Set-Cookie: c=d^Content-Length: 007^Expires: {9}"));
        assertEquals(
                "HTTP/1.1 200 Some Reason\r\nDate: " + Heads.date(0)
                        + "\r\netag: \"a\"\r\nX-A: caf\u00e9\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\n"
                        + "Expires: " + Heads.date(9) + "\r\nContent-Length: 7\r\n",
                wire(stored));
        assertEquals("\"a\"", stored.entityTag());
        assertEquals(7, stored.contentLength());
        assertTrue(stored.hasSetCookie());
        assertEquals("Some Reason", stored.reason());
        assertEquals(200, stored.status());
        assertEquals(5, stored.currentAgeSeconds(NOW));
    }

    /**
     * No other client may receive the response without a request to the origin, so no other client receives its cookie.
     */
    @ParameterizedTest(name = "Set-Cookie beside {0} is stored: {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "Cache-Control: max-age=1                              | true",
                "Expires: {1}                                          | true",
                "Cache-Control: max-age=0                              | false",
                "Cache-Control: no-cache, max-age=60^ETag: x           | false",
                "Last-Modified: {-86400}                               | false",
                "Cache-Control: private=\"set-cookie\", max-age=60     | false"
            })
    void cookieIsStoredWithAnExplicitLifetimeOnly(String fields, boolean stored) {
        StoredHead head = Heads.stored("Set-Cookie: a=b", fields);
        assertEquals(stored, head.fields().contains(FieldName.SET_COOKIE));
        assertTrue(head.hasSetCookie());
    }

    @Test
    void fieldsThatAnOperatorDoesNotShareAreNotStored() {
        CacheSettings settings = CacheSettings.builder()
                .unsharedFields(List.of(FieldName.of("X-User"), FieldName.SET_COOKIE))
                .build();
        StoredHead head = StoredHead.of(
                Heads.get(),
                Heads.response(200, "Cache-Control: max-age=60^x-user: bob^Set-Cookie: a=b^X-All: 1"),
                NOW,
                NOW,
                settings);
        assertEquals(
                "Date: " + Heads.date(0) + "\nCache-Control: max-age=60\nX-All: 1\n",
                head.fields().toString());
    }

    @Test
    void contentTypeIsFoundInTheWireHead() {
        for (String type : new String[] {"text/plain", "text/html; charset=utf-8", ""}) {
            StoredHead stored = Heads.stored(Heads.bare(200, "ETag: \"a\"^content-type: " + type + "^X: y"));
            int start = stored.contentTypeStart();
            int length = stored.contentTypeEnd(start) - start;
            assertEquals(type, new String(stored.wireBytes(), start, length, StandardCharsets.ISO_8859_1));
            assertEquals(start, stored.contentTypeStart());
        }
        assertEquals(-1, Heads.stored(Heads.bare(200, "ETag: \"a\"")).contentTypeStart());
    }

    /** A decoded head has only the wire head, and searches it for Content-Type. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Cache-Control: max-age=60",
                "Content-Type: text/css^Surrogate-Key: a b^Cache-Groups: \"g\", \"h\"",
                "Content-Length: 5^Content-Type: text/plain ^Set-Cookie: a=b"
            })
    void aStampedHeadEqualsTheStampedCopyAndTheDecodedHead(String fields) throws CorruptHeadException {
        ResponseHead response = Heads.response(200, fields);
        TargetUri url = Heads.target("https://b.example/y");
        StoredHead stamped = StoredHead.of(Heads.get(), response, NOW, NOW, CacheSettings.DEFAULTS, 77, url, "site");
        StoredHead copy = Heads.stored(response).withStamp(77, url, "site");
        assertEquals(copy, stamped);
        assertEquals(77, stamped.stamp());
        ByteBuf bytes = Unpooled.buffer();
        new StoredHeadCodec().encode(stamped, bytes);
        StoredHead decoded = new StoredHeadCodec().decode(bytes);
        assertEquals(StoredSummary.of(copy), StoredSummary.of(stamped));
        assertEquals(StoredSummary.of(decoded), StoredSummary.of(stamped));
    }

    @Test
    void aSummaryCutsALongContentType() {
        String type = "text/" + "x".repeat(200);
        assertEquals(type.substring(0, 128), StoredSummary.typeOf(Heads.stored("Content-Type: " + type)));
        assertNull(StoredSummary.typeOf(Heads.stored("ETag: x")));
    }

    @Test
    void dateIsEnsured_RFC9110_6_6_1() {
        StoredHead without = Heads.stored(Heads.bare(200, "ETag: \"a\""));
        assertEquals("HTTP/1.1 200 Some Reason\r\nETag: \"a\"\r\nDate: " + Heads.date(0) + "\r\n", wire(without));
        assertEquals(NOW_SECONDS, without.dateSeconds());
        StoredHead invalid = Heads.stored(Heads.bare(200, "Date: yesterday^ETag: \"a\""));
        assertEquals(Heads.date(0), invalid.fields().get(FieldName.DATE));
    }

    @Test
    void fieldsNamedByNoCacheOrPrivateAreNotStored_RFC9111_5_2_2_4() {
        StoredHead stored = Heads.stored(Heads.bare(
                200, "Date: {0}^Cache-Control: no-cache=\"a, B\", private=c, max-age=9^A: 1^b: 2^C: 3^D: 4"));
        assertEquals(
                "Date: " + Heads.date(0) + "\nCache-Control: no-cache=\"a, B\", private=c, max-age=9\nD: 4\n",
                stored.fields().toString());
        assertFalse(stored.isNoCache());
    }

    @Test
    void lengthIsAddedWhenItIsKnown() {
        StoredHead chunked = Heads.stored(Heads.bare(200, "Date: {0}^Transfer-Encoding: chunked^ETag: \"a\""));
        assertEquals(StoredHead.UNKNOWN, chunked.contentLength());
        StoredHead complete = chunked.withContentLength(12);
        assertEquals(12, complete.contentLength());
        assertEquals(wire(chunked) + "Content-Length: 12\r\n", wire(complete));
        assertEquals("\"a\"", complete.entityTag());
        assertSame(complete, complete.withContentLength(12));
        assertEquals(wire(chunked) + "Content-Length: 3\r\n", wire(complete.withContentLength(3)));
        assertEquals(wire(chunked), wire(complete.withContentLength(StoredHead.UNKNOWN)));
    }

    @Test
    void a204SaysNoLength_RFC9110_8_6() {
        StoredHead stored = Heads.stored(Heads.response(204, "Content-Length: 0", "Cache-Control: max-age=5"));
        assertFalse(wire(stored).contains("Content-Length"));
        assertFalse(wire(stored.withContentLength(0)).contains("Content-Length"));
    }

    @Test
    void notModifiedHeadGuidesTheClientsCache_RFC9110_15_4_5() {
        StoredHead stored = Heads.stored(
                Heads.bare(
                        200,
                        "Date: {0}^Content-Type: text/css^Content-Encoding: br^Content-Language: de^Content-Length: 5",
                        "Last-Modified: {-9}^ETag: \"a\"^Vary: a^Expires: {9}^Cache-Control: public^Content-Location: /y^X: z"));
        assertEquals(
                "HTTP/1.1 304 Not Modified\r\nDate: " + Heads.date(0) + "\r\nETag: \"a\"\r\nVary: a\r\nExpires: "
                        + Heads.date(9) + "\r\nCache-Control: public\r\nContent-Location: /y\r\nX: z\r\n",
                text(stored.notModifiedBytes()));
        assertSame(stored.notModifiedBytes(), stored.notModifiedBytes());
        StoredHead untagged = Heads.stored("Last-Modified: {-9}");
        assertTrue(text(untagged.notModifiedBytes()).contains("Last-Modified: "));
    }

    @Test
    void partialHeadHasRangeAndLength_RFC9110_15_3_7() {
        StoredHead stored = Heads.stored(Heads.bare(200, "Date: {0}^Content-Length: 10^ETag: \"a\""));
        assertEquals(
                "HTTP/1.1 206 Partial Content\r\nDate: " + Heads.date(0)
                        + "\r\nETag: \"a\"\r\nContent-Range: bytes 2-4/10\r\nContent-Length: 3\r\n",
                text(stored.partialBytes(2, 4, 10)));
    }

    @Test
    void markerHasNamesAndNonce() {
        StoredHead marker = StoredHead.varyMarker(Variance.of(Heads.fields("Vary: a")), 42, NOW);
        assertTrue(marker.isVaryMarker());
        assertEquals(42, marker.nonce());
        assertEquals(StoredHead.NEVER_EXPIRES, marker.keepUntilSeconds());
        assertEquals(0, marker.wireLength());
        assertEquals("", marker.reason());
        assertNull(marker.entityTag());
    }

    @Test
    void isKeptAsLongAsItIsOfUse() {
        CacheSettings settings = CacheSettings.builder().maxStaleSeconds(100).build();
        assertEquals(NOW_SECONDS + 160, keepUntil(settings, "Cache-Control: max-age=60"));
        assertEquals(NOW_SECONDS + 150, keepUntil(settings, "Cache-Control: max-age=60^Age: 10"));
        assertEquals(NOW_SECONDS + 360, keepUntil(settings, "Cache-Control: max-age=60, stale-if-error=300"));
        assertEquals(NOW_SECONDS + 60 + 30 * 86_400, keepUntil(settings, "Cache-Control: max-age=60^ETag: \"a\""));
        assertEquals(StoredHead.NEVER_EXPIRES, keepUntil(settings, "Expires: Fri, 31 Dec 9999 23:59:59 GMT"));
    }

    @Test
    void reasonPhrasesThatCannotStandInAStatusLineAreDropped() {
        FieldSection fields = Heads.fields("Date: {0}");
        assertEquals("", Heads.stored(ResponseHead.of(200, "a\r\nb", fields)).reason());
        assertEquals(
                "", Heads.stored(ResponseHead.of(200, "x".repeat(300), fields)).reason());
        assertEquals("OK", Heads.stored(ResponseHead.of(200, "OK", fields)).reason());
    }

    @Test
    void heapBytesCoverTheArrays() {
        StoredHead stored = Heads.stored("X: " + "y".repeat(1000), "Vary: Foo");
        assertTrue(stored.heapBytes() > stored.wireLength() + stored.varyValues.length);
    }

    private static long keepUntil(CacheSettings settings, String fields) {
        return StoredHead.of(Heads.get(), Heads.response(200, fields), NOW, NOW, settings)
                .keepUntilSeconds();
    }

    private static String wire(StoredHead stored) {
        ByteBuf out = Unpooled.buffer();
        try {
            stored.writeTo(out);
            assertEquals(stored.wireLength(), out.readableBytes());
            return out.toString(ISO_8859_1);
        } finally {
            out.release();
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, ISO_8859_1);
    }
}
