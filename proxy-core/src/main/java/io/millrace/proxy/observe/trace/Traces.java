package io.millrace.proxy.observe.trace;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The traces of a proxy. Event loops write the records of finished spans into the rings of {@link LoopTraces} and never
 * wait. While traces are on, one thread reads the rings every 20 ms and gives the spans to the {@link SpanSink}.
 *
 * <p>Each change of the settings opens a new sink with a thread of its own. That thread begins to read when the
 * previous thread has read the rings for the last time, so that no span is lost or read twice by a change. This holds
 * also if traces were off in between.
 *
 * <p>The methods must not run at the same time.
 */
public final class Traces implements AutoCloseable {
    private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long CLOSE_MILLIS = 5000;
    private static final long CLOCK_TOLERANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final SpanExport export;
    private final FaultLog faults;
    private final SpanCounts counts = new SpanCounts();
    private final List<LoopTraces> loops = new ArrayList<>();
    private @Nullable TraceConfig config;
    private @Nullable Pump pump;
    /** Is at zero when the thread that was started last has stopped reading, or no thread was started. */
    private CountDownLatch released = new CountDownLatch(0);

    private Traces(SpanExport export, FaultLog faults) {
        this.export = export;
        this.faults = faults;
    }

    /**
     * Creates the traces of a proxy; {@link #apply} starts the export.
     *
     * @param faults receives failures of the export
     */
    public static Traces of(SpanExport export, FaultLog faults) {
        return new Traces(export, faults);
    }

    /** Creates the traces of one event loop. Call once per loop, before {@link #apply}. */
    public LoopTraces newLoop() {
        LoopTraces loop = new LoopTraces();
        loops.add(loop);
        return loop;
    }

    /** Applies changed settings: opens another sink. The previous sink still gets the spans that have finished. */
    public void apply(TraceConfig changed) {
        if (changed.equals(config)) {
            return;
        }
        config = changed;
        SpanSink sink = null;
        try {
            sink = export.open(changed, counts);
        } catch (IOException | RuntimeException | LinkageError e) {
            faults.report("traces cannot be exported until the settings below traces change", e);
        }
        LoopTraces.Sampling sampling = sink == null ? null : LoopTraces.Sampling.of(changed);
        loops.forEach(loop -> loop.apply(sampling));
        Pump before = pump;
        if (before != null) {
            before.stop();
        }
        pump = sink == null ? null : start(sink, new SpanView(changed.showsQuery()));
    }

    private Pump start(SpanSink sink, SpanView view) {
        Pump started = new Pump(sink, view, released);
        released = started.released;
        started.start();
        return started;
    }

    /** Adds the counts to the metrics of the proxy. */
    public void bindTo(MetricsRegistry metrics) {
        counts.bindTo(metrics);
        metrics.supplyCounter(
                MetricFamily.TRACES_SPANS,
                () -> loops.stream().mapToLong(LoopTraces::dropped).sum(),
                "ring_full");
    }

    /** Passes the remaining spans on and ends the thread. Blocks for at most 5 s. */
    @Override
    public void close() {
        loops.forEach(loop -> loop.apply(null));
        Pump last = pump;
        pump = null;
        if (last != null) {
            last.stop();
            last.join();
        }
    }

    /** The thread of one sink. */
    private final class Pump {
        private final SpanSink sink;
        private final SpanView view;
        /** Is at zero when the previous thread has stopped reading. */
        private final CountDownLatch before;

        private final CountDownLatch released = new CountDownLatch(1);
        private final Thread thread = new Thread(this::run, "millrace-traces");
        private volatile boolean stopped;
        /** Confined to the thread. */
        private long clockZero;

        Pump(SpanSink sink, SpanView view, CountDownLatch before) {
            this.sink = sink;
            this.view = view;
            this.before = before;
            thread.setDaemon(true);
        }

        void start() {
            thread.start();
        }

        void stop() {
            stopped = true;
            LockSupport.unpark(thread);
        }

        private void run() {
            try {
                before.await();
                while (!stopped) {
                    drain();
                    LockSupport.parkNanos(this, ROUND_NANOS);
                }
                drain();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } finally {
                released.countDown();
                sink.close();
            }
        }

        private void drain() {
            long epochNanosOfZero = epochNanosOfZero();
            for (LoopTraces loop : loops) {
                loop.drain(logged -> {
                    try {
                        sink.accept(view.show(logged, epochNanosOfZero));
                    } catch (RuntimeException e) {
                        counts.failed(1);
                        faults.report("a span was not exported", e);
                    }
                    return true;
                });
            }
            try {
                sink.endOfRound();
            } catch (RuntimeException e) {
                faults.report("spans were not exported", e);
            }
        }

        /**
         * Returns the time at which {@link System#nanoTime} was 0. The value is kept while it differs by at most 1 ms,
         * so that the times of the spans of a trace are consistent.
         */
        private long epochNanosOfZero() {
            Instant now = Instant.now();
            long measured = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - System.nanoTime();
            if (Math.abs(measured - clockZero) > CLOCK_TOLERANCE_NANOS) {
                clockZero = measured;
            }
            return clockZero;
        }

        void join() {
            boolean interrupted = false;
            try {
                TimeUnit.MILLISECONDS.timedJoin(thread, CLOSE_MILLIS);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
