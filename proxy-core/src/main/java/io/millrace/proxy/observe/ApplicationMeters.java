package io.millrace.proxy.observe;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/**
 * The metrics of one proxy in the Micrometer registry of the application that embeds it. The names are those of the
 * Prometheus text. A histogram becomes a timer with count and total, and one gauge for each bucket. The names of these
 * gauges end with {@code _histogram}, as Micrometer does for registries without histograms.
 *
 * <p>Thread-safe. The registry queries the values on its own threads. {@link #close} removes all meters.
 */
public final class ApplicationMeters implements AutoCloseable {
    private static final String TIMER_SUFFIX = "_seconds";
    static final double NANOS_PER_SECOND = 1e9;

    /** The tags of the open proxies, by registry. A registry would ignore a second meter of the same name and tags. */
    private static final Map<MeterRegistry, Set<Tags>> CLAIMS = new WeakHashMap<>();

    private static final ReentrantLock CLAIMS_LOCK = new ReentrantLock();

    private final MeterRegistry registry;
    private final Tags tags;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Meter.Id, Meter> meters = new HashMap<>();

    /** The value objects of the meters, to which Micrometer has weak references only. */
    private final Map<Meter.Id, Object> sources = new HashMap<>();

    private final List<DynamicMetric> dynamicMetrics = new ArrayList<>();
    private boolean closed;

    /**
     * Creates an empty set. Each metric that the proxy registers adds its meters.
     *
     * @throws IllegalStateException if an open proxy has the same registry and the same tags
     */
    public ApplicationMeters(MeterRegistry registry, Tags tags) {
        this.registry = registry;
        this.tags = tags;
        CLAIMS_LOCK.lock();
        try {
            if (!CLAIMS.computeIfAbsent(registry, key -> new HashSet<>()).add(tags)) {
                throw new IllegalStateException("another proxy has meters with the tags " + tags
                        + " in this registry; pass tags that distinguish the proxies, such as \"proxy\", \"1\"");
            }
        } finally {
            CLAIMS_LOCK.unlock();
        }
    }

    /** A metric whose label values are not known in advance. */
    private record DynamicMetric(Metric family, Supplier<Map<String, Double>> values, Map<String, Meter.Id> series) {}

    void counter(Metric family, DoubleSupplier value, Tags labels) {
        add(
                FunctionCounter.builder(family.metricName(), value, DoubleSupplier::getAsDouble)
                        .description(family.description())
                        .tags(tags.and(labels))
                        .register(registry),
                value);
    }

    void gauge(Metric family, DoubleSupplier value, Tags labels) {
        gauge(family.metricName(), family.description(), value, labels);
    }

    private Meter.Id gauge(String name, String description, DoubleSupplier value, Tags labels) {
        return add(
                Gauge.builder(name, value, DoubleSupplier::getAsDouble)
                        .description(description)
                        .tags(tags.and(labels))
                        .register(registry),
                value);
    }

    /** Adds one series of a histogram. */
    void histogram(Metric family, HistogramCollector.Series series, Tags labels) {
        String name = family.metricName();
        String base = name.endsWith(TIMER_SUFFIX) ? name.substring(0, name.length() - TIMER_SUFFIX.length()) : name;
        add(
                FunctionTimer.builder(
                                base,
                                series,
                                each -> each.cumulative(LatencyHistogram.bucketCount() - 1),
                                HistogramCollector.Series::sumNanos,
                                TimeUnit.NANOSECONDS)
                        .description(family.description())
                        .tags(tags.and(labels))
                        .register(registry),
                series);
        for (int i = 0; i < LatencyHistogram.bucketCount(); i++) {
            int bucket = i;
            long bound = LatencyHistogram.boundNanos(i);
            String le = bound == Long.MAX_VALUE ? "+Inf" : Double.toString(bound / NANOS_PER_SECOND);
            gauge(name + "_histogram", family.description(), () -> series.cumulative(bucket), labels.and("le", le));
        }
    }

    /** Adds a metric with one label whose values change. {@link #refresh} adds and removes the series of the values. */
    void named(Metric family, Supplier<Map<String, Double>> values) {
        lock.lock();
        try {
            dynamicMetrics.add(new DynamicMetric(family, values, new HashMap<>()));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds series for new label values, and removes the series of absent label values. Called regularly, not on an
     * event loop.
     */
    void refresh() {
        lock.lock();
        try {
            if (!closed) {
                dynamicMetrics.forEach(this::refresh);
            }
        } finally {
            lock.unlock();
        }
    }

    private void refresh(DynamicMetric metric) {
        Set<String> present = metric.values().get().keySet();
        for (String value : present) {
            if (!metric.series().containsKey(value)) {
                metric.series().put(value, add(metric, value));
            }
        }
        metric.series().entrySet().removeIf(each -> {
            boolean gone = !present.contains(each.getKey());
            if (gone) {
                remove(each.getValue());
            }
            return gone;
        });
    }

    private Meter.Id add(DynamicMetric metric, String value) {
        Metric family = metric.family();
        Tags labels = Tags.of(family.labels().get(0), value);
        DoubleSupplier current = () -> metric.values().get().getOrDefault(value, Double.NaN);
        if (family.kind() == Metric.Kind.GAUGE) {
            return gauge(family.metricName(), family.description(), current, labels);
        }
        return add(
                FunctionCounter.builder(family.metricName(), current, DoubleSupplier::getAsDouble)
                        .description(family.description())
                        .tags(tags.and(labels))
                        .register(registry),
                current);
    }

    /** Removes the meters of a metric with these label values. */
    void withdraw(Metric family, Tags labels) {
        Tags requiredTags = tags.and(labels);
        lock.lock();
        try {
            List<Meter.Id> gone = new ArrayList<>();
            for (Meter.Id id : meters.keySet()) {
                // The registry may have added tags that are common to all of its meters.
                if (id.getName().equals(family.metricName())
                        && id.getTags().containsAll(requiredTags.stream().toList())) {
                    gone.add(id);
                }
            }
            gone.forEach(this::remove);
        } finally {
            lock.unlock();
        }
    }

    private Meter.Id add(Meter meter, Object source) {
        lock.lock();
        try {
            meters.put(meter.getId(), meter);
            sources.putIfAbsent(meter.getId(), source);
            return meter.getId();
        } finally {
            lock.unlock();
        }
    }

    private void remove(Meter.Id id) {
        Meter meter = meters.remove(id);
        if (meter != null) {
            registry.remove(meter);
            sources.remove(id);
        }
    }

    /** Removes all meters of this proxy from the registry, which stays open. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            meters.values().forEach(registry::remove);
            meters.clear();
            sources.clear();
        } finally {
            lock.unlock();
        }
        CLAIMS_LOCK.lock();
        try {
            Set<Tags> claimed = CLAIMS.get(registry);
            if (claimed != null) {
                claimed.remove(tags);
            }
        } finally {
            CLAIMS_LOCK.unlock();
        }
    }
}
