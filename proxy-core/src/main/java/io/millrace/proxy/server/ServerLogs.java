package io.millrace.proxy.server;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.LogConfig;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.log.AccessLog;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.output.AccessLogs;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The access logs of one proxy: none, a single log, or a list of logs. A single log has one thread, which reads
 * the rings and writes the file. A list has a dispatcher thread, and a sender thread for each log. A reload cannot
 * change between these forms.
 *
 * <p>Thread-safe, except that {@link #apply} and {@link #close} must not run at the same time.
 */
public final class ServerLogs implements AutoCloseable {
    private final @Nullable AccessLog one;
    private final @Nullable AccessLogs several;

    private ServerLogs(@Nullable AccessLog one, @Nullable AccessLogs several) {
        this.one = one;
        this.several = several;
    }

    /**
     * Starts the logs of a configuration.
     *
     * @param faults receives failures of targets
     */
    public static ServerLogs start(ProxyConfig config, FaultLog faults) {
        LogConfig log = config.log();
        if (!log.accessLogs().isEmpty()) {
            return new ServerLogs(null, AccessLogs.start(log.accessLogs(), faults));
        }
        boolean isWritten = log.accessEnabled() && log.accessPath() != null;
        return new ServerLogs(isWritten ? AccessLog.start(LogConfigs.of(log), faults) : null, null);
    }

    /** Creates the ring of one event loop; null if there is no log. Call once per loop. */
    public @Nullable AccessLogRing loopRing() {
        if (several != null) {
            return several.loopRing();
        }
        return one == null ? null : one.loopRing();
    }

    /** Applies a changed list of logs. Other changes take effect in a new proxy only. */
    public void apply(ProxyConfig config) {
        if (several != null && !config.log().accessLogs().isEmpty()) {
            several.apply(config.log().accessLogs());
        }
    }

    /** Requests that each file is closed and opened again by its name. Does not block. */
    public void reopen() {
        if (one != null) {
            one.reopen();
        }
        if (several != null) {
            several.reopen();
        }
    }

    /** Returns the logs that cannot be written now, each with the reason. The name of the single log is "access". */
    public Map<String, String> failures() {
        if (several != null) {
            return several.failures();
        }
        String failure = one == null ? null : one.failure();
        return failure == null ? Map.of() : Map.of("access", failure);
    }

    /** Adds the counts to the metrics of the proxy. */
    public void bindTo(MetricsRegistry metrics) {
        if (one != null) {
            one.bindTo(metrics);
        }
        if (several != null) {
            several.bindTo(metrics);
        }
    }

    /** Writes the remaining lines and ends the threads. Blocks for at most 10 s. */
    @Override
    public void close() {
        if (one != null) {
            one.close();
        }
        if (several != null) {
            several.close();
        }
    }
}
