package io.millrace.proxy.observe.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.observe.field.CacheStatus;
import io.millrace.proxy.observe.field.Via;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Tests that the calls of an event loop for a hit allocate nothing, not even before the code is compiled. */
class HotPathAllocationTest {
    private static final int HITS = 2_000;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final AccessLogRing ring = new AccessLogRing(1 << 20);
    private final LoopCounters counters = new LoopCounters();
    private final CacheStatus cacheStatus = new CacheStatus("millrace");
    private final Via via = new Via("millrace");
    private final ByteBuf out = Unpooled.wrappedBuffer(new byte[512]);
    private final byte[] address = {127, 0, 0, 1};
    private final byte[] url = "http://www.example.com/a/b?c=d".getBytes(StandardCharsets.US_ASCII);

    @Test
    void aHitIsCountedLoggedAndDescribedWithoutAllocation() {
        // The first hits load classes and resolve constants.
        hits(HITS);
        drain();
        long before = threads.getCurrentThreadAllocatedBytes();
        hits(HITS);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        drain();

        assertTrue(allocated < HITS, "allocated " + allocated + " bytes in " + HITS + " hits");
        assertEquals(2 * HITS, counters.value(Counter.REQUESTS_HIT));
        assertEquals(0, ring.dropped());
        out.release();
    }

    private void hits(int count) {
        for (int i = 0; i < count; i++) {
            out.clear();
            cacheStatus.hit(out, i);
            via.write(out, 1, 1);
            counters.requestCompleted(CacheResult.HIT, 200, i);
            AccessLogRecord entry = ring.claim();
            if (entry != null) {
                entry.receivedAtMillis(i)
                        .durationNanos(i)
                        .client(address, 0, 4)
                        .status(200)
                        .sentBytes(300, 500)
                        .version(1, 1)
                        .cache(CacheResult.HIT)
                        .fromRam()
                        .text(LogField.METHOD, "GET")
                        .text(LogField.URL, url, 0, url.length);
                ring.publish();
            }
        }
    }

    private void drain() {
        ring.drain(logged -> true);
    }
}
