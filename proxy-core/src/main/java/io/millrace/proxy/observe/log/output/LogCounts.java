package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** The counters of one access log. The counts continue when the settings of the log change. Thread-safe. */
final class LogCounts {
    private final String name;
    private final LongAdder written = new LongAdder();
    private final LongAdder dropped = new LongAdder();
    private final LongAdder filtered = new LongAdder();
    private final LongAdder sampledOut = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder errors = new LongAdder();
    /** Reason of the last failed attempt; null while the target works. */
    private volatile @Nullable String failure;

    LogCounts(String name) {
        this.name = name;
    }

    /** Counts lines and bytes that were written to the target. */
    void wrote(long lines, long byteCount) {
        written.add(lines);
        bytes.add(byteCount);
    }

    /** Counts lines that were lost. */
    void lost(long lines) {
        dropped.add(lines);
    }

    void filtered() {
        filtered.increment();
    }

    void sampledOut() {
        sampledOut.increment();
    }

    /** Counts a failed attempt to open or write the target. */
    void failed(String reason) {
        errors.increment();
        failure = reason;
    }

    /** Records that the target works. */
    void works() {
        if (failure != null) {
            failure = null;
        }
    }

    long written() {
        return written.sum();
    }

    long dropped() {
        return dropped.sum();
    }

    long errors() {
        return errors.sum();
    }

    boolean isFailing() {
        return failure != null;
    }

    /** Returns the reason why the target cannot be written; null while it works. */
    @Nullable
    String failure() {
        return failure;
    }

    void bindTo(MetricsRegistry metrics) {
        metrics.supplyCounter(MetricFamily.LOG_LINES, written::sum, name, "written");
        metrics.supplyCounter(MetricFamily.LOG_LINES, dropped::sum, name, "dropped");
        metrics.supplyCounter(MetricFamily.LOG_LINES, filtered::sum, name, "filtered");
        metrics.supplyCounter(MetricFamily.LOG_LINES, sampledOut::sum, name, "sampled_out");
        metrics.supplyCounter(MetricFamily.LOG_BYTES, bytes::sum, name);
        metrics.supplyCounter(MetricFamily.LOG_ERRORS, errors::sum, name);
        metrics.supplyGauge(MetricFamily.LOG_UP, () -> isFailing() ? 0 : 1, name);
    }

    void withdrawFrom(MetricsRegistry metrics) {
        metrics.withdraw(MetricFamily.LOG_LINES, name, "written");
        metrics.withdraw(MetricFamily.LOG_LINES, name, "dropped");
        metrics.withdraw(MetricFamily.LOG_LINES, name, "filtered");
        metrics.withdraw(MetricFamily.LOG_LINES, name, "sampled_out");
        metrics.withdraw(MetricFamily.LOG_BYTES, name);
        metrics.withdraw(MetricFamily.LOG_ERRORS, name);
        metrics.withdraw(MetricFamily.LOG_UP, name);
    }
}
