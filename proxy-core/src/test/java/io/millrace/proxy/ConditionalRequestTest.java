package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that each kind of conditional request has the same response, whatever is stored (RFC 9110 s13). */
class ConditionalRequestTest {
    private static final int LENGTH = 2_500_000;
    private static final String MODIFIED = "Wed, 31 Dec 2025 00:00:00 GMT";
    private static final String BEFORE = "Tue, 30 Dec 2025 00:00:00 GMT";
    private static final String FIELDS =
            "Cache-Control: max-age=600\r\nETag: \"one\"\r\nLast-Modified: " + MODIFIED + "\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final byte[] body = ProxyExtension.content(LENGTH);
    private final AtomicInteger made = new AtomicInteger();

    /** The stored bytes when the request arrives. */
    enum Stored {
        NOTHING,
        WHOLE,
        /** The first of three blocks. */
        BLOCKS,
        /** The last bytes, as a separate object. */
        PART
    }

    private void origin(RawOrigin.Exchange request) throws IOException {
        String match = RawClient.field(request.head(), "if-match");
        String unmodified = RawClient.field(request.head(), "if-unmodified-since");
        if ((match != null && !match.equals("\"one\"")) || (unmodified != null && unmodified.equals(BEFORE))) {
            request.send("HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n");
            return;
        }
        String range = RawClient.field(request.head(), "range");
        String ifRange = RawClient.field(request.head(), "if-range");
        boolean same = ifRange == null || ifRange.equals("\"one\"") || ifRange.equals(MODIFIED);
        boolean head = request.head().startsWith("HEAD ");
        if (range == null || !same || head) {
            request.send("HTTP/1.1 200 OK\r\nContent-Length: " + LENGTH + "\r\n" + FIELDS + "\r\n");
            request.send(head ? new byte[0] : body);
            return;
        }
        String[] ends = range.substring("bytes=".length()).split("-", -1);
        int first = ends[0].isEmpty() ? LENGTH - Integer.parseInt(ends[1]) : Integer.parseInt(ends[0]);
        int end = ends[0].isEmpty() || ends[1].isEmpty() ? LENGTH : Math.min(LENGTH, Integer.parseInt(ends[1]) + 1);
        request.send("HTTP/1.1 206 Partial Content\r\nContent-Length: " + (end - first) + "\r\nContent-Range: bytes "
                + first + "-" + (end - 1) + "/" + LENGTH + "\r\n" + FIELDS + "\r\n");
        request.send(Arrays.copyOfRange(body, first, end));
    }

    /** Returns a URL with this part stored. */
    private String url(Stored stored) throws IOException {
        String path = "/" + made.incrementAndGet();
        switch (stored) {
            case NOTHING -> {}
            case WHOLE -> proxy.getAndSettle(path);
            case BLOCKS -> proxy.getAndSettle(path, "Range: bytes=0-9\r\n");
            case PART -> proxy.getAndSettle(path, "Range: bytes=-1000\r\n");
        }
        return path;
    }

    private RawClient.Response ask(Stored stored, String... fields) throws IOException {
        return proxy.getAndSettle(url(stored), fields);
    }

    private void assertWhole(RawClient.Response response) {
        assertEquals(200, response.status(), response.head());
        assertArrayEquals(body, response.content());
    }

    @ParameterizedTest
    @EnumSource
    void answersAreTheSame_rfc9110_s13(Stored stored) throws Exception {
        proxy.start(this::origin, config -> config.storage(directory.resolve("volume"), 256L << 20));
        assertEquals(304, ask(stored, "If-None-Match: \"one\"\r\n").status());
        assertEquals(304, ask(stored, "If-None-Match: \"two\", W/\"one\"\r\n").status());
        assertEquals(304, ask(stored, "If-None-Match: *\r\n").status());
        assertWhole(ask(stored, "If-None-Match: \"two\"\r\n"));
        assertEquals(304, ask(stored, "If-Modified-Since: " + MODIFIED + "\r\n").status());
        assertWhole(ask(stored, "If-Modified-Since: " + BEFORE + "\r\n"));
        // If-None-Match takes precedence (s13.2.2).
        assertWhole(ask(stored, "If-None-Match: \"two\"\r\n", "If-Modified-Since: " + MODIFIED + "\r\n"));
        assertWhole(ask(stored, "If-Match: \"one\"\r\n"));
        assertEquals(412, ask(stored, "If-Match: \"two\"\r\n").status());
        assertWhole(ask(stored, "If-Unmodified-Since: " + MODIFIED + "\r\n"));
        assertEquals(412, ask(stored, "If-Unmodified-Since: " + BEFORE + "\r\n").status());
        assertEquals(
                412,
                ask(stored, "If-Match: \"two\"\r\n", "If-None-Match: \"one\"\r\n")
                        .status());
    }

    @ParameterizedTest
    @EnumSource
    void rangesUnderConditions_rfc9110_s13_1_5(Stored stored) throws Exception {
        proxy.start(this::origin, config -> config.storage(directory.resolve("volume"), 256L << 20));
        String range = "Range: bytes=-500\r\n";
        for (String same : new String[] {"\"one\"", MODIFIED}) {
            RawClient.Response part = ask(stored, range, "If-Range: " + same + "\r\n");
            assertEquals(206, part.status(), part.head());
            assertEquals("bytes 2499500-2499999/2500000", part.field("content-range"));
            assertArrayEquals(Arrays.copyOfRange(body, LENGTH - 500, LENGTH), part.content());
        }
        assertWhole(ask(stored, range, "If-Range: \"two\"\r\n"));
        assertWhole(ask(stored, range, "If-Range: W/\"one\"\r\n"));
        assertWhole(ask(stored, range, "If-Range: " + BEFORE + "\r\n"));
        // Range is evaluated after the others (s13.2.2).
        assertEquals(304, ask(stored, range, "If-None-Match: \"one\"\r\n").status());
        assertEquals(412, ask(stored, range, "If-Match: \"two\"\r\n").status());
    }

    @ParameterizedTest
    @EnumSource
    void headIsAnsweredFromAStoredGet_rfc9110_s9_3_2(Stored stored) throws Exception {
        proxy.start(this::origin, config -> config.storage(directory.resolve("volume"), 256L << 20));
        String path = url(stored);
        RawClient client =
                proxy.client().send("HEAD " + path + " HTTP/1.1\r\nHost: test.example\r\nRange: bytes=0-9\r\n\r\n");
        RawClient.Response head = client.head();
        assertEquals(200, head.status());
        assertEquals(Integer.toString(LENGTH), head.field("content-length"));
        boolean forwarded = stored == Stored.NOTHING || stored == Stored.PART;
        int asked = stored == Stored.NOTHING ? 0 : 1;
        assertEquals(asked + (forwarded ? 1 : 0), proxy.origin().requests());
    }
}
