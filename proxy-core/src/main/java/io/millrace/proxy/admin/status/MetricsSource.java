package io.millrace.proxy.admin.status;

/** Has the metrics. Thread-safe; never blocks. */
@FunctionalInterface
public interface MetricsSource {
    /** All metrics in the Prometheus text format 0.0.4. */
    String prometheusText();
}
