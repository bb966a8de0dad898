package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.observe.Counter;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a fill runs at the store's speed: a slow client neither slows it down nor keeps it in memory. */
class SlowReaderTest {
    private static final int PIECE = 1 << 20;
    private static final int PIECES = 100;
    private static final String FRESH = "Cache-Control: max-age=600\r\nETag: \"one\"\r\n";

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final byte[] piece = ProxyExtension.content(PIECE);

    private byte[] digest() throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (int i = 0; i < PIECES; i++) {
            digest.update(piece);
        }
        return digest.digest();
    }

    private void sendBody(RawOrigin.Exchange request, int pieces) throws Exception {
        for (int i = 0; i < pieces; i++) {
            request.send(piece);
        }
    }

    private static byte[] read(RawClient client, int pieces) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (int i = 0; i < pieces; i++) {
            digest.update(client.in.read(PIECE));
        }
        return digest.digest();
    }

    /**
     * The slow client begins, and the fast client receives all 100 MiB while the slow one has read only its head. Then
     * the slow client reads.
     */
    @Test
    void slowClientDelaysNoOthers() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        proxy.start(
                request -> {
                    go.await();
                    request.send(
                            "HTTP/1.1 200 OK\r\nContent-Length: " + (long) PIECES * PIECE + "\r\n" + FRESH + "\r\n");
                    sendBody(request, PIECES);
                },
                config -> config.storage(directory.resolve("volume"), 1L << 30).set("cache.ram_size", "64MiB"));
        RawClient slow = proxy.slowClient().get("/a");
        ProxyExtension.await("the fetch", () -> proxy.origin().requests() == 1);
        RawClient fast = proxy.client().get("/a");
        proxy.awaitFollowers(1);
        go.countDown();
        assertEquals(200, slow.head().status());
        assertEquals(200, fast.head().status());
        assertArrayEquals(digest(), read(fast, PIECES));
        // The window, the socket buffers and the bytes that the store has not written yet are much smaller than the
        // body.
        assertTrue(proxy.usedBytes() < 48L << 20, "bytes in use: " + proxy.usedBytes());
        assertArrayEquals(digest(), read(slow, PIECES));
        assertEquals(1, proxy.origin().requests());
    }

    @Test
    void fillContinuesWhenItsClientLeaves() throws Exception {
        CountDownLatch left = new CountDownLatch(1);
        proxy.start(
                request -> {
                    request.send("HTTP/1.1 200 OK\r\nContent-Length: " + 4 * PIECE + "\r\n" + FRESH + "\r\n");
                    request.send(piece);
                    left.await();
                    sendBody(request, 3);
                },
                config -> config.storage(directory.resolve("volume"), 256L << 20));
        RawClient client = proxy.client().get("/a");
        client.head();
        client.reset();
        ProxyExtension.await("the client's end", () -> proxy.counted(Counter.CLIENT_FAILURES_ABORTED) == 1);
        left.countDown();
        ProxyExtension.await("the fill", () -> proxy.counted(Counter.FILLS_STORED) == 1);
        assertEquals(4 * PIECE, proxy.get("/a").content().length);
        assertEquals(1, proxy.origin().requests());
    }

    /** Below the threshold the fill ends. The received bytes are kept, and the next request fetches only the rest. */
    @Test
    void fillEndsWhenTooLittleHasCome() throws Exception {
        proxy.start(
                request -> {
                    if (request.number() == 1) {
                        request.send("HTTP/1.1 200 OK\r\nContent-Length: " + 4 * PIECE + "\r\n" + FRESH + "\r\n");
                        request.send(piece);
                        request.awaitClose();
                    } else {
                        assertTrue(request.has("Range: bytes=" + PIECE + "-" + (4 * PIECE - 1)), request.head());
                        request.send("HTTP/1.1 206 Partial Content\r\nContent-Length: " + 3 * PIECE
                                + "\r\nContent-Range: bytes " + PIECE + "-" + (4 * PIECE - 1) + "/" + 4 * PIECE + "\r\n"
                                + FRESH + "\r\n");
                        sendBody(request, 3);
                    }
                },
                config -> config.storage(directory.resolve("volume"), 256L << 20)
                        .set("cache.background_fill_completed_threshold", "0.5"));
        RawClient client = proxy.client().get("/a");
        client.head();
        client.in.read(PIECE);
        client.reset();
        ProxyExtension.await("the end of the fill", () -> proxy.counted(Counter.FILLS_CLIENT_LEFT) == 1);
        byte[] content = proxy.get("/a").content();
        assertEquals(4 * PIECE, content.length);
        assertArrayEquals(piece, java.util.Arrays.copyOfRange(content, 2 * PIECE, 3 * PIECE));
        assertEquals(2, proxy.origin().requests());
    }
}
