package io.millrace.proxy.observe.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.log.AccessLogRecord;
import io.millrace.proxy.observe.log.AccessLogRing;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Tests that only one thread reads the rings, however fast the settings of traces change. */
class ChangedTracesTest {
    /** The service name of settings with which traces are off. */
    private static final String OFF = "off";
    /** The service name of settings whose sink cannot be opened. */
    private static final String INVALID = "invalid";

    private final List<RecordingSink> sinks = new ArrayList<>();
    private final FaultLog faults =
            new FaultLog(LoggerFactory.getLogger(ChangedTracesTest.class), Long.MAX_VALUE, System::nanoTime);
    /** Keeps the first sink in the middle of a read. */
    private final CountDownLatch goOn = new CountDownLatch(1);

    /** Counts the calls of its thread. */
    private final class RecordingSink implements SpanSink {
        final AtomicInteger spans = new AtomicInteger();
        final AtomicInteger rounds = new AtomicInteger();
        volatile @Nullable Thread blocked;

        @Override
        public void accept(SpanView span) {
            spans.incrementAndGet();
            blocked = Thread.currentThread();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void endOfRound() {
            rounds.incrementAndGet();
        }

        @Override
        public void close() {}
    }

    private @Nullable SpanSink open(TraceConfig config, SpanCounts counts) throws IOException {
        switch (config.serviceName()) {
            case OFF -> {
                return null;
            }
            case INVALID -> throw new IOException("invalid");
            default -> {
                RecordingSink sink = new RecordingSink();
                sinks.add(sink);
                return sink;
            }
        }
    }

    private static TraceConfig named(String service) {
        return new TraceConfig(
                "http://127.0.0.1:1", 1, 0, service, false, TraceConfig.Compression.NONE, null, null, null, null);
    }

    private static void write(LoopTraces loop) {
        ExchangeTrace trace = loop.reusedTrace();
        assertNotNull(trace);
        AccessLogRing ring = trace.end(false, 0);
        assertNotNull(ring);
        AccessLogRecord record = ring.claim();
        assertNotNull(record);
        trace.addId(record);
        trace.addSpan(record, 1, 0);
        ring.publish();
    }

    /** The settings between those of the first and of the last sink. */
    @ParameterizedTest
    @ValueSource(strings = {"", OFF, INVALID, "second", "off second off", "second off second"})
    void oneThreadReadsTheRings(String between) throws Exception {
        List<Thread> others = threads();
        try (Traces traces = Traces.of(this::open, faults)) {
            LoopTraces loop = traces.newLoop();
            traces.apply(named("first"));
            write(loop);
            RecordingSink first = sinks.get(0);
            Awaitility.await().until(() -> first.blocked != null);
            for (String service : between.isEmpty() ? new String[0] : between.split(" ", -1)) {
                traces.apply(named(service));
            }
            traces.apply(named("last"));
            RecordingSink last = sinks.get(sinks.size() - 1);
            // Either all threads wait for the first, or one of them reads at the same time.
            Awaitility.await()
                    .until(() -> threads().stream()
                                    .filter(thread -> !others.contains(thread))
                                    .allMatch(thread -> thread.getState() == Thread.State.WAITING)
                            || last.rounds.get() + last.spans.get() > 0);
            assertEquals(0, last.rounds.get() + last.spans.get());
            goOn.countDown();
            Awaitility.await().until(() -> last.rounds.get() > 0);
            write(loop);
            Awaitility.await().until(() -> last.spans.get() == 1);
            assertEquals(2, sinks.stream().mapToInt(sink -> sink.spans.get()).sum());
        }
    }

    private static List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("millrace-traces"))
                .toList();
    }
}
