package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests origins with odd, short or contradictory responses to ranges: no client waits for ever or receives wrong bytes.
 */
class PartialFaultsTest {
    private static final int PIECE = 1 << 20;
    private static final int LENGTH = 3 * PIECE + 1000;
    private static final String TAGGED = "Cache-Control: max-age=1000\r\nETag: \"one\"\r\n";
    private static final String UNTAGGED = "Cache-Control: max-age=1000\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final byte[] body = ProxyExtension.content(LENGTH);
    private final ConcurrentLinkedQueue<String> asked = new ConcurrentLinkedQueue<>();
    private volatile int mostAtOnce = Integer.MAX_VALUE;

    private void startOnDisk(RawOrigin.Script script) throws IOException {
        proxy.start(script, config -> config.storage(directory.resolve("volume"), 256L << 20));
    }

    private static String range(long first, long last) {
        return "Range: bytes=" + first + "-" + last + "\r\n";
    }

    /** Answers ranges with at most this many bytes. */
    private void answer(RawOrigin.Exchange request, String fields) throws IOException {
        String range = RawClient.field(request.head(), "range");
        asked.add(range == null ? "whole" : range.substring("bytes=".length()));
        if (range == null) {
            request.ok(fields, body);
            return;
        }
        String[] ends = range.substring("bytes=".length()).split("-", -1);
        int first = Integer.parseInt(ends[0]);
        int last = Math.min(ends[1].isEmpty() ? LENGTH - 1 : Integer.parseInt(ends[1]), LENGTH - 1);
        last = (int) Math.min(last, (long) first + mostAtOnce - 1);
        part(request, fields, "bytes " + first + "-" + last + "/" + LENGTH, first, last + 1);
    }

    private void part(RawOrigin.Exchange request, String fields, String contentRange, int from, int to)
            throws IOException {
        request.send("HTTP/1.1 206 Partial Content\r\nContent-Length: " + (to - from) + "\r\nContent-Range: "
                + contentRange + "\r\n" + fields + "\r\n");
        request.send(Arrays.copyOfRange(body, from, to));
    }

    private void assertPart(int first, int last, RawClient.Response response) {
        assertEquals(206, response.status(), response.head());
        assertEquals("bytes " + first + "-" + last + "/" + LENGTH, response.field("content-range"));
        assertArrayEquals(Arrays.copyOfRange(body, first, last + 1), response.content());
    }

    /** RFC 9110 s15.3.7: an origin may send less than requested. */
    @Test
    void blockOfWhichTheOriginSendsAPart_rfc9110_s15_3_7() throws Exception {
        startOnDisk(request -> answer(request, TAGGED));
        assertPart(0, 9, proxy.get("/a", range(0, 9)));
        mostAtOnce = 1000;
        RawClient.Response second = proxy.get("/a", range(PIECE, PIECE + 9));
        assertEquals(206, second.status());
        assertArrayEquals(Arrays.copyOfRange(body, PIECE, PIECE + 10), second.content());
        ProxyExtension.await("the whole is stored", () -> proxy.counted(Counter.FILLS_STORED) == 2);
        second = proxy.get("/a", range(PIECE + 1500, PIECE + 1509));
        assertEquals(206, second.status());
        assertArrayEquals(Arrays.copyOfRange(body, PIECE + 1500, PIECE + 1510), second.content());
        assertArrayEquals(body, proxy.get("/a").content());
    }

    @Test
    void firstBlockOfWhichTheOriginSendsAPart() throws Exception {
        mostAtOnce = 1000;
        startOnDisk(request -> answer(request, TAGGED));
        assertPart(0, 9, proxy.get("/a", range(0, 9)));
        assertPart(0, 9, proxy.get("/a", range(0, 9)));
        assertArrayEquals(body, proxy.get("/a").content());
    }

    /**
     * The proxy requests from the piece's first byte on. A part that ends before the client's first byte is useless.
     */
    @Test
    void partThatEndsBeforeTheRequestedRange_rfc9110_s15_3_7() throws Exception {
        mostAtOnce = 1000;
        startOnDisk(request -> answer(request, TAGGED));
        assertPart(PIECE + 1500, PIECE + 1509, proxy.get("/a", range(PIECE + 1500, PIECE + 1509)));
        assertEquals(List.of(PIECE + "-" + (2 * PIECE - 1), "whole"), List.copyOf(asked));
    }

    /** RFC 9110 s14.4: a length that contradicts the content is ignored. */
    @Test
    void shortContentIsNeverTheWhole() throws Exception {
        boolean[] lies = {true};
        proxy.start(request -> {
            if (lies[0] && request.has("Range")) {
                part(request, UNTAGGED, "bytes 0-" + (LENGTH - 1) + "/" + LENGTH, 0, 500);
            } else {
                answer(request, UNTAGGED);
            }
        });
        proxy.get("/a", range(0, 9));
        lies[0] = false;
        assertArrayEquals(body, proxy.get("/a").content());
    }

    /** Ways in which an origin announces {@code bytes 4-9/10} and then sends five bytes. */
    enum ShortOf {
        CONTENT_LENGTH("Content-Length: 6\r\n", "45678"),
        CHUNKS("Transfer-Encoding: chunked\r\n", "5\r\n45678\r\n0\r\n\r\n"),
        CHUNKS_WITHOUT_END("Transfer-Encoding: chunked\r\n", "5\r\n45678\r\n"),
        CHUNKS_WITHIN_ONE("Transfer-Encoding: chunked\r\n", "6\r\n45678"),
        CLOSE("Connection: close\r\n", "45678");

        private final String framing;
        private final String content;

        ShortOf(String framing, String content) {
            this.framing = framing;
            this.content = content;
        }
    }

    /**
     * RFC 9110 s14.4, RFC 9112 s8: a part shorter than announced is incomplete. Its client can detect that, and no
     * other client receives it.
     */
    @ParameterizedTest
    @EnumSource(ShortOf.class)
    void partThatEndsEarlyIsCutAndNotStored_rfc9112_s8(ShortOf how) throws Exception {
        boolean[] lies = {true};
        proxy.start(request -> {
            asked.add(RawClient.field(request.head(), "range"));
            if (lies[0]) {
                request.send("HTTP/1.1 206 Partial Content\r\n" + how.framing + "Content-Range: bytes 4-9/10\r\n"
                        + UNTAGGED + "\r\n" + how.content);
                request.socket().close();
            } else {
                request.send("HTTP/1.1 206 Partial Content\r\nContent-Length: 6\r\nContent-Range: bytes 4-9/10\r\n"
                        + UNTAGGED + "\r\n456789");
            }
        });
        try (RawClient client = new RawClient(proxy.address())) {
            client.get("/a", range(4, 9));
            assertThrows(IOException.class, () -> {
                RawClient.Response response = client.response();
                assertEquals(6, response.content().length, response.head());
            });
        }
        proxy.settle();
        lies[0] = false;
        RawClient.Response second = proxy.get("/a", range(4, 9));
        assertEquals("456789", second.text());
        assertEquals("bytes 4-9/10", second.field("content-range"));
        assertEquals(2, asked.size());
    }

    /**
     * A Content-Length that contradicts Content-Range: the requesting client receives the bytes, and no other client.
     */
    @Test
    void partThatContradictsItselfIsNotStored_rfc9110_s14_4() throws Exception {
        proxy.start(request -> {
            asked.add(RawClient.field(request.head(), "range"));
            request.send("HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\nContent-Range: bytes 4-9/10\r\n"
                    + UNTAGGED + "\r\n45678");
        });
        assertEquals("45678", proxy.getAndSettle("/a", range(4, 9)).text());
        assertEquals("45678", proxy.getAndSettle("/a", range(6, 8)).text());
        assertEquals(2, asked.size());
    }

    /** RFC 9211 s2.3: fwd-status is the origin's status, also if its part was the whole. */
    @Test
    void forwardStatusIsTheOriginsOwn_rfc9211_s2_3() throws Exception {
        startOnDisk(request -> {
            if (request.has("/small")) {
                part(request, TAGGED, "bytes 0-99/100", 0, 100);
            } else if (request.has("/ignores") && request.number() > 2) {
                request.ok(TAGGED, body);
            } else {
                answer(request, TAGGED);
            }
        });
        RawClient.Response small = proxy.getAndSettle("/small", range(0, 9));
        assertEquals(206, small.status());
        assertStatus("fwd=uri-miss; fwd-status=206; stored", small);
        assertStatus("fwd=uri-miss; fwd-status=206; stored", proxy.getAndSettle("/ignores", range(0, 9)));
        assertStatus("fwd=partial; fwd-status=200", proxy.getAndSettle("/ignores", range(PIECE, PIECE + 9)));
    }

    /** A head that is sent before the origin answers cannot contain its status. */
    @Test
    void forwardStatusIsLeftOutWhereTheOriginHasNotAnsweredYet_rfc9211_s2_3() throws Exception {
        startOnDisk(request -> answer(request, TAGGED));
        proxy.getAndSettle("/a", range(0, 9));
        RawClient.Response whole = proxy.getAndSettle("/a");
        assertArrayEquals(body, whole.content());
        assertStatus("fwd=partial; ttl=1000", whole);
    }

    private static void assertStatus(String expected, RawClient.Response response) {
        String told = response.field("cache-status");
        assertTrue(told.contains(expected), told);
    }

    /** HEAD is answered with the fields of the whole; no range is fetched for it. */
    @Test
    void headOfAStoredPart() throws Exception {
        mostAtOnce = 1000;
        proxy.start(request -> {
            if (request.head().startsWith("HEAD")) {
                asked.add("head " + RawClient.field(request.head(), "range"));
                request.send("HTTP/1.1 200 OK\r\nContent-Length: " + LENGTH + "\r\n" + TAGGED + "\r\n");
            } else {
                answer(request, TAGGED);
            }
        });
        assertPart(0, 9, proxy.get("/a", range(0, 9)));
        try (RawClient client = proxy.client()) {
            RawClient.Response head = client.send("HEAD /a HTTP/1.1\r\nHost: test.example\r\n\r\n")
                    .head();
            assertEquals(200, head.status());
            assertEquals(String.valueOf(LENGTH), head.field("content-length"));
        }
        mostAtOnce = Integer.MAX_VALUE;
        assertArrayEquals(body, proxy.get("/a").content());
        assertEquals(List.of("0-" + (PIECE - 1), "head null", "1000-"), List.copyOf(asked));
    }

    /** The client receives the requested bytes, without the additional ones that the proxy requested. */
    @Test
    void partOfUnknownLengthIsCutToTheRequestedRange() throws Exception {
        proxy.start(request -> part(request, TAGGED, "bytes 0-999/*", 0, 1000));
        RawClient.Response part = proxy.get("/a", range(5, 9));
        assertEquals(206, part.status());
        assertEquals("bytes 5-9/*", part.field("content-range"));
        assertArrayEquals(Arrays.copyOfRange(body, 5, 10), part.content());
    }

    /** A first position behind every content is not a suffix length. */
    @Test
    void firstPositionBeyondEverything() throws Exception {
        proxy.start(request -> {
            asked.add(RawClient.field(request.head(), "range"));
            request.send("HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nContent-Range: bytes */" + LENGTH
                    + "\r\n\r\n");
        });
        long first = Long.MAX_VALUE / PIECE * PIECE;
        assertEquals(416, proxy.get("/a", "Range: bytes=" + first + "-\r\n").status());
        assertEquals(416, proxy.get("/a", "Range: bytes=-500\r\n").status());
        assertEquals(List.of("bytes=" + first + "-", "bytes=-500"), List.copyOf(asked));
    }

    /** A request that waits for a block claimed by another one receives it also if the other's fetch fails. */
    @Test
    void failedFetchOfABlockIsTakenOverByAWaitingRequest() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        boolean[] broken = {false};
        startOnDisk(request -> {
            if (request.has("bytes=" + PIECE + "-") && !broken[0]) {
                broken[0] = true;
                go.await();
                request.socket().close();
            } else {
                answer(request, TAGGED);
            }
        });
        assertPart(0, 9, proxy.get("/a", range(0, 9)));
        ProxyExtension.await("the first block is stored", () -> proxy.counted(Counter.FILLS_STORED) == 1);
        RawClient first = proxy.client().get("/a", range(PIECE, PIECE + 9));
        ProxyExtension.await("the fetch", () -> proxy.origin().requests() == 2);
        RawClient second = proxy.client().get("/a", range(PIECE, PIECE + 9));
        RawClient third = proxy.client().get("/a", range(PIECE, PIECE + 9));
        ProxyExtension.await(
                "all have looked", () -> proxy.counted(Counter.LOOKUPS_DISK) + proxy.counted(Counter.LOOKUPS_RAM) == 3);
        go.countDown();
        assertPart(PIECE, PIECE + 9, first.response());
        assertPart(PIECE, PIECE + 9, second.response());
        assertPart(PIECE, PIECE + 9, third.response());
    }
}
