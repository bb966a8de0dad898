package io.millrace.proxy.server;

import io.millrace.proxy.extension.ExtensionSet;
import io.millrace.proxy.extension.FailureReason;
import io.millrace.proxy.extension.Hook;
import io.millrace.proxy.extension.HookFigures;
import io.millrace.proxy.extension.LoadedExtension;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import java.util.concurrent.TimeUnit;

/** Registers the metrics of extensions. Stateless. */
public final class ExtensionMetrics {
    private ExtensionMetrics() {}

    /** Adds the metrics of all extensions, and of the counters that they create now or later. */
    public static void bind(MetricsRegistry metrics, ExtensionSet extensions) {
        for (LoadedExtension extension : extensions.all()) {
            String name = extension.name();
            for (Hook hook : extension.hooks()) {
                HookFigures figures = extension.figures(hook);
                metrics.supplyCounter(MetricFamily.EXTENSION_CALLS, figures::calls, name, hook.label());
                metrics.supplyCounter(
                        MetricFamily.EXTENSION_SECONDS,
                        () -> TimeUnit.NANOSECONDS.toSeconds(figures.nanos()),
                        name,
                        hook.label());
                for (FailureReason reason : FailureReason.values()) {
                    metrics.supplyCounter(
                            MetricFamily.EXTENSION_FAILURES,
                            () -> figures.failures(reason),
                            name,
                            hook.label(),
                            reason.label());
                }
            }
            metrics.supplyGauge(MetricFamily.EXTENSION_CIRCUIT_OPEN, () -> extension.isCircuitOpen() ? 1 : 0, name);
        }
        extensions.onCounter(
                (name, counter, value) -> metrics.supplyCounter(MetricFamily.EXTENSION_COUNTER, value, name, counter));
    }
}
