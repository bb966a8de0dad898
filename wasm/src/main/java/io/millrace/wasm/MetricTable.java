package io.millrace.wasm;

import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.ExtensionCounter;
import io.millrace.wasm.abi.ModuleLog;
import io.millrace.wasm.abi.Status;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The metrics that modules of one extension have defined. A counter is exported as a counter of the extension. A
 * histogram is exported as two counters, for the number and the sum of its values. A gauge is not exported. Thread-safe.
 */
final class MetricTable {
    /** Kinds as in the ABI. */
    static final int COUNTER = 0;

    static final int GAUGE = 1;
    static final int HISTOGRAM = 2;

    /** Limit of metrics. */
    private static final int METRICS_MAX = 100;

    /** @param exported the counter of the proxy; null for a gauge */
    private record Metric(
            int kind,
            AtomicLong value,
            @Nullable ExtensionCounter exported,
            @Nullable ExtensionCounter sum) {}

    private final ExtensionContext context;
    private final ModuleLog log;
    private final Lock lock = new ReentrantLock();
    private final Map<String, Integer> numbers = new HashMap<>();
    private final List<Metric> metrics = new ArrayList<>();

    MetricTable(ExtensionContext context, ModuleLog log) {
        this.context = context;
        this.log = log;
    }

    /**
     * Defines a metric. Returns its number, which is the same for each definition of the name. Returns a negative
     * {@link Status} if the metric cannot be defined.
     */
    int define(int kind, String name) {
        lock.lock();
        try {
            Integer known = numbers.get(name);
            if (known != null) {
                return metrics.get(known).kind() == kind ? known : -Status.BAD_ARGUMENT;
            }
            if (kind < COUNTER || kind > HISTOGRAM || name.isEmpty()) {
                return -Status.BAD_ARGUMENT;
            }
            if (metrics.size() >= METRICS_MAX) {
                return -Status.INTERNAL_FAILURE;
            }
            Metric created = create(kind, name);
            numbers.put(name, metrics.size());
            metrics.add(created);
            return metrics.size() - 1;
        } catch (IllegalArgumentException | IllegalStateException e) {
            log.onceFor("metric", "a metric cannot be defined (" + e.getMessage() + ")", name);
            return -Status.INTERNAL_FAILURE;
        } finally {
            lock.unlock();
        }
    }

    private Metric create(int kind, String name) {
        String exported = name.replaceAll("[^A-Za-z0-9_]", "_");
        return switch (kind) {
            case COUNTER -> new Metric(kind, new AtomicLong(), context.counter(exported), null);
            case HISTOGRAM ->
                new Metric(
                        kind,
                        new AtomicLong(),
                        context.counter(exported + "_count"),
                        context.counter(exported + "_sum"));
            default -> {
                log.onceFor("gauge", "a gauge is not exported, because the proxy has no gauges for extensions", name);
                yield new Metric(kind, new AtomicLong(), null, null);
            }
        };
    }

    private @Nullable Metric metric(int number) {
        lock.lock();
        try {
            return number < 0 || number >= metrics.size() ? null : metrics.get(number);
        } finally {
            lock.unlock();
        }
    }

    /** Changes a counter or a gauge. A counter cannot be decreased. */
    int increment(int number, long by) {
        Metric metric = metric(number);
        if (metric == null) {
            return Status.NOT_FOUND;
        }
        if (metric.kind() == HISTOGRAM || (metric.kind() == COUNTER && by < 0)) {
            return Status.BAD_ARGUMENT;
        }
        metric.value().addAndGet(by);
        if (metric.exported() != null) {
            metric.exported().add(by);
        }
        return Status.OK;
    }

    /** Sets a gauge, or adds a value to a histogram. */
    int record(int number, long value) {
        Metric metric = metric(number);
        if (metric == null) {
            return Status.NOT_FOUND;
        }
        if (metric.kind() == COUNTER) {
            return Status.BAD_ARGUMENT;
        }
        metric.value().set(value);
        if (metric.exported() != null && metric.sum() != null) {
            metric.exported().increment();
            metric.sum().add(Math.max(0, value));
        }
        return Status.OK;
    }

    /** Returns the value of a counter or gauge; null if there is none. */
    @Nullable
    Long value(int number) {
        Metric metric = metric(number);
        return metric == null || metric.kind() == HISTOGRAM
                ? null
                : metric.value().get();
    }
}
