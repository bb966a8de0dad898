package io.millrace.proxy.admin.status;

/** Source of the metrics. Thread-safe; never blocks. */
@FunctionalInterface
public interface MetricsSource {
    /** Returns all metrics in the Prometheus text format 0.0.4. */
    String prometheusText();
}
