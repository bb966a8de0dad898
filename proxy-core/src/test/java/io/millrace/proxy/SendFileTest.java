package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheKey;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.store.FileSlice;
import io.millrace.store.StoreKey;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Long bodies that go from the volume's file to the client without being read. */
class SendFileTest {
    private static final int LENGTH = (9 << 20) + 12_345;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final byte[] body = ProxyExtension.content(LENGTH);

    /** Stores the body and has it read once, so that it is known to be sound. */
    private void stored() throws Exception {
        proxy.start(
                request -> request.ok("Cache-Control: max-age=1000\r\n", body),
                config -> config.storage(directory.resolve("volume"), 256L << 20));
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertArrayEquals(body, proxy.getAndSettle("/a").content());
        assertFromFile();
    }

    private void assertFromFile() throws Exception {
        TargetUri url = (TargetUri) TargetUri.parseAbsolute("http://test.example/a");
        StoreKey key = proxy.proxy().store().key(CacheKey.of(url).bytes());
        CompletableFuture<StoredObject<StoredHead>> answer = new CompletableFuture<>();
        proxy.proxy().store().open(key, Runnable::run, answer::complete);
        StoredObject<StoredHead> object = answer.get(30, TimeUnit.SECONDS);
        assertNotNull(object);
        FileSlice slice = object.fileSlice(0, LENGTH);
        assertNotNull(slice, "the body is read, and not sent from the file");
        slice.release();
        object.release();
    }

    private StoreStatistics.Volume volume() {
        return proxy.proxy().store().statistics().volumes().get(0);
    }

    @Test
    void theWholeBodyIsExact() throws Exception {
        stored();
        for (int i = 0; i < 3; i++) {
            RawClient.Response response = proxy.get("/a");
            assertEquals(200, response.status());
            assertArrayEquals(body, response.content());
        }
        assertEquals(1, proxy.origin().requests());
        ProxyExtension.await("no segment is held", () -> volume().pinnedSegments() == 0);
    }

    @Test
    void rangesAreExact_rfc9110_s14() throws Exception {
        stored();
        int[][] ranges = {
            {0, 0}, {1, LENGTH - 2}, {1 << 20, (1 << 20) + 70_000}, {65_535, 65_537}, {LENGTH - 5, LENGTH - 1}
        };
        for (int[] range : ranges) {
            RawClient.Response part = proxy.get("/a", "Range: bytes=" + range[0] + "-" + range[1] + "\r\n");
            assertEquals(206, part.status());
            assertArrayEquals(Arrays.copyOfRange(body, range[0], range[1] + 1), part.content());
        }
        RawClient.Response parts = proxy.get("/a", "Range: bytes=100-300000, 5000000-5200000\r\n");
        assertEquals(206, parts.status());
        String all = new String(parts.content(), StandardCharsets.ISO_8859_1);
        assertTrue(all.contains(new String(body, 100, 299_901, StandardCharsets.ISO_8859_1)));
        assertTrue(all.contains(new String(body, 5_000_000, 200_001, StandardCharsets.ISO_8859_1)));
    }

    /** RFC 9112 s9.3: the next request on the connection is answered behind the file. */
    @Test
    void pipelinedRequestsAreAnsweredInOrder() throws Exception {
        stored();
        try (RawClient client = proxy.client()) {
            client.get("/a").get("/a", "Range: bytes=7-9\r\n").get("/a");
            assertArrayEquals(body, client.response().content());
            assertArrayEquals(Arrays.copyOfRange(body, 7, 10), client.response().content());
            assertArrayEquals(body, client.response().content());
        }
    }

    /** A file counts towards the high-water mark: of what a client does not read little is queued, and its end frees all. */
    @Test
    void aClientThatDoesNotReadHoldsNoMoreThanAWindow() throws Exception {
        stored();
        RawClient client = proxy.slowClient();
        client.get("/a");
        assertEquals(200, client.head().status());
        ProxyExtension.await("the segments are held", () -> volume().pinnedSegments() > 0);
        client.close();
        ProxyExtension.await("no segment is held", () -> volume().pinnedSegments() == 0);
        assertArrayEquals(body, proxy.get("/a").content());
    }

    /** The path is taken out while a client is slow: what it gets is the beginning of the body, and an end that shows. */
    @Test
    void aVolumeThatIsTakenOutEndsTheConnectionAndSendsNothingWrong() throws Exception {
        stored();
        RawClient client = proxy.slowClient();
        client.get("/a");
        RawClient.Response head = client.head();
        assertEquals(String.valueOf(LENGTH), head.field("content-length"));
        proxy.proxy()
                .store()
                .offline(directory.resolve("volume"), "a test")
                .toCompletableFuture()
                .get(30, TimeUnit.SECONDS);
        byte[] got = client.in.readUntilItBreaks();
        assertTrue(got.length < LENGTH, "all of it was sent before the path went");
        assertArrayEquals(Arrays.copyOf(body, got.length), got);
    }
}
