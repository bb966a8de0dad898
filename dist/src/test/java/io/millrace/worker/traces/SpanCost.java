package io.millrace.worker.traces;

import com.sun.management.OperatingSystemMXBean;
import io.millrace.proxy.observe.CacheResult;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LogField;
import io.millrace.proxy.observe.trace.ExchangeTrace;
import io.millrace.proxy.observe.trace.LoopTraces;
import io.millrace.proxy.observe.trace.SpanCounts;
import io.millrace.proxy.observe.trace.TraceConfig;
import io.millrace.proxy.observe.trace.Traces;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.LoggerFactory;

/**
 * Measures the CPU time of spans of hits, from the event loop to the collector. Not a test. One line per second: time
 * of the process and of the loop's thread per span, in ns, and the counts so far. At the end one line per thread of
 * Java, which has the time of the second half per exported span, without compilations. Spans are written more slowly if
 * the export is behind, so that a busy machine drops none. Arguments: URL of the collector,
 * seconds, spans per second, {@code NONE} or {@code GZIP}. Run by hand; the results are in benchmarks/results.
 */
public final class SpanCost {
    private static final int BURSTS = 100;
    /** Limit of spans that were written and not exported: fewer than the ring can take. */
    private static final int WAITING_MAX = 3000;

    private static final byte[] METHOD = ascii("GET");
    private static final byte[] URL = ascii("http://www.example.com/objects/500/17");
    private static final byte[] USER_AGENT = ascii("Mozilla/5.0 (X11; Linux x86_64) wrk/4.2");

    private SpanCost() {}

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Runs the measurement. */
    public static void main(String[] arguments) {
        int spans = Integer.parseInt(arguments[2]);
        SpanCounts[] counts = new SpanCounts[1];
        FaultLog faults = new FaultLog(LoggerFactory.getLogger(SpanCost.class), 1, System::nanoTime);
        try (Traces traces = Traces.of(
                (config, its) -> {
                    counts[0] = its;
                    return OtlpExport.open(config, its);
                },
                faults)) {
            LoopTraces loop = traces.newLoop();
            traces.apply(new TraceConfig(
                    arguments[0],
                    1,
                    0,
                    "cost",
                    false,
                    TraceConfig.Compression.valueOf(arguments[3]),
                    null,
                    null,
                    null,
                    null));
            int seconds = Integer.parseInt(arguments[1]);
            Map<String, Long> before = Map.of();
            long exportedBefore = 0;
            for (int second = 0; second < seconds; second++) {
                if (second == seconds / 2) {
                    before = threadTimes();
                    exportedBefore = counts[0].exported();
                }
                second(loop, spans, counts[0], (long) second * (spans / BURSTS) * BURSTS);
            }
            long exported = counts[0].exported() - exportedBefore;
            for (Map.Entry<String, Long> each : threadTimes().entrySet()) {
                long nanos = each.getValue() - before.getOrDefault(each.getKey(), 0L);
                System.out.printf("%s %d%n", each.getKey(), nanos / Math.max(1, exported));
            }
        }
    }

    private static Map<String, Long> threadTimes() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        Map<String, Long> times = new TreeMap<>();
        for (ThreadInfo each : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (each != null) {
                times.merge(each.getThreadName(), threads.getThreadCpuTime(each.getThreadId()), Long::sum);
            }
        }
        return times;
    }

    private static void second(LoopTraces loop, int spans, SpanCounts counts, long writtenBefore) {
        long written = writtenBefore;
        OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long before = process.getProcessCpuTime();
        long start = System.nanoTime();
        long ofLoop = 0;
        for (int burst = 1; burst <= BURSTS; burst++) {
            long burstStart = threads.getCurrentThreadCpuTime();
            for (int i = 0; i < spans / BURSTS; i++) {
                write(loop, burstStart);
            }
            ofLoop += threads.getCurrentThreadCpuTime() - burstStart;
            written += spans / BURSTS;
            while (written - counts.exported() - counts.queueFull() - counts.failed() > WAITING_MAX) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            }
            long end = start + burst * TimeUnit.SECONDS.toNanos(1) / BURSTS;
            while (System.nanoTime() < end) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
        }
        System.out.printf(
                "process %d, loop %d, exported %d, queue full %d, failed %d%n",
                (process.getProcessCpuTime() - before) / spans,
                ofLoop / spans,
                counts.exported(),
                counts.queueFull(),
                counts.failed());
    }

    private static void write(LoopTraces loop, long startNanos) {
        ExchangeTrace trace = Objects.requireNonNull(loop.reusedTrace());
        AccessLogRing ring = Objects.requireNonNull(trace.end(false, 0));
        AccessLogRecord record = ring.claim();
        if (record != null) {
            record.durationNanos(1000)
                    .status(200)
                    .cache(CacheResult.HIT)
                    .fromRam()
                    .version(1, 1)
                    .text(LogField.METHOD, METHOD, 0, METHOD.length)
                    .text(LogField.URL, URL, 0, URL.length)
                    .text(LogField.USER_AGENT, USER_AGENT, 0, USER_AGENT.length);
            trace.addSpan(record, startNanos, 0);
            ring.publish();
        }
    }
}
