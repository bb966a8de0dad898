package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.spi.DeliverHook;
import io.millrace.proxy.spi.DeliveredResponse;
import io.millrace.proxy.spi.PurgeObserver;
import io.millrace.proxy.spi.RequestView;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests that hits of rules without hooks allocate the same with and without extensions. */
class ExtensionAllocationTest {
    private static final int HITS = 4_000;

    /**
     * Number of measurements, of which the smallest counts. The first request needs a channel, and a connection moves
     * back to the fast lane only after some time.
     */
    private static final int ROUNDS = 5;

    /** An object on the heap has at least 16 bytes; the tolerance is for tasks that run once a second. */
    private static final int BYTES_PER_HIT_MAX = 8;

    private static final class Observing extends TestExtension implements PurgeObserver {
        @Override
        public void purged(Purge purge) {}
    }

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Sets five constant fields. */
    private static final class Constant extends TestExtension implements DeliverHook {
        @Override
        public Map<String, String> constantFields() {
            return Map.of("X-A", "one", "X-B", "two", "X-C", "three", "Server", "four", "Cache-Control", "no-cache");
        }

        @Override
        public void deliver(RequestView request, DeliveredResponse response) {
            throw new IllegalStateException("constant fields need no call");
        }
    }

    @Test
    void hitsWithoutHooksAllocateNothingMore() throws Exception {
        assertNothingMore(new Observing());
    }

    @Test
    void constantFieldsAllocateNothingMore() throws Exception {
        assertNothingMore(new Constant());
    }

    private void assertNothingMore(TestExtension extension) throws Exception {
        long without = bytesPerHits(null);
        long with = bytesPerHits(extension);
        assertTrue(
                with - without < (long) HITS * BYTES_PER_HIT_MAX,
                "bytes of " + HITS + " hits: without extension " + without + ", with extension " + with);
    }

    private long bytesPerHits(@Nullable TestExtension extension) throws Exception {
        try (RawOrigin origin = new RawOrigin(request -> request.ok("Cache-Control: max-age=600\r\n", new byte[10]))) {
            ProxyServerBuilder builder = ProxyServer.builder()
                    .config(ProxyConfig.builder()
                            .listen("127.0.0.1:0")
                            .set("cache.ram_size", "32MiB")
                            .set("log.access.enabled", "false")
                            .set("worker.event_loops", "1")
                            .map("/", origin.url())
                            .build());
            if (extension != null) {
                builder.extension(extension);
            }
            try (ProxyServer server = builder.start();
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
    }

    private static void hits(RawClient client) throws IOException {
        for (int i = 0; i < HITS; i++) {
            assertEquals(200, client.get("/a").response().status());
        }
    }
}
