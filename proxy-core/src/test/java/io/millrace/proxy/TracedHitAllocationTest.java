package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.trace.SpanSink;
import io.millrace.proxy.observe.trace.SpanView;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** Tests that the event loop allocates nothing for the spans of hits. */
class TracedHitAllocationTest {
    private static final int HITS = 4_000;

    /**
     * Number of measurements, of which the smallest counts. The first request needs a channel, and a connection moves
     * back to the fast lane only after some time.
     */
    private static final int ROUNDS = 5;

    /** An object on the heap has at least 16 bytes; the tolerance is for tasks that run once a second. */
    private static final int BYTES_PER_HIT_MAX = 8;

    private static final SpanSink IGNORING = new SpanSink() {
        @Override
        public void accept(SpanView span) {}

        @Override
        public void close() {}
    };

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void aTracedHitAllocatesNothingMore() throws Exception {
        long without = bytesPerHits("0%");
        long with = bytesPerHits("100%");
        assertTrue(
                with - without < (long) HITS * BYTES_PER_HIT_MAX,
                "bytes of " + HITS + " hits: not sampled " + without + ", sampled " + with);
    }

    private long bytesPerHits(String sample) throws Exception {
        try (RawOrigin origin = new RawOrigin(request -> request.ok("Cache-Control: max-age=600\r\n", new byte[10]));
                ProxyServer server = ProxyServer.builder()
                        .config(ProxyConfig.builder()
                                .listen("127.0.0.1:0")
                                .map("/", origin.url())
                                .set("cache.ram_size", "32MiB")
                                .set("log.access.enabled", "false")
                                .set("worker.event_loops", "1")
                                .set("traces.endpoint", "http://127.0.0.1:1")
                                .set("traces.sample", sample)
                                .build())
                        .spans((config, counts) -> IGNORING)
                        .start();
                RawClient client = new RawClient(server.addresses().get(0))) {
            long thread = server.loops()
                    .get(0)
                    .loop()
                    .submit(() -> Thread.currentThread().getId())
                    .get();
            // The first hits load classes and resolve constants.
            hits(client);
            long least = Long.MAX_VALUE;
            for (int round = 0; round < ROUNDS; round++) {
                long before = threads.getThreadAllocatedBytes(thread);
                hits(client);
                least = Math.min(least, threads.getThreadAllocatedBytes(thread) - before);
            }
            return least;
        }
    }

    private static void hits(RawClient client) throws IOException {
        for (int i = 0; i < HITS; i++) {
            assertEquals(
                    200, client.get("/a", "User-Agent: test\r\n").response().status());
        }
    }
}
