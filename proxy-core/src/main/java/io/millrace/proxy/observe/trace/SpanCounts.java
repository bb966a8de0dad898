package io.millrace.proxy.observe.trace;

import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import java.util.concurrent.atomic.LongAdder;

/** Counts of spans by their result, for metrics. Thread-safe. */
public final class SpanCounts {
    private final LongAdder exported = new LongAdder();
    private final LongAdder queueFull = new LongAdder();
    private final LongAdder failed = new LongAdder();
    /** False if the collector did not take the spans that were last sent to it. */
    private volatile boolean isUp = true;

    /** Creates counts of zero. */
    public SpanCounts() {}

    /** Counts spans that the receiver has passed to the collector. */
    public void exported(long spans) {
        exported.add(spans);
        isUp = true;
    }

    /** Counts spans that were dropped because the receiver's queue is full. */
    public void queueFull(long spans) {
        queueFull.add(spans);
    }

    /** Counts spans that were dropped because the collector did not take them. */
    public void failed(long spans) {
        failed.add(spans);
        isUp = false;
    }

    /** Returns the number of spans that were passed to the collector. */
    public long exported() {
        return exported.sum();
    }

    /** Returns the number of spans that were dropped because the receiver's queue is full. */
    public long queueFull() {
        return queueFull.sum();
    }

    /** Returns the number of spans that the collector did not take. */
    public long failed() {
        return failed.sum();
    }

    /** Adds the counts to the metrics of the proxy. */
    void bindTo(MetricsRegistry metrics) {
        metrics.supplyCounter(MetricFamily.TRACES_SPANS, exported::sum, "exported");
        metrics.supplyCounter(MetricFamily.TRACES_SPANS, queueFull::sum, "queue_full");
        metrics.supplyCounter(MetricFamily.TRACES_SPANS, failed::sum, "failed");
        metrics.supplyGauge(MetricFamily.TRACES_UP, () -> isUp ? 1 : 0);
    }
}
