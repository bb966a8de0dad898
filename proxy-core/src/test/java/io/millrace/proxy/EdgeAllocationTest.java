package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Tests that hits allocate nothing for CORS, canary splits, mirrored requests and ESI of other rules,
 * for CORS, or for responses without ESI in a rule with it.
 */
class EdgeAllocationTest {
    private static final int HITS = 4_000;

    /**
     * Number of measurements, of which the smallest counts. The first request needs a channel, and a connection moves
     * back to the fast lane only after some time.
     */
    private static final int ROUNDS = 5;

    /** An object on the heap has at least 16 bytes; the tolerance is for tasks that run once a second. */
    private static final int BYTES_PER_HIT_MAX = 8;

    private static final String OTHERS = """
              - map: http://other.example/
                to: "@origin"
                cors: {origins: "https://a.example"}
                split: [{to: "http://127.0.0.1:1", weight: 5}]
                mirror: {to: "http://127.0.0.1:1"}
                esi: {when: always}
            """;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void rulesWithoutTheSettingsAllocateNothingMore() throws Exception {
        assertEqualAllocation(bytesPerHits("", ""), bytesPerHits(OTHERS, ""));
    }

    @Test
    void corsOfListedOriginsAllocatesNothingMore() throws Exception {
        String cors = "cors: {origins: ['https://b.example', 'https://a.example'], expose: [ETag]}\n";
        assertEqualAllocation(bytesPerHits("", ""), bytesPerHits("", cors));
    }

    @Test
    void esiAllocatesNothingMoreForOtherResponses() throws Exception {
        assertEqualAllocation(bytesPerHits("", ""), bytesPerHits("", "esi: {when: always}\n"));
    }

    private static void assertEqualAllocation(long without, long with) {
        assertTrue(
                with - without < (long) HITS * BYTES_PER_HIT_MAX,
                "bytes of " + HITS + " hits: without " + without + ", with " + with);
    }

    private long bytesPerHits(String rules, String settings) throws Exception {
        try (RawOrigin origin = new RawOrigin(request -> request.ok("Cache-Control: max-age=600\r\n", new byte[10]))) {
            ConfigResult result = ConfigLoader.parse(
                    (settings + "remap:\n" + rules + "  - {map: /, to: '@origin'}\n").replace("@origin", origin.url()),
                    "m.yaml",
                    Map.of(
                            "listen", "['127.0.0.1:0']",
                            "log.access.enabled", "false",
                            "cache.ram_size", "32MiB",
                            "worker.event_loops", "1"));
            assertNotNull(result.config(), result::text);
            try (ProxyServer server =
                            ProxyServer.builder().config(result.config()).start();
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
            assertEquals(
                    200,
                    client.get("/a", "Origin: https://a.example\r\n").response().status());
        }
    }
}
