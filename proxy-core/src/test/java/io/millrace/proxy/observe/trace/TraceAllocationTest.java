package io.millrace.proxy.observe.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.Test;

/** Tests that the trace of a hit allocates nothing on the event loop, sampled or not, not even before compilation. */
class TraceAllocationTest {
    private static final int HITS = 2_000;
    private static final String PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final LoopTraces traces = new LoopTraces();
    private final FieldSection fields =
            FieldSection.builder().add("Traceparent", PARENT).build();
    private int written;

    @Test
    void aSampledHitAllocatesNothing() {
        assertEquals(HITS, writtenWithoutAllocation(1, false));
    }

    @Test
    void aHitOfATrustedTraceAllocatesNothing() {
        assertEquals(HITS, writtenWithoutAllocation(0, true));
    }

    @Test
    void aHitThatIsNotSampledAllocatesAndWritesNothing() {
        assertEquals(0, writtenWithoutAllocation(0, false));
    }

    @Test
    void withoutSettingsThereIsNoTrace() {
        assertNull(traces.reusedTrace());
        assertNull(traces.newTrace());
    }

    /** The share of sampled requests is that of the settings; the seed of the ids is random. */
    @Test
    void theRatioIsKept() {
        apply(0.25);
        int sampled = 0;
        for (int i = 0; i < 100_000; i++) {
            ExchangeTrace trace = traces.reusedTrace();
            assertNotNull(trace);
            sampled += trace.isSampled() ? 1 : 0;
        }
        // Six standard deviations are 822.
        assertTrue(Math.abs(sampled - 25_000) < 900, "sampled " + sampled);
    }

    private void apply(double ratio) {
        TraceConfig config = new TraceConfig(
                "http://127.0.0.1:1", ratio, 0, "x", false, TraceConfig.Compression.NONE, null, null, null, null);
        traces.apply(LoopTraces.Sampling.of(config));
    }

    private int writtenWithoutAllocation(double ratio, boolean continues) {
        apply(ratio);
        hits(continues);
        traces.drain(logged -> true);
        written = 0;
        long before = threads.getCurrentThreadAllocatedBytes();
        hits(continues);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        traces.drain(logged -> true);
        assertTrue(allocated < HITS, "allocated " + allocated + " bytes in " + HITS + " hits");
        assertEquals(0, traces.dropped());
        return written;
    }

    private void hits(boolean continues) {
        for (int i = 0; i < HITS; i++) {
            ExchangeTrace trace = traces.reusedTrace();
            if (trace == null) {
                throw new IllegalStateException("traces are off");
            }
            if (continues) {
                trace.continueFrom(fields);
            }
            AccessLogRing ring = trace.end(false, 0);
            AccessLogRecord record = ring == null ? null : ring.claim();
            if (ring != null && record != null) {
                trace.addId(record);
                trace.addSpan(record, i, 0);
                ring.publish();
                written++;
            }
        }
    }
}
