package io.millrace.proxy.admin.data;

import io.millrace.proxy.exchange.settings.WallClock;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.OriginMetric;
import io.millrace.proxy.origin.HostLoad;
import io.millrace.proxy.origin.OriginGroup;
import io.millrace.proxy.origin.OriginGroups;
import io.millrace.proxy.origin.OriginHost;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToLongFunction;

/** The metrics of each host of each group, which change with the configuration. Thread-safe. */
public final class OriginMetrics {
    private final MetricsRegistry metrics;
    private final WallClock clock;
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock. */
    private final Set<OriginHost> bound = new HashSet<>();

    public OriginMetrics(MetricsRegistry metrics, WallClock clock) {
        this.metrics = metrics;
        this.clock = clock;
    }

    /** Adds metrics for the hosts of these groups, and removes the metrics of all other hosts. */
    public void update(OriginGroups groups) {
        lock.lock();
        try {
            replace(groups);
        } finally {
            lock.unlock();
        }
    }

    private void replace(OriginGroups groups) {
        Set<OriginHost> present = new HashSet<>();
        for (OriginGroup group : groups.all()) {
            present.addAll(group.hosts());
        }
        bound.removeIf(host -> {
            boolean isGone = !present.contains(host);
            if (isGone) {
                withdraw(host);
            }
            return isGone;
        });
        for (OriginHost host : present) {
            if (bound.add(host)) {
                supply(host);
            }
        }
    }

    private void supply(OriginHost host) {
        String[] labels = {host.group(), host.toString()};
        metrics.supplyGauge(OriginMetric.HOST_UP, () -> host.health().isUp(clock.millis()) ? 1 : 0, labels);
        metrics.supplyGauge(OriginMetric.HOST_REQUESTS_ACTIVE, () -> sum(host, HostLoad::underWay), labels);
        metrics.supplyGauge(OriginMetric.HOST_LATENCY, () -> OriginAdmin.latencyNanos(host) / 1e9, labels);
        metrics.supplyCounter(OriginMetric.HOST_REQUESTS, () -> sum(host, HostLoad::requests), labels);
        metrics.supplyCounter(OriginMetric.HOST_FAILURES, () -> sum(host, HostLoad::failures), labels);
    }

    private void withdraw(OriginHost host) {
        String[] labels = {host.group(), host.toString()};
        metrics.withdraw(OriginMetric.HOST_UP, labels);
        metrics.withdraw(OriginMetric.HOST_REQUESTS_ACTIVE, labels);
        metrics.withdraw(OriginMetric.HOST_LATENCY, labels);
        metrics.withdraw(OriginMetric.HOST_REQUESTS, labels);
        metrics.withdraw(OriginMetric.HOST_FAILURES, labels);
    }

    private static long sum(OriginHost host, ToLongFunction<HostLoad> figure) {
        long sum = 0;
        for (HostLoad load : host.loads()) {
            sum += figure.applyAsLong(load);
        }
        return sum;
    }
}
