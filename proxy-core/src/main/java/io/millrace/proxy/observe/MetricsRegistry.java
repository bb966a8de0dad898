package io.millrace.proxy.observe;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmInfoMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.netty4.NettyAllocatorMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.millrace.proxy.observe.host.HostFigures;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The registry of all metrics of one proxy, which returns them as Prometheus text. The metrics are the counters of the
 * event loops, values that other components supply at each scrape, and the usual metrics of JVM and process. Each
 * series has the label {@code application="millrace"}, by which common JVM dashboards select an application.
 *
 * <p>Thread-safe: a scrape sums the loops' counters without stopping the loops.
 */
public final class MetricsRegistry implements AutoCloseable {
    static final String APPLICATION = "millrace";

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(new BucketExemplars());
    private final List<LoopCounters> loops = new CopyOnWriteArrayList<>();
    private final HostFigures hosts = new HostFigures(System::nanoTime);

    /**
     * The suppliers of counter series. This map keeps them from garbage collection, because Micrometer's
     * FunctionCounter holds its supplier by a weak reference only.
     */
    private final Map<Meter.Id, DoubleSupplier> sources = new ConcurrentHashMap<>();

    /** The number of the latest scrape. */
    private final AtomicLong scrapes = new AtomicLong();

    private final JvmGcMetrics gcMetrics = new JvmGcMetrics();
    private final @Nullable ApplicationMeters application;

    /** A metric with one series for each host. */
    private record HostMetric(MetricFamily family, ToLongFunction<HostFigures.Row> figure) {
        Map<String, Double> valuesOf(HostFigures.Report report) {
            Map<String, Double> values = new HashMap<>();
            if (report.hostsMax() > 0) {
                report.hosts().forEach(row -> values.put(row.host(), (double) figure.applyAsLong(row)));
                values.put(report.other().host(), (double) figure.applyAsLong(report.other()));
            }
            return values;
        }
    }

    private static final List<HostMetric> HOST_METRICS = List.of(
            new HostMetric(MetricFamily.HOST_REQUESTS, HostFigures.Row::requests),
            new HostMetric(MetricFamily.HOST_HITS, HostFigures.Row::hits),
            new HostMetric(MetricFamily.HOST_MISSES, HostFigures.Row::misses),
            new HostMetric(MetricFamily.HOST_ERRORS, HostFigures.Row::errors),
            new HostMetric(MetricFamily.HOST_SENT_BYTES, HostFigures.Row::sentBytes));

    /** Micrometer's defaults, but without exemplars of counts: Prometheus 2 refuses a scrape with such exemplars. */
    private static final class BucketExemplars implements PrometheusConfig {
        @Override
        public @Nullable String get(String key) {
            return null;
        }

        @Override
        public Properties prometheusProperties() {
            Properties properties = new Properties();
            properties.setProperty("io.prometheus.exporter.exemplarsOnAllMetricTypes", "false");
            return properties;
        }
    }

    /** Creates a registry with all loop counters at 0 and the metrics of the JVM. */
    public MetricsRegistry() {
        this(null);
    }

    /**
     * Creates a registry whose metrics, except the metrics of JVM and allocator, are also meters of an application.
     *
     * @param application closed with this registry; null for none
     */
    public MetricsRegistry(@Nullable ApplicationMeters application) {
        this.application = application;
        registry.config().commonTags("application", APPLICATION);
        for (Counter counter : Counter.values()) {
            register(counter);
        }
        supplyHistogram(MetricFamily.REQUEST_DURATION, requestDurationSeries());
        supplyHistogram(
                OriginMetric.REQUEST_DURATION,
                List.of(new HistogramCollector.Series(List.of(), loops, LoopCounters::originRequestDuration)));
        supplyNamedCounts(MetricFamily.FILTER_DENIED_REQUESTS, LoopCounters::filterDenials);
        supplyNamedCounts(ExtensionMetric.SPLIT_REQUESTS, LoopCounters::splitRequests);
        supplyNamedCounts(MetricFamily.LIMITED_REQUESTS, LoopCounters::limitedRequests);
        supplyNamedCounts(MetricFamily.LIMITED_IN_DRY_RUN, LoopCounters::limitedInDryRun);
        supplyHosts();
        bindProcess();
    }

    private void supplyHistogram(Metric family, List<HistogramCollector.Series> series) {
        registry.getPrometheusRegistry().register(new HistogramCollector(family, series));
        if (application != null) {
            for (HistogramCollector.Series one : series) {
                application.histogram(
                        family, one, tags(family, one.labelValues().toArray(String[]::new)));
            }
        }
    }

    private void supplyNamedCounts(Metric family, Function<LoopCounters, NamedCounts> counts) {
        Supplier<Map<String, Double>> values = () -> sums(counts);
        registry.getPrometheusRegistry().register(new NamedCountsCollector(family, values));
        if (application != null) {
            application.named(family, values);
        }
    }

    /** One report serves all figures of a scrape, so that they agree with each other. */
    private void supplyHosts() {
        registry.getPrometheusRegistry().register((MultiCollector) () -> {
            HostFigures.Report report = hosts.report();
            return new MetricSnapshots(HOST_METRICS.stream()
                    .<MetricSnapshot>map(each -> NamedCountsCollector.snapshot(each.family(), each.valuesOf(report)))
                    .toList());
        });
        if (application != null) {
            for (HostMetric each : HOST_METRICS) {
                application.named(each.family(), () -> each.valuesOf(hosts.report()));
            }
        }
    }

    /** The figures of the hosts with most requests. */
    public HostFigures hosts() {
        return hosts;
    }

    private Map<String, Double> sums(Function<LoopCounters, NamedCounts> counts) {
        Map<String, Long> sums = new HashMap<>();
        for (LoopCounters loop : loops) {
            counts.apply(loop).addTo(sums);
        }
        Map<String, Double> values = new HashMap<>();
        sums.forEach((name, sum) -> values.put(name, sum.doubleValue()));
        return values;
    }

    /** Returns true if the metrics are also meters of an application; then {@link #refresh} must run regularly. */
    public boolean isMirrored() {
        return application != null;
    }

    /** Adds and removes the application's meters whose label values change. Do not call it on an event loop. */
    public void refresh() {
        if (application != null) {
            application.refresh();
        }
    }

    private void register(Counter counter) {
        switch (counter.family().kind()) {
            case COUNTER -> supplyCounter(counter.family(), () -> total(counter), labels(counter));
            case GAUGE -> supplyGauge(counter.family(), () -> total(counter), labels(counter));
            case HISTOGRAM -> throw new IllegalStateException(counter + " cannot be a series of a histogram");
        }
    }

    private static String[] labels(Counter counter) {
        return counter.labelValues().toArray(String[]::new);
    }

    private List<HistogramCollector.Series> requestDurationSeries() {
        CacheResult.ServedFrom[] places = CacheResult.ServedFrom.values();
        HistogramCollector.Series[] series = new HistogramCollector.Series[places.length];
        for (CacheResult.ServedFrom place : places) {
            series[place.index()] =
                    new HistogramCollector.Series(List.of(place.word()), loops, loop -> loop.requestDuration(place));
        }
        return List.of(series);
    }

    private void bindProcess() {
        new JvmInfoMetrics().bindTo(registry);
        new JvmMemoryMetrics().bindTo(registry);
        gcMetrics.bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ClassLoaderMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        new UptimeMetrics().bindTo(registry);
        new FileDescriptorMetrics().bindTo(registry);
    }

    /** Creates the counters of one event loop. All later scrapes include them. Call once per loop. */
    public LoopCounters newLoopCounters() {
        LoopCounters counters = new LoopCounters(hosts.newLoop());
        loops.add(counters);
        return counters;
    }

    /** Returns the sum of one counter over all loops. */
    public long total(Counter counter) {
        long total = 0;
        for (LoopCounters loop : loops) {
            total += loop.value(counter);
        }
        return total;
    }

    /** Returns the sum of all series of one family over all loops. */
    public long total(Metric family) {
        long total = 0;
        for (Counter counter : Counter.values()) {
            if (counter.family() == family) {
                total += total(counter);
            }
        }
        return total;
    }

    /**
     * Adds a counter series whose value is queried at each scrape.
     *
     * @param value called on the scraping thread; must not block
     * @param labelValues one for each label of the family
     */
    public void supplyCounter(Metric family, LongSupplier value, String... labelValues) {
        supply(family, value::getAsLong, labelValues);
    }

    /**
     * Adds a counter series of seconds, with fractions, whose value is queried at each scrape.
     *
     * @param nanos called on the scraping thread; must not block
     * @param labelValues one for each label of the family
     */
    public void supplySeconds(Metric family, LongSupplier nanos, String... labelValues) {
        supply(family, () -> nanos.getAsLong() / ApplicationMeters.NANOS_PER_SECOND, labelValues);
    }

    private void supply(Metric family, DoubleSupplier value, String... labelValues) {
        requireKind(family, Metric.Kind.COUNTER);
        FunctionCounter series = FunctionCounter.builder(family.metricName(), value, DoubleSupplier::getAsDouble)
                .description(family.description())
                .tags(tags(family, labelValues))
                .register(registry);
        // If the series exists already, it keeps its first supplier.
        sources.putIfAbsent(series.getId(), value);
        if (application != null) {
            application.counter(family, value, tags(family, labelValues));
        }
    }

    /**
     * Adds a gauge series whose value is queried at each scrape.
     *
     * @param value called on the scraping thread; must not block
     * @param labelValues one for each label of the family
     */
    public void supplyGauge(Metric family, DoubleSupplier value, String... labelValues) {
        requireKind(family, Metric.Kind.GAUGE);
        Gauge.builder(family.metricName(), value, DoubleSupplier::getAsDouble)
                .strongReference(true)
                .description(family.description())
                .tags(tags(family, labelValues))
                .register(registry);
        if (application != null) {
            application.gauge(family, value, tags(family, labelValues));
        }
    }

    /**
     * Adds all series of a gauge with one label. The map from label values to gauge values is queried at each scrape.
     */
    public void supplyNamedGauges(Metric family, Supplier<Map<String, Double>> values) {
        requireKind(family, Metric.Kind.GAUGE);
        registry.getPrometheusRegistry().register(new NamedGaugesCollector(family, values));
        if (application != null) {
            application.named(family, values);
        }
    }

    /** Removes a series, because the measured object no longer exists. */
    public void withdraw(Metric family, String... labelValues) {
        Meter meter = registry.find(family.metricName())
                .tags(tags(family, labelValues))
                .meter();
        if (meter != null) {
            registry.remove(meter);
            sources.remove(meter.getId());
        }
        if (application != null) {
            application.withdraw(family, tags(family, labelValues));
        }
    }

    /** Adds the metrics of a Netty allocator. */
    public void bindAllocator(ByteBufAllocatorMetricProvider allocator) {
        new NettyAllocatorMetrics(allocator).bindTo(registry);
    }

    /**
     * Returns a report that is made once for all series of a scrape. The series of a scrape thus agree with each other.
     * If the metrics are also meters of an application, each series makes its own report, because the application reads
     * the series one by one.
     *
     * @param report called on the scraping thread; must not block
     */
    public <T> Supplier<T> perScrape(Supplier<T> report) {
        return application != null ? report : new PerScrape<>(report, scrapes::get);
    }

    /** A report with the number of the scrape that made it. Thread-safe. */
    private static final class PerScrape<T> implements Supplier<T> {
        private record Made<T>(long scrape, T report) {}

        private final Supplier<T> source;
        private final LongSupplier scrapes;
        private volatile @Nullable Made<T> last;

        PerScrape(Supplier<T> source, LongSupplier scrapes) {
            this.source = source;
            this.scrapes = scrapes;
        }

        @Override
        public T get() {
            // Read before the report is made: a report is never older than the scrape that it belongs to.
            long scrape = scrapes.getAsLong();
            Made<T> made = last;
            if (made == null || made.scrape() != scrape) {
                made = new Made<>(scrape, source.get());
                last = made;
            }
            return made.report();
        }
    }

    /** Returns all metrics in the Prometheus text format 0.0.4. */
    public String prometheusText() {
        scrapes.incrementAndGet();
        return registry.scrape();
    }

    /** Returns all metrics in the OpenMetrics format 1.0.0, with exemplars. */
    public String openMetricsText() {
        scrapes.incrementAndGet();
        return registry.scrape("application/openmetrics-text; version=1.0.0; charset=utf-8");
    }

    private static void requireKind(Metric family, Metric.Kind kind) {
        if (family.kind() != kind) {
            throw new IllegalArgumentException(family + " is a " + family.kind() + ", not a " + kind);
        }
    }

    private static Tags tags(Metric family, String... labelValues) {
        List<String> labels = family.labels();
        if (labels.size() != labelValues.length) {
            throw new IllegalArgumentException(
                    family + " takes the labels " + labels + ", got " + labelValues.length + " values");
        }
        Tags tags = Tags.empty();
        for (int i = 0; i < labelValues.length; i++) {
            tags = tags.and(labels.get(i), labelValues[i]);
        }
        return tags;
    }

    /** Stops listening for garbage collections. The counters remain readable. */
    @Override
    public void close() {
        if (application != null) {
            application.close();
        }
        gcMetrics.close();
        registry.close();
    }
}
