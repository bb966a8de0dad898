package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.http.TargetUri;
import io.millrace.store.CacheStore;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests parts of responses: stored, served, completed and combined (RFC 9110 s14, RFC 9111 s3.3, s3.4). */
class PartialResponseTest {
    private static final int LENGTH = 5_000_000;
    /** Short enough for RAM alone. */
    private static final int IN_RAM = 300_000;

    private static final int PIECE = 1 << 20;
    private static final String TAGGED = "Cache-Control: max-age=1000\r\nETag: \"one\"\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private byte[] body = ProxyExtension.content(LENGTH);
    /** The origin answers a range that has an end with at most this many bytes, as permitted by RFC 9110 s15.3.7. */
    private int mostAtOnce = Integer.MAX_VALUE;

    private final ConcurrentLinkedQueue<String> asked = new ConcurrentLinkedQueue<>();

    /** Answers ranges of the content, with these fields. */
    private void answer(RawOrigin.Exchange request, String fields, byte[] content) throws IOException {
        String range = RawClient.field(request.head(), "range");
        asked.add(range == null ? "whole" : range.substring("bytes=".length()));
        String ifRange = RawClient.field(request.head(), "if-range");
        if (range == null || (ifRange != null && !fields.contains(ifRange))) {
            request.ok(fields, content);
            return;
        }
        String[] ends = range.substring("bytes=".length()).split("-", -1);
        int first = ends[0].isEmpty() ? content.length - Integer.parseInt(ends[1]) : Integer.parseInt(ends[0]);
        int last = ends[0].isEmpty() || ends[1].isEmpty()
                ? content.length - 1
                : (int) Math.min(Math.min(Long.parseLong(ends[1]), (long) first + mostAtOnce - 1), content.length - 1);
        request.send("HTTP/1.1 206 Partial Content\r\nContent-Length: " + (last - first + 1)
                + "\r\nContent-Range: bytes " + first + "-" + last + "/" + content.length + "\r\n" + fields + "\r\n");
        request.send(Arrays.copyOfRange(content, first, last + 1));
    }

    private void startOnDisk(RawOrigin.Script script) throws IOException {
        proxy.start(script, config -> config.storage(directory.resolve("volume"), 256L << 20));
    }

    private static String range(long first, long last) {
        return "Range: bytes=" + first + "-" + last + "\r\n";
    }

    private void assertPart(int first, int last, RawClient.Response response) {
        assertEquals(206, response.status(), response.head());
        assertEquals("bytes " + first + "-" + last + "/" + body.length, response.field("content-range"));
        assertArrayEquals(Arrays.copyOfRange(body, first, last + 1), response.content());
    }

    /** An object in RAM alone is not stored in blocks, also after a reload that adds a disk. */
    @Test
    void aDiskThatIsNamedInAReloadIsTheNextProxys() throws Exception {
        proxy.start(request -> answer(request, TAGGED, body));
        proxy.reload(config -> config.storage(directory.resolve("volume"), 256L << 20));
        assertPart(0, PIECE - 1, proxy.getAndSettle("/a", range(0, PIECE - 1)));
        assertPart(0, PIECE - 1, proxy.getAndSettle("/a", range(0, PIECE - 1)));
        assertEquals(List.of("0-" + (PIECE - 1)), List.copyOf(asked));
    }

    private static StoredObject<StoredHead> open(CacheStore<StoredHead> store, StoreKey key) throws Exception {
        CompletableFuture<StoredObject<StoredHead>> answer = new CompletableFuture<>();
        store.open(key, Runnable::run, answer::complete);
        return answer.get(30, TimeUnit.SECONDS);
    }

    private StoreKey key(String path) {
        TargetUri url = (TargetUri) TargetUri.parseAbsolute("http://test.example" + path);
        return proxy.proxy().store().key(CacheKey.of(url).bytes());
    }

    @Test
    void onlyMissingPartsOfAStoredBodyAreFetched_rfc9111_s3_4() throws Exception {
        startOnDisk(request -> answer(request, TAGGED, body));
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        CacheStore<StoredHead> store = proxy.proxy().store();
        StoreKey key = key("/a");
        StoredObject<StoredHead> whole = open(store, key);
        assertTrue(whole.isComplete());
        ObjectWriter<StoredHead> writer = store.create(key);
        writer.head(whole.head(), LENGTH);
        whole.release();
        writer.write(0, Unpooled.copiedBuffer(body, 0, 2 * PIECE + 5));
        writer.keep();
        StoredObject<StoredHead> part = open(store, key);
        assertFalse(part.isComplete());
        part.release();
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertEquals(List.of("whole", 2 * PIECE + "-" + (LENGTH - 1)), List.copyOf(asked));
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertEquals(2, asked.size());
    }

    @Test
    void rangeOfALargeBodyIsFetchedAndStoredByBlocks() throws Exception {
        startOnDisk(request -> answer(request, TAGGED, body));
        assertPart(1_500_000, 1_500_999, proxy.getAndSettle("/a", range(1_500_000, 1_500_999)));
        assertEquals(List.of(PIECE + "-" + (2 * PIECE - 1)), List.copyOf(asked));
        assertPart(1_600_000, 1_600_999, proxy.getAndSettle("/a", range(1_600_000, 1_600_999)));
        assertEquals(1, asked.size());
        assertPart(2_000_000, 3_500_000, proxy.getAndSettle("/a", range(2_000_000, 3_500_000)));
        assertEquals(2 * PIECE + "-" + (4 * PIECE - 1), asked.toArray()[1]);
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertEquals(
                List.of("0-" + (PIECE - 1), 4 * PIECE + "-" + (LENGTH - 1)),
                List.copyOf(asked).subList(2, 4));
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertEquals(4, asked.size());
    }

    /** RFC 9111 s3.4: parts are combined only with equal strong validators. */
    @Test
    void changedRepresentationDropsTheOldBlocks_rfc9111_s3_4() throws Exception {
        byte[] other = new byte[LENGTH];
        Arrays.fill(other, (byte) 7);
        boolean[] changed = {false};
        startOnDisk(request -> {
            if (changed[0]) {
                answer(request, TAGGED.replace("one", "two"), other);
            } else {
                answer(request, TAGGED, body);
            }
        });
        assertPart(0, 9, proxy.getAndSettle("/a", range(0, 9)));
        changed[0] = true;
        assertPart(10, 19, proxy.getAndSettle("/a", range(10, 19)));
        RawClient.Response later = proxy.getAndSettle("/a", range(2_000_000, 2_999_999));
        assertEquals(206, later.status());
        assertEquals("\"two\"", later.field("etag"));
        assertArrayEquals(Arrays.copyOfRange(other, 2_000_000, 3_000_000), later.content());
        RawClient.Response first = proxy.getAndSettle("/a", range(10, 19));
        assertArrayEquals(Arrays.copyOfRange(other, 10, 20), first.content());
    }

    /** RFC 9111 s4.3.4: one 304 freshens all parts. */
    @Test
    void oneValidationFreshensAllBlocks() throws Exception {
        startOnDisk(request -> {
            if (request.has("If-None-Match: \"one\"")) {
                asked.add("validation");
                request.send("HTTP/1.1 304 Not Modified\r\n" + TAGGED + "\r\n");
            } else {
                answer(request, TAGGED, body);
            }
        });
        proxy.getAndSettle("/a", range(0, 9));
        proxy.getAndSettle("/a", range(3_000_000, 3_000_009));
        proxy.advanceSeconds(1001);
        assertPart(0, 9, proxy.getAndSettle("/a", range(0, 9)));
        assertPart(3_000_000, 3_000_009, proxy.getAndSettle("/a", range(3_000_000, 3_000_009)));
        assertEquals(1, asked.stream().filter("validation"::equals).count(), asked::toString);
        assertEquals(3, asked.size());
    }

    @Test
    void purgeTakesAllBlocks() throws Exception {
        startOnDisk(request -> answer(request, TAGGED, body));
        proxy.getAndSettle("/a", range(0, 9));
        proxy.getAndSettle("/a", range(3_000_000, 3_000_009));
        proxy.purge("/a");
        proxy.getAndSettle("/a", range(3_000_000, 3_000_009));
        proxy.getAndSettle("/a", range(0, 9));
        assertEquals(4, asked.size());
    }

    @Test
    void manyReadersOfOneBlockFetchItOnce() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(
                request -> {
                    go.await();
                    answer(request, TAGGED, body);
                },
                config ->
                        config.storage(directory.resolve("volume"), 256L << 20).set("worker.event_loops", "2"));
        List<RawClient> clients = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            clients.add(proxy.client().get("/a", range(1_100_000 + i * 1000, 1_100_999 + i * 1000)));
        }
        proxy.awaitFollowers(11);
        go.countDown();
        for (int i = 0; i < clients.size(); i++) {
            assertPart(
                    1_100_000 + i * 1000, 1_100_999 + i * 1000, clients.get(i).response());
        }
        assertEquals(List.of(PIECE + "-" + (2 * PIECE - 1)), List.copyOf(asked));
    }

    /** RFC 9111 s3.3: a part answers requests within it, also without a disk and without a validator. */
    @Test
    void partIsReusedForARangeWithinIt_rfc9111_s3_3() throws Exception {
        body = ProxyExtension.content(IN_RAM);
        proxy.start(request -> answer(request, "Cache-Control: max-age=1000\r\n", body));
        assertPart(body.length - 1000, body.length - 1, proxy.getAndSettle("/a", "Range: bytes=-1000\r\n"));
        assertPart(body.length - 10, body.length - 1, proxy.getAndSettle("/a", "Range: bytes=-10\r\n"));
        assertPart(
                body.length - 900,
                body.length - 800,
                proxy.getAndSettle("/a", range(body.length - 900, body.length - 800)));
        assertEquals(List.of("-1000"), List.copyOf(asked));
        assertEquals(
                416,
                proxy.getAndSettle("/a", "Range: bytes=" + body.length + "-\r\n")
                        .status());
        assertEquals(1, asked.size());
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertEquals(List.of("-1000", "whole"), List.copyOf(asked));
    }

    /** RFC 9111 s3.4: a first part and the rest with equal strong validators become the whole. */
    @Test
    void firstPartAndRestBecomeTheWhole_rfc9111_s3_4() throws Exception {
        body = ProxyExtension.content(IN_RAM);
        mostAtOnce = 1000;
        proxy.start(request -> answer(request, TAGGED, body));
        assertPart(0, 9, proxy.getAndSettle("/a", range(0, 9)));
        RawClient.Response whole = proxy.getAndSettle("/a");
        assertEquals(200, whole.status());
        assertNull(whole.field("content-range"));
        assertArrayEquals(body, whole.content());
        assertEquals(List.of("0-" + (PIECE - 1), "1000-"), List.copyOf(asked));
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertEquals(2, asked.size());
    }

    /** RFC 9111 s3.4: without a strong validator parts are not combined. */
    @Test
    void partsWithoutStrongValidatorAreNotPutTogether_rfc9111_s3_4() throws Exception {
        body = ProxyExtension.content(IN_RAM);
        mostAtOnce = 1000;
        proxy.start(request -> answer(request, "Cache-Control: max-age=1000\r\nETag: W/\"one\"\r\n", body));
        assertPart(0, 9, proxy.getAndSettle("/a", range(0, 9)));
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertEquals(List.of("0-" + (PIECE - 1), "1000-", "whole"), List.copyOf(asked));
    }

    @Test
    void shortResponseIsSentWholeForARange() throws Exception {
        byte[] few = ProxyExtension.content(1000);
        proxy.start(request -> answer(request, TAGGED, few));
        RawClient.Response part = proxy.getAndSettle("/a", range(10, 19));
        assertEquals("bytes 10-19/1000", part.field("content-range"));
        assertArrayEquals(Arrays.copyOfRange(few, 10, 20), part.content());
        RawClient.Response whole = proxy.getAndSettle("/a");
        assertEquals(200, whole.status());
        assertArrayEquals(few, whole.content());
        assertEquals(1, asked.size());
    }

    /** RFC 9110 s14.6: several ranges of a stored response. */
    @Test
    void severalRangesOfAStoredResponse_rfc9110_s14_6() throws Exception {
        byte[] few = ProxyExtension.content(1000);
        proxy.start(request -> answer(request, TAGGED + "Content-Type: text/plain\r\n", few));
        proxy.getAndSettle("/a");
        RawClient.Response parts = proxy.getAndSettle("/a", "Range: bytes=0-9,500-509\r\n");
        assertEquals(206, parts.status());
        String type = parts.field("content-type");
        assertTrue(type.startsWith("multipart/byteranges; boundary="), type);
        String boundary = type.substring(type.indexOf('=') + 1);
        String expected = "\r\n--" + boundary + "\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-9/1000\r\n\r\n"
                + latin1(few, 0, 10) + "\r\n--" + boundary
                + "\r\nContent-Type: text/plain\r\nContent-Range: bytes 500-509/1000\r\n\r\n" + latin1(few, 500, 510)
                + "\r\n--" + boundary + "--\r\n";
        assertEquals(expected, parts.text());
        assertNull(parts.field("content-range"));
        assertEquals(1, asked.size());
    }

    private static String latin1(byte[] bytes, int from, int to) {
        return new String(bytes, from, to - from, java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    /** A 206 that must not be stored answers only the requesting client, with the requested bytes. */
    @Test
    void unstorablePartAnswersTheRequest() throws Exception {
        proxy.start(request -> answer(request, "Cache-Control: no-store\r\nETag: \"one\"\r\n", body));
        assertPart(5, 9, proxy.getAndSettle("/a", range(5, 9)));
        assertPart(5, 9, proxy.getAndSettle("/a", range(5, 9)));
        assertEquals(2, asked.size());
    }

    /** A truncated response is not stored as complete: its bytes are kept as blocks, and only the rest is fetched. */
    @Test
    void brokenOffFetchIsContinued() throws Exception {
        boolean[] broken = {false};
        startOnDisk(request -> {
            if (!broken[0]) {
                broken[0] = true;
                asked.add("broken");
                request.send("HTTP/1.1 200 OK\r\nContent-Length: " + LENGTH + "\r\n" + TAGGED + "\r\n");
                request.send(Arrays.copyOf(body, 3 * PIECE));
                request.socket().close();
            } else {
                answer(request, TAGGED, body);
            }
        });
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertEquals(List.of("broken", 3 * PIECE + "-" + (LENGTH - 1)), List.copyOf(asked));
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertEquals(2, asked.size());
    }

    @Test
    void rangeLookupOffPassesRanges() throws Exception {
        body = ProxyExtension.content(IN_RAM);
        proxy.start(request -> answer(request, TAGGED, body), config -> config.set("cache.range.lookup", "false"));
        proxy.getAndSettle("/a");
        assertPart(5, 9, proxy.getAndSettle("/a", range(5, 9)));
        assertEquals(List.of("whole", "5-9"), List.copyOf(asked));
    }

    @Test
    void rangeWriteFetchesTheWhole() throws Exception {
        body = ProxyExtension.content(IN_RAM);
        proxy.start(request -> answer(request, TAGGED, body), config -> config.set("cache.range.write", "true"));
        assertPart(5, 9, proxy.getAndSettle("/a", range(5, 9)));
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertEquals(List.of("whole"), List.copyOf(asked));
    }
}
