package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.log.AccessLogConfig;
import io.millrace.proxy.observe.log.AccessLogFormat;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.FileTarget;
import io.millrace.proxy.observe.log.LogCapture;
import io.millrace.proxy.observe.log.LogTarget;
import io.millrace.proxy.observe.log.LogTemplateException;
import io.millrace.proxy.observe.log.StandardOutputTarget;
import io.millrace.proxy.observe.log.target.LineHead;
import io.millrace.proxy.observe.log.target.MessageTarget;
import io.millrace.proxy.observe.log.target.SyslogHead;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All configured access logs of a proxy. Event loops write each record only once, even if there are several logs.
 * One {@link LogDispatcher} thread passes the records to the logs.
 *
 * <p>{@link #apply} and {@link #close} must not run at the same time; the other methods are thread-safe.
 */
public final class AccessLogs implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(AccessLogs.class);

    /** Time limit for the last lines of all logs. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Supplies the targets of extensions. */
    @FunctionalInterface
    public interface ExtensionTargets {
        /** For a proxy without extensions: refuses each name. */
        ExtensionTargets NONE = (extension, sampleRate) -> {
            throw new IllegalArgumentException("there is no extension " + extension);
        };

        /**
         * Returns a new target for one log.
         *
         * @param extension name of the extension; in a proxy with extensions, an unknown name gets a target that cannot
         *     be opened
         * @param sampleRate the number N of a log that contains one of every N requests
         * @throws IllegalArgumentException for each name, if there are no extensions ({@link #NONE})
         */
        LogTarget of(String extension, int sampleRate);
    }

    private final FaultLog faults;
    private final ExtensionTargets extensionTargets;
    private final LongSupplier epochMillis;
    private final String hostName;
    private final List<AccessLogRing> rings = new CopyOnWriteArrayList<>();
    private final LongAdder dispatched = new LongAdder();
    /** Senders of removed logs, which may still write their last lines. */
    private final List<LogSender> retired = new ArrayList<>();

    private List<LogCapture> captures = List.of();
    private boolean showsTls;
    private volatile LogDispatcher dispatcher;
    private @Nullable MetricsRegistry metrics;

    private AccessLogs(FaultLog faults, ExtensionTargets extensionTargets, LongSupplier epochMillis, String hostName) {
        this.faults = faults;
        this.extensionTargets = extensionTargets;
        this.epochMillis = epochMillis;
        this.hostName = hostName;
        dispatcher = new LogDispatcher(rings, List.of(), dispatched, faults);
    }

    /**
     * Starts the logs. Does not fail: if a target cannot be opened, the fault is reported and opening is retried
     * later.
     *
     * @param logs the settings of the logs, which must have different names
     * @param faults receives failures
     * @param extensionTargets supplies the targets of extensions
     */
    public static AccessLogs start(List<LogOutputConfig> logs, FaultLog faults, ExtensionTargets extensionTargets) {
        return start(logs, faults, extensionTargets, System::currentTimeMillis, SyslogHead.hostName());
    }

    static AccessLogs start(
            List<LogOutputConfig> logs,
            FaultLog faults,
            ExtensionTargets extensionTargets,
            LongSupplier epochMillis,
            String hostName) {
        AccessLogs started = new AccessLogs(faults, extensionTargets, epochMillis, hostName);
        started.replace(logs);
        return started;
    }

    /** Creates the ring of one event loop. Call once per loop, before {@link #apply}. */
    public AccessLogRing loopRing() {
        AccessLogRing ring = new AccessLogRing(AccessLogConfig.DEFAULT_RING_BYTES, captures, showsTls);
        rings.add(ring);
        return ring;
    }

    /**
     * Applies changed settings. A log with the same name and destination keeps its queue and its connection. Counts
     * continue for each log whose name stays. Does not wait for removed logs to write their last lines.
     */
    public void apply(List<LogOutputConfig> logs) {
        if (!logs.equals(configs())) {
            dispatcher.stop();
            replace(logs);
        }
    }

    private List<LogOutputConfig> configs() {
        return dispatcher.outputs().stream().map(LogOutput::config).toList();
    }

    private void replace(List<LogOutputConfig> logs) {
        List<LogOutput> before = dispatcher.outputs();
        captures = capturesOf(logs);
        showsTls = logs.stream().anyMatch(LogOutputConfig::showsTls);
        List<LogOutput> after = new ArrayList<>();
        for (LogOutputConfig log : logs) {
            after.add(output(log, before));
        }
        for (AccessLogRing ring : rings) {
            ring.setOptionalTexts(captures, showsTls);
        }
        dispatcher = new LogDispatcher(rings, List.copyOf(after), dispatched, faults);
        dispatcher.start();
        for (LogOutput old : before) {
            if (after.stream().noneMatch(kept -> kept.sender() == old.sender())) {
                old.sender().requestClose();
                retired.add(old.sender());
            }
            if (metrics != null && after.stream().noneMatch(kept -> kept.counts() == old.counts())) {
                old.counts().withdrawFrom(metrics);
            }
        }
        retired.removeIf(sender -> !sender.isRunning());
        if (metrics != null) {
            bindNew(metrics, before);
        }
    }

    private static List<LogCapture> capturesOf(List<LogOutputConfig> logs) {
        try {
            return AccessLogFormat.capturesOf(
                    logs.stream().map(LogOutputConfig::format).toList());
        } catch (LogTemplateException e) {
            throw new IllegalArgumentException("log.access: " + e.getMessage(), e);
        }
    }

    private LogOutput output(LogOutputConfig log, List<LogOutput> before) {
        LogCounts counts = null;
        LogSender sender = null;
        int maxLineBytes = log.lines(captures).maxLineBytes() + LineHead.MAX_BYTES;
        for (LogOutput old : before) {
            if (old.config().name().equals(log.name())) {
                counts = old.counts();
                boolean fits = old.sender().maxLineBytes() >= maxLineBytes;
                sender = fits && canKeepSender(old.config(), log) ? old.sender() : null;
            }
        }
        if (counts == null) {
            counts = new LogCounts(log.name());
        }
        if (sender == null) {
            sender = new LogSender(log.name(), target(log), maxLineBytes, counts, faults, epochMillis);
            sender.start();
        }
        return new LogOutput(log, sender, counts, head(log), captures);
    }

    /**
     * Returns true if a log may keep its sender. A sender to journald or to an extension depends on the sample rate. A
     * sender of a binary log depends on the schema, which the format determines.
     */
    private static boolean canKeepSender(LogOutputConfig before, LogOutputConfig after) {
        boolean hasRate = after.destination() instanceof LogDestination.ToJournald
                || after.destination() instanceof LogDestination.ToExtension;
        boolean isBinary = before.format().isBinary() || after.format().isBinary();
        return before.destination().equals(after.destination())
                && (!isBinary || before.format().equals(after.format()))
                && (!hasRate || before.sampleRate() == after.sampleRate());
    }

    private LineHead head(LogOutputConfig log) {
        return log.destination() instanceof LogDestination.ToSyslog syslog
                ? new SyslogHead(
                        syslog.config(),
                        log.name(),
                        log.sampleRate(),
                        hostName,
                        ProcessHandle.current().pid())
                : LineHead.NONE;
    }

    private LogTarget target(LogOutputConfig log) {
        LogDestination to = log.destination();
        if (to instanceof LogDestination.ToFile file) {
            Path path = file.path();
            if (path == null) {
                throw new IllegalArgumentException("log.access: " + log.name() + " has no path");
            }
            AccessLogConfig rotation = AccessLogConfig.toFile(path, log.format())
                    .withRotation(file.rotateBytes(), file.rotateInterval(), file.rotateKeep());
            return new FileTarget(path, rotation, faults);
        }
        if (to instanceof LogDestination.ToSyslog syslog) {
            return MessageTarget.syslog(syslog.config());
        }
        if (to instanceof LogDestination.ToExtension extension) {
            return extensionTargets.of(extension.name(), log.sampleRate());
        }
        return to instanceof LogDestination.ToJournald journald
                ? MessageTarget.journald(journald.config(), log.name(), log.sampleRate())
                : new StandardOutputTarget();
    }

    /** Requests that each target is closed and opened again, for example after a file was renamed. Does not block. */
    public void reopen() {
        for (LogOutput output : dispatcher.outputs()) {
            output.sender().requestReopen();
        }
    }

    /** Adds the counts of all logs to the metrics, including logs that are added later. */
    public void bindTo(MetricsRegistry registry) {
        metrics = registry;
        registry.supplyCounter(MetricFamily.ACCESS_LOG_RECORDS, dispatched::sum, "written");
        registry.supplyCounter(MetricFamily.ACCESS_LOG_RECORDS, this::dropped, "dropped");
        bindNew(registry, List.of());
    }

    private void bindNew(MetricsRegistry registry, List<LogOutput> before) {
        for (LogOutput output : dispatcher.outputs()) {
            if (before.stream().noneMatch(old -> old.counts() == output.counts())) {
                output.counts().bindTo(registry);
            }
        }
    }

    private long dropped() {
        long dropped = 0;
        for (AccessLogRing ring : rings) {
            dropped += ring.dropped();
        }
        return dropped;
    }

    /** Returns the names of the logs that cannot be written now, each with the reason. */
    public Map<String, String> failures() {
        Map<String, String> failures = new LinkedHashMap<>();
        for (LogOutput output : dispatcher.outputs()) {
            String failure = output.counts().failure();
            if (failure != null) {
                failures.put(output.config().name(), failure);
            }
        }
        return failures;
    }

    /** Returns the number of lines that the log has written; 0 for an unknown name. */
    long written(String name) {
        for (LogOutput output : dispatcher.outputs()) {
            if (output.config().name().equals(name)) {
                return output.counts().written();
            }
        }
        return 0;
    }

    /**
     * Writes the records in the rings and ends all threads. Call after the event loops have stopped. Blocks until
     * the lines are written, but at most 10 s.
     */
    @Override
    public void close() {
        dispatcher.stop();
        List<LogSender> senders = new ArrayList<>(retired);
        for (LogOutput output : dispatcher.outputs()) {
            output.sender().requestClose();
            senders.add(output.sender());
        }
        long deadline = System.nanoTime() + CLOSE_NANOS;
        boolean ended = true;
        boolean interrupted = false;
        for (Iterator<LogSender> remaining = senders.iterator(); remaining.hasNext() && !interrupted; ) {
            try {
                ended &= remaining.next().awaitEnd(deadline);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (!ended) {
            LOGGER.warn("an access log could not be written completely within 10 s; its last lines may be lost");
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
