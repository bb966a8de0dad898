package io.millrace.proxy.admin.status;

/** Source of the metrics. Thread-safe; never blocks. */
@FunctionalInterface
public interface MetricsSource {
    /** Returns all metrics in one text format. */
    String text();
}
