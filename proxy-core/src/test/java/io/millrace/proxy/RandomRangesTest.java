package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Many clients request random ranges of changing responses at the same time, from an origin that aborts and ignores
 * ranges. A complete response must have the bytes of the representation that its ETag names.
 *
 * <p>{@code -Dmillrace.seed=N} sets the seed.
 */
class RandomRangesTest {
    private static final long SEED = Long.getLong("millrace.seed", System.nanoTime());
    private static final int LENGTH = 3_300_000;
    private static final int CLIENTS = 8;
    private static final int REQUESTS = 40;

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private final byte[] body = ProxyExtension.content(LENGTH + 100);
    private final AtomicInteger version = new AtomicInteger(1);
    private final AtomicInteger whole = new AtomicInteger();

    /** Each version has the same bytes, with another start. */
    private byte[] content(int of, int first, int end) {
        return Arrays.copyOfRange(body, of + first, of + end);
    }

    private void origin(RawOrigin.Exchange request) throws IOException {
        Random random = new Random(SEED * 31 + request.number());
        if (random.nextInt(25) == 0) {
            version.incrementAndGet();
        }
        int now = version.get() % 100;
        String tag = "\"" + now + "\"";
        String range = RawClient.field(request.head(), "range");
        String ifRange = RawClient.field(request.head(), "if-range");
        boolean ranged = range != null && (ifRange == null || ifRange.equals(tag)) && random.nextInt(10) > 0;
        int first = 0;
        int end = LENGTH;
        if (ranged) {
            String[] ends = range.substring("bytes=".length()).split("-", -1);
            first = ends[0].isEmpty() ? LENGTH - Integer.parseInt(ends[1]) : Integer.parseInt(ends[0]);
            end = ends[0].isEmpty() || ends[1].isEmpty() ? LENGTH : Math.min(LENGTH, Integer.parseInt(ends[1]) + 1);
        }
        request.send((ranged
                        ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + first + "-" + (end - 1) + "/"
                                + LENGTH
                        : "HTTP/1.1 200 OK")
                + "\r\nContent-Length: " + (end - first) + "\r\nCache-Control: max-age=600\r\nETag: " + tag
                + "\r\n\r\n");
        if (random.nextInt(12) == 0) {
            int some = first + random.nextInt(end - first);
            request.send(content(now, first, some));
            request.socket().close();
            return;
        }
        request.send(content(now, first, end));
    }

    /** Sends a random request; returns true if the response was complete and correct. */
    private boolean ask(Random random) throws IOException {
        String path = "/" + random.nextInt(3);
        int first = random.nextInt(LENGTH);
        int last = first + random.nextInt(random.nextInt(4) == 0 ? LENGTH : 100_000);
        String range =
                switch (random.nextInt(8)) {
                    case 0 -> "";
                    case 1 -> "Range: bytes=" + first + "-\r\n";
                    case 2 -> "Range: bytes=-" + (1 + random.nextInt(100_000)) + "\r\n";
                    default -> "Range: bytes=" + first + "-" + last + "\r\n";
                };
        try (RawClient client = new RawClient(proxy.address())) {
            client.get(path, range);
            RawClient.Response head = client.head();
            if (random.nextInt(10) == 0) {
                return false;
            }
            assertTrue(head.status() != 500, head.head());
            if (head.status() > 500) {
                return false;
            }
            int from = 0;
            int end = LENGTH;
            if (head.status() == 206) {
                String told = head.field("content-range");
                from = Integer.parseInt(told.substring("bytes ".length(), told.indexOf('-')));
                end = Integer.parseInt(told.substring(told.indexOf('-') + 1, told.indexOf('/'))) + 1;
                assertEquals(told.substring(told.indexOf('/') + 1), Integer.toString(LENGTH));
            } else {
                assertEquals(200, head.status(), head.head());
            }
            byte[] got;
            try {
                got = client.content(head);
            } catch (IOException e) {
                return false;
            }
            int of = Integer.parseInt(head.field("etag").replace("\"", ""));
            assertArrayEquals(content(of, from, end), got, "seed " + SEED + ", " + range + head.head());
            return true;
        }
    }

    @Test
    void everyResponseIsOfOneRepresentation_rfc9111_s3_4() throws Exception {
        System.out.println("seed " + SEED);
        proxy.start(this::origin, config -> config.storage(directory.resolve("volume"), 256L << 20)
                .set("worker.event_loops", "2"));
        ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
        try {
            List<Callable<Integer>> tasks = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                Random random = new Random(SEED + i);
                tasks.add(() -> {
                    int good = 0;
                    for (int j = 0; j < REQUESTS; j++) {
                        good += ask(random) ? 1 : 0;
                    }
                    return good;
                });
            }
            for (Future<Integer> each : threads.invokeAll(tasks)) {
                whole.addAndGet(each.get());
            }
        } finally {
            threads.shutdownNow();
        }
        System.out.println(whole.get() + " of " + CLIENTS * REQUESTS + " came to their end, from "
                + proxy.origin().requests() + " requests to the origin");
        assertTrue(whole.get() > CLIENTS * REQUESTS / 2, "seed " + SEED + ": only " + whole.get());
    }
}
