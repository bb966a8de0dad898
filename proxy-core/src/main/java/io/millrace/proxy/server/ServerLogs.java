package io.millrace.proxy.server;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.LogConfig;
import io.millrace.proxy.config.key.TraceKeys;
import io.millrace.proxy.extension.ExtensionSet;
import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.log.AccessLog;
import io.millrace.proxy.observe.log.AccessLogConfig;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.live.LiveLog;
import io.millrace.proxy.observe.log.live.LoopLogs;
import io.millrace.proxy.observe.log.output.AccessLogs;
import io.millrace.proxy.observe.log.output.LogDestination;
import io.millrace.proxy.observe.log.output.LogOutputConfig;
import io.millrace.proxy.observe.trace.SpanExport;
import io.millrace.proxy.observe.trace.Traces;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The logs of one proxy: its access logs, the live log of its admin API, and its traces. There is no access log, a
 * single one, or a list of them. A single log has one thread, which reads the rings and writes the file. A list has a
 * dispatcher thread, and a sender thread for each log. If an extension receives access records, the proxy treats a
 * single log as a list with one log. A reload cannot change one of these three cases to another.
 *
 * <p>Thread-safe, except that {@link #apply} and {@link #close} must not run at the same time.
 */
public final class ServerLogs implements AutoCloseable {
    /** The access log if there is only one; null if there is none, or if {@link #logList} has it. */
    private final @Nullable AccessLog singleLog;
    /** The access logs, with the extensions that receive records; null if there is no list and no such extension. */
    private final @Nullable AccessLogs logList;
    /** True if the configuration has a list of logs. */
    private final boolean isList;

    private final ExtensionSet extensions;
    private final @Nullable LiveLog live;
    private final @Nullable Traces traces;

    private ServerLogs(
            @Nullable AccessLog singleLog,
            @Nullable AccessLogs logList,
            boolean isList,
            ExtensionSet extensions,
            @Nullable LiveLog live,
            @Nullable Traces traces) {
        this.singleLog = singleLog;
        this.logList = logList;
        this.isList = isList;
        this.extensions = extensions;
        this.live = live;
        this.traces = traces;
    }

    /**
     * Starts the logs of a configuration.
     *
     * @param hasViewers whether there is an admin API, which shows the live log
     * @param spans opens the receivers of spans; null for none
     * @param extensions the open extensions, which may receive access records
     * @param faults receives failures of targets
     */
    public static ServerLogs start(
            ProxyConfig config,
            boolean hasViewers,
            @Nullable SpanExport spans,
            ExtensionSet extensions,
            FaultLog faults) {
        LogConfig log = config.log();
        Traces traces = spans == null ? null : Traces.of(spans, faults);
        LiveLog live = hasViewers ? LiveLog.start(log.live()) : null;
        if (!log.accessLogs().isEmpty() || !extensions.sinks().isEmpty()) {
            List<LogOutputConfig> outputs = LogConfigs.withSinks(LogConfigs.outputs(log), extensions.sinks());
            AccessLogs logList = AccessLogs.start(outputs, faults, extensions::sink);
            return new ServerLogs(null, logList, !log.accessLogs().isEmpty(), extensions, live, traces);
        }
        AccessLogConfig single = LogConfigs.single(log);
        return new ServerLogs(
                single == null ? null : AccessLog.start(single, faults), null, false, extensions, live, traces);
    }

    /**
     * Checks the targets of logs before anything is opened.
     *
     * @throws IOException if a log has an extension as target that does not receive access records
     */
    public static void checkSinks(ProxyConfig config, ExtensionSet extensions) throws IOException {
        for (LogOutputConfig log : config.log().accessLogs()) {
            if (log.destination() instanceof LogDestination.ToExtension to
                    && !extensions.sinks().contains(to.name())) {
                throw new IOException("log.access: " + log.name() + ": no extension named " + to.name()
                        + " implements AccessLogSink; extensions that implement it: " + extensions.sinks());
            }
        }
    }

    /** Creates the logs of one event loop. Call once per loop. */
    public LoopLogs loopLogs() {
        return new LoopLogs(loopRing(), live == null ? null : live.newLoop(), traces == null ? null : traces.newLoop());
    }

    /** Returns the live log; null without an admin API. */
    public @Nullable LiveLog live() {
        return live;
    }

    private @Nullable AccessLogRing loopRing() {
        if (logList != null) {
            return logList.loopRing();
        }
        return singleLog == null ? null : singleLog.loopRing();
    }

    /**
     * Applies the settings of traces. The first call starts the traces. It must follow the last call of
     * {@link #loopLogs}.
     */
    public void startTraces(ProxyConfig config) {
        if (traces != null) {
            traces.apply(TraceKeys.configOf(config.values()));
        }
    }

    /**
     * Applies changed settings of a list of logs, of the live log and of traces. Other changes take effect in a new
     * proxy only.
     */
    public void apply(ProxyConfig config) {
        if (live != null) {
            live.apply(config.log().live());
        }
        startTraces(config);
        if (logList != null && isList && !config.log().accessLogs().isEmpty()) {
            logList.apply(LogConfigs.withSinks(config.log().accessLogs(), extensions.sinks()));
        }
    }

    /** Requests that each file is closed and opened again by its name. Does not block. */
    public void reopen() {
        if (singleLog != null) {
            singleLog.reopen();
        }
        if (logList != null) {
            logList.reopen();
        }
    }

    /** Returns the logs that cannot be written now, each with the reason. The name of the single log is "access". */
    public Map<String, String> failures() {
        if (logList != null) {
            return logList.failures();
        }
        String failure = singleLog == null ? null : singleLog.failure();
        return failure == null ? Map.of() : Map.of(LogConfigs.SINGLE_NAME, failure);
    }

    /** Adds the counts to the metrics of the proxy. */
    public void bindTo(MetricsRegistry metrics) {
        if (live != null) {
            live.bindTo(metrics);
        }
        if (traces != null) {
            traces.bindTo(metrics);
        }
        if (singleLog != null) {
            singleLog.bindTo(metrics);
        }
        if (logList != null) {
            logList.bindTo(metrics);
        }
    }

    /**
     * Writes the remaining lines and ends the threads. Blocks for at most 16 s: 1 s for the live log, 5 s for traces,
     * 10 s for the access logs.
     */
    @Override
    public void close() {
        if (live != null) {
            live.close();
        }
        if (traces != null) {
            traces.close();
        }
        if (singleLog != null) {
            singleLog.close();
        }
        if (logList != null) {
            logList.close();
        }
    }
}
