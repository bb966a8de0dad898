package io.millrace.launcher.config;

import io.millrace.proxy.admin.status.ProxyStatus;
import io.millrace.proxy.observe.MetricFamily;
import java.util.Locale;

/** The launcher's metrics about configuration reloads. Thread-safe. */
public final class ConfigMetrics {
    private final RunningConfig running;

    /** Creates the metrics of {@code running}. There are none until a configuration is in force. */
    public ConfigMetrics(RunningConfig running) {
        this.running = running;
    }

    /** Returns the metrics in Prometheus' text format. */
    public String prometheusText() {
        if (!running.hasBegun()) {
            return "";
        }
        ProxyStatus.LastReload last = running.lastReload();
        return gauge(MetricFamily.CONFIG_LAST_RELOAD_SUCCESSFUL, last == null || last.ok() ? 1 : 0)
                + gauge(MetricFamily.CONFIG_LAST_RELOAD_TIME, running.loadedAt().toEpochMilli() / 1e3);
    }

    private static String gauge(MetricFamily family, double value) {
        String name = family.metricName();
        return "# HELP " + name + " " + family.description() + "\n# TYPE " + name + " gauge\n" + name
                + "{application=\"millrace\"} " + String.format(Locale.ROOT, "%.3f", value) + "\n";
    }
}
