package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests the loss of a stored response while it is sent: purged, taken offline with its volume, damaged, or replaced.
 * The client receives the rest from the origin if the origin still has the same representation; otherwise its
 * connection is closed. It never receives bytes of another representation (RFC 9110 s13.1.5, RFC 9111 s3.4).
 */
class LostWhileSentTest {
    private static final int PIECE = 1 << 20;
    private static final int LENGTH = 6 * PIECE + 1000;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final byte[] body = ProxyExtension.content(LENGTH);
    private final ConcurrentLinkedQueue<String> asked = new ConcurrentLinkedQueue<>();
    private volatile String tag = "\"one\"";
    /** The origin answers a range with at most this many bytes, as permitted by RFC 9110 s15.3.7. */
    private volatile int mostAtOnce = LENGTH;

    private void start(RawOrigin.Script script) throws IOException {
        proxy.start(script, config -> config.storage(volume(), 256L << 20).set("cache.ram_size", "8MiB"));
    }

    private Path volume() {
        return directory.resolve("volume");
    }

    private String fields() {
        return "Cache-Control: max-age=1000\r\nETag: " + tag + "\r\n";
    }

    /** Answers ranges and If-Range; stops after this many bytes of content until the latch is open. */
    private void answer(RawOrigin.Exchange request, int before, CountDownLatch go) throws Exception {
        String range = RawClient.field(request.head(), "range");
        String ifRange = RawClient.field(request.head(), "if-range");
        asked.add(range == null ? "whole" : range.substring("bytes=".length()));
        int first = 0;
        int end = LENGTH;
        if (range != null && (ifRange == null || ifRange.equals(tag))) {
            String[] ends = range.substring("bytes=".length()).split("-", -1);
            first = Integer.parseInt(ends[0]);
            end = ends[1].isEmpty() ? LENGTH : (int) Math.min(Long.parseLong(ends[1]) + 1, LENGTH);
            end = Math.min(end, first + mostAtOnce);
            request.send("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + first + "-" + (end - 1) + "/"
                    + LENGTH + "\r\n");
        } else {
            request.send("HTTP/1.1 200 OK\r\n");
        }
        request.send("Content-Length: " + (end - first) + "\r\n" + fields() + "\r\n");
        int stop = Math.min(end, first + before);
        request.send(Arrays.copyOfRange(body, first, stop));
        if (stop < end) {
            go.await();
            request.send(Arrays.copyOfRange(body, stop, end));
        }
    }

    private void answer(RawOrigin.Exchange request) throws Exception {
        answer(request, LENGTH, new CountDownLatch(0));
    }

    private void storeFirstBlock() throws Exception {
        assertEquals(206, proxy.getAndSettle("/a", "Range: bytes=0-9\r\n").status());
        assertEquals(List.of("0-" + (PIECE - 1)), List.copyOf(asked));
    }

    private void takeVolumeOut() throws Exception {
        proxy.proxy()
                .store()
                .offline(volume(), "test")
                .toCompletableFuture()
                .get(RawClient.WAIT_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Returns a client that has received the head and the first block, while the origin waits with the second one. */
    private RawClient halfServed(CountDownLatch go) throws Exception {
        start(request -> answer(request, request.number() == 2 ? 300_000 : LENGTH, go));
        storeFirstBlock();
        RawClient client = proxy.client().get("/a");
        ProxyExtension.await("the fetch of the rest", () -> asked.size() == 2);
        return client;
    }

    private void assertServedWhole(RawClient client) throws IOException {
        RawClient.Response response = client.response();
        assertEquals(200, response.status());
        assertEquals("\"one\"", response.field("etag"));
        assertArrayEquals(body, response.content());
    }

    private void assertCut(RawClient client) throws IOException {
        RawClient.Response head = client.head();
        assertEquals(String.valueOf(LENGTH), head.field("content-length"));
        byte[] came = client.in.readToEnd();
        assertTrue(came.length < LENGTH, "came: " + came.length);
        assertArrayEquals(Arrays.copyOf(body, came.length), came);
    }

    @Test
    void partialResponseThatIsPurged() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        RawClient client = halfServed(go);
        proxy.purge("/a");
        go.countDown();
        assertServedWhole(client);
        asked.clear();
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertEquals(List.of("whole"), List.copyOf(asked));
    }

    @Test
    void partialResponseWhoseVolumeGoes() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        RawClient client = halfServed(go);
        takeVolumeOut();
        go.countDown();
        assertServedWhole(client);
    }

    /** A change of an object while it is fetched and read. */
    enum Loss {
        PURGE,
        VOLUME_OUT
    }

    private void lose(Loss how) throws Exception {
        switch (how) {
            case PURGE -> proxy.purge("/a");
            case VOLUME_OUT -> takeVolumeOut();
        }
    }

    @ParameterizedTest
    @EnumSource(Loss.class)
    void partThatIsBeingFetchedInBlocks(Loss how) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        start(request -> answer(request, request.number() == 1 ? PIECE + 300_000 : LENGTH, go));
        RawClient client = proxy.client().get("/a", "Range: bytes=10-" + (4 * PIECE - 11) + "\r\n");
        assertEquals(206, client.head().status());
        assertArrayEquals(Arrays.copyOfRange(body, 10, PIECE), client.in.read(PIECE - 10));
        lose(how);
        go.countDown();
        assertArrayEquals(Arrays.copyOfRange(body, PIECE, 4 * PIECE - 10), client.in.read(3 * PIECE - 10));
        proxy.settle();
        assertTrue(asked.size() <= 2, asked::toString);
    }

    /** A slow reader reads bytes from the store that the fast one received long before. */
    @ParameterizedTest
    @EnumSource(Loss.class)
    void fillOfWhichOneReaderLags(Loss how) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(
                request -> {
                    go.await();
                    answer(request);
                },
                config -> config.storage(volume(), 256L << 20).set("cache.fill_window", "64KiB"));
        RawClient slow = proxy.slowClient().get("/a");
        ProxyExtension.await("the fetch", () -> proxy.origin().requests() == 1);
        RawClient fast = proxy.client().get("/a");
        proxy.awaitFollowers(1);
        go.countDown();
        RawClient.Response head = slow.head();
        assertServedWhole(fast);
        lose(how);
        assertArrayEquals(body, slow.content(head));
    }

    @Test
    void storedResponseWhoseVolumeGoes() throws Exception {
        start(this::answer);
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        RawClient client = proxy.slowClient().get("/a");
        ProxyExtension.await("the second look", () -> proxy.counted(Counter.LOOKUPS_DISK) == 1);
        RawClient.Response head = client.head();
        takeVolumeOut();
        assertArrayEquals(body, client.content(head));
        assertEquals(2, asked.size(), asked::toString);
        assertEquals(1, proxy.counted(Counter.FILLS_RESUMED));
    }

    @Test
    void rangeOfAStoredResponseWhoseVolumeGoes() throws Exception {
        start(this::answer);
        proxy.getAndSettle("/a");
        RawClient client = proxy.slowClient().get("/a", "Range: bytes=1000-" + (LENGTH - 1001) + "\r\n");
        RawClient.Response head = client.head();
        assertEquals(206, head.status());
        takeVolumeOut();
        assertArrayEquals(Arrays.copyOfRange(body, 1000, LENGTH - 1000), client.content(head));
    }

    @Test
    void lostAndChangedIsCut_rfc9110_s13_1_5() throws Exception {
        start(this::answer);
        proxy.getAndSettle("/a");
        RawClient client = proxy.slowClient().get("/a");
        ProxyExtension.await("the second look", () -> proxy.counted(Counter.LOOKUPS_DISK) == 1);
        tag = "\"two\"";
        takeVolumeOut();
        assertCut(client);
    }

    @Test
    void originThatIgnoresRangesBringsTheRestToo() throws Exception {
        start(request -> {
            asked.add(String.valueOf(RawClient.field(request.head(), "range")));
            request.ok(fields(), body);
        });
        proxy.getAndSettle("/a");
        RawClient client = proxy.slowClient().get("/a");
        ProxyExtension.await("the second look", () -> proxy.counted(Counter.LOOKUPS_DISK) == 1);
        RawClient.Response head = client.head();
        takeVolumeOut();
        assertArrayEquals(body, client.content(head));
        assertEquals(2, asked.size());
    }

    /** Without a strong validator it is unknown whether the origin's bytes are of the same representation. */
    @Test
    void lostWithoutStrongValidatorIsCut_rfc9110_s8_8_1() throws Exception {
        tag = "W/\"one\"";
        start(this::answer);
        proxy.getAndSettle("/a");
        RawClient client = proxy.slowClient().get("/a");
        ProxyExtension.await("the second look", () -> proxy.counted(Counter.LOOKUPS_DISK) == 1);
        takeVolumeOut();
        assertCut(client);
        assertEquals(1, asked.size());
    }

    @Test
    void originThatIsGoneTooIsACut() throws Exception {
        start(request -> {
            if (request.number() == 1) {
                answer(request);
            } else {
                request.socket().close();
            }
        });
        proxy.getAndSettle("/a");
        RawClient client = proxy.slowClient().get("/a");
        ProxyExtension.await("the second look", () -> proxy.counted(Counter.LOOKUPS_DISK) == 1);
        takeVolumeOut();
        assertCut(client);
    }

    /** The object that is being read is outdated; the one that has replaced it is not. */
    @Test
    void outdatedPartTakesNothingNewerAway() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        start(request -> {
            if (request.number() == 2) {
                go.await();
            }
            answer(request);
        });
        storeFirstBlock();
        RawClient client = proxy.client().get("/a");
        ProxyExtension.await("the fetch of the rest", () -> proxy.origin().requests() == 2);
        proxy.purge("/a");
        tag = "\"two\"";
        RawClient.Response newer = proxy.get("/a");
        assertEquals("\"two\"", newer.field("etag"));
        assertArrayEquals(body, newer.content());
        go.countDown();
        assertCut(client);
        proxy.settle();
        int requests = proxy.origin().requests();
        assertEquals("\"two\"", proxy.get("/a").field("etag"));
        assertEquals(requests, proxy.origin().requests());
    }

    /** An origin that sends a piece at a time causes no loss of blocks: the next piece is requested. */
    @Test
    void originThatSendsAPieceAtATime_rfc9110_s15_3_7() throws Exception {
        mostAtOnce = PIECE;
        start(this::answer);
        storeFirstBlock();
        assertArrayEquals(body, proxy.get("/a").content());
        assertEquals(7, asked.size(), asked::toString);
    }

    @Test
    void originThatSendsAPieceAtATimeBringsTheRestToo_rfc9110_s15_3_7() throws Exception {
        start(this::answer);
        proxy.getAndSettle("/a");
        RawClient client = proxy.slowClient().get("/a");
        ProxyExtension.await("the second look", () -> proxy.counted(Counter.LOOKUPS_DISK) == 1);
        RawClient.Response head = client.head();
        mostAtOnce = PIECE;
        takeVolumeOut();
        assertArrayEquals(body, client.content(head));
        assertTrue(asked.size() > 3, asked::toString);
    }

    /** With too few bytes in each response, the proxy stops requesting more. */
    @Test
    void originThatSendsAFewBytesAtATimeIsNotAskedForEver() throws Exception {
        start(this::answer);
        proxy.getAndSettle("/a");
        RawClient client = proxy.slowClient().get("/a");
        ProxyExtension.await("the second look", () -> proxy.counted(Counter.LOOKUPS_DISK) == 1);
        mostAtOnce = 1000;
        takeVolumeOut();
        assertCut(client);
        assertEquals(2, asked.size(), asked::toString);
    }

    private void rot() throws IOException {
        try (FileChannel log = FileChannel.open(volume().resolve("volume"), StandardOpenOption.WRITE)) {
            log.write(ByteBuffer.allocate(16 * PIECE), 70_000);
        }
    }

    /** However often blocks are lost, the number of fetches is limited and the client receives everything. */
    @Test
    void blocksThatRotAsSoonAsTheyAreStored() throws Exception {
        start(request -> {
            rot();
            answer(request);
        });
        storeFirstBlock();
        rot();
        assertArrayEquals(body, proxy.get("/a").content());
        proxy.settle();
        assertTrue(asked.size() < 2 * (LENGTH / PIECE + 1), asked::toString);
    }

    /** An origin that always aborts within a block: each fetch must bring some bytes, or it is the last one. */
    @Test
    void originThatBreaksOffAgainAndAgainIsAskedABoundedNumberOfTimes() throws Exception {
        start(request -> {
            String range = RawClient.field(request.head(), "range");
            if (request.number() == 1) {
                answer(request);
                return;
            }
            asked.add(range);
            int first = Integer.parseInt(range.substring("bytes=".length(), range.indexOf('-')));
            request.send("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + first + "-" + (LENGTH - 1) + "/"
                    + LENGTH + "\r\nContent-Length: " + (LENGTH - first) + "\r\n" + fields() + "\r\n");
            request.send(Arrays.copyOfRange(body, first, first + 10_000));
            request.socket().close();
        });
        storeFirstBlock();
        assertThrows(IOException.class, () -> proxy.get("/a"));
        proxy.settle();
        assertTrue(asked.size() <= 6, asked::toString);
    }
}
