package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compares the bytes that an event loop allocates on the heap for hits. No state. */
final class HitAllocation {
    private static final int HITS = 4_000;

    /** Limit of the rounds of requests before all are answered in the fast lane. */
    private static final int ROUNDS_MAX = 20;

    private static final Pattern IN_FAST_LANE =
            Pattern.compile("^millrace_fast_lane_requests_total(?:\\{[^}]*})? (\\S+)", Pattern.MULTILINE);

    /** An object on the heap has at least 16 bytes; the tolerance is for tasks that run once a second. */
    private static final int BYTES_PER_HIT_MAX = 8;

    private HitAllocation() {}

    /** Fails if hits allocate more with a setting than without it. */
    static void assertNothingMore(long without, long with) {
        assertTrue(
                with - without < (long) HITS * BYTES_PER_HIT_MAX,
                "bytes of " + HITS + " hits: without " + without + ", with " + with);
    }

    /**
     * Requests {@code /a} over one connection, and returns the bytes that a server with one event loop allocates for
     * {@value #HITS} hits.
     *
     * @param fields header fields of the requests, each with CRLF
     */
    static long bytes(ProxyServer server, String fields) throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (RawClient client = new RawClient(server.addresses().get(0))) {
            long thread = server.loops()
                    .get(0)
                    .loop()
                    .submit(() -> Thread.currentThread().getId())
                    .get();
            // The first hits load classes and resolve constants. The first request needs a channel, from which a
            // connection moves back to the fast lane at one of the next ticks of the loop.
            for (int round = 0; answeredInFastLane(server, client, fields) < HITS; round++) {
                assertTrue(round < ROUNDS_MAX, "hits are not answered in the fast lane");
            }
            long before = threads.getThreadAllocatedBytes(thread);
            request(client, fields);
            return threads.getThreadAllocatedBytes(thread) - before;
        }
    }

    private static long answeredInFastLane(ProxyServer server, RawClient client, String fields) throws IOException {
        long before = inFastLane(server);
        request(client, fields);
        return inFastLane(server) - before;
    }

    private static long inFastLane(ProxyServer server) {
        Matcher matcher = IN_FAST_LANE.matcher(server.metricsText());
        assertTrue(matcher.find(), server::metricsText);
        return (long) Double.parseDouble(matcher.group(1));
    }

    private static void request(RawClient client, String fields) throws IOException {
        for (int i = 0; i < HITS; i++) {
            assertEquals(200, client.get("/a", fields).response().status());
        }
    }
}
