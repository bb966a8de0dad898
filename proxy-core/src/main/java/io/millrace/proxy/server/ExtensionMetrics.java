package io.millrace.proxy.server;

import io.millrace.proxy.extension.ExtensionSet;
import io.millrace.proxy.extension.FailureReason;
import io.millrace.proxy.extension.Hook;
import io.millrace.proxy.extension.HookStatistics;
import io.millrace.proxy.extension.LoadedExtension;
import io.millrace.proxy.observe.ExtensionMetric;
import io.millrace.proxy.observe.MetricsRegistry;

/** Registers the metrics of extensions. Stateless. */
public final class ExtensionMetrics {
    private ExtensionMetrics() {}

    /** Adds the metrics of all extensions, and of the counters that they create now or later. */
    public static void bind(MetricsRegistry metrics, ExtensionSet extensions) {
        for (LoadedExtension extension : extensions.all()) {
            String name = extension.name();
            for (Hook hook : extension.hooks()) {
                HookStatistics figures = extension.figures(hook);
                metrics.supplyCounter(ExtensionMetric.CALLS, figures::calls, name, hook.label());
                metrics.supplySeconds(ExtensionMetric.SECONDS, figures::nanos, name, hook.label());
                for (FailureReason reason : FailureReason.values()) {
                    metrics.supplyCounter(
                            ExtensionMetric.FAILURES,
                            () -> figures.failures(reason),
                            name,
                            hook.label(),
                            reason.label());
                }
            }
            metrics.supplyGauge(ExtensionMetric.CIRCUIT_OPEN, () -> extension.isCircuitOpen() ? 1 : 0, name);
        }
        extensions.onCounter(
                (name, counter, value) -> metrics.supplyCounter(ExtensionMetric.COUNTER, value, name, counter));
    }
}
