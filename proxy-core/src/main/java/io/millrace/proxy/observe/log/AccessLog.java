package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The access log. Each event loop writes records into its own ring buffer. One thread formats the records, and
 * appends complete lines to a file or standard output. If the disk is full or the directory cannot be written, log
 * lines are lost and counted, but requests are not affected.
 *
 * <p>Thread-safe.
 */
public final class AccessLog implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(AccessLog.class);

    /** Time limit of {@link #close}. The output may block, for example a pipe without a reader. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final AccessLogWriter writer;
    private final Thread thread;

    private AccessLog(AccessLogWriter writer) {
        this.writer = writer;
        thread = new Thread(writer, "millrace-access-log");
        thread.setDaemon(true);
    }

    /**
     * Starts the log. Does not fail: if the file cannot be opened, the fault is reported and opening is retried
     * later.
     *
     * @param faults receives failures
     */
    public static AccessLog start(AccessLogConfig config, FaultLog faults) {
        return start(config, faults, System::currentTimeMillis);
    }

    static AccessLog start(AccessLogConfig config, FaultLog faults, LongSupplier epochMillis) {
        AccessLog log = new AccessLog(new AccessLogWriter(config, faults, epochMillis));
        log.thread.start();
        return log;
    }

    /** Creates the ring of one event loop. Call once per loop, on any thread. */
    public AccessLogRing loopRing() {
        return writer.newRing();
    }

    /**
     * Requests that the file is closed and opened again by its name, for external log rotation. Records that are not
     * written yet go to the new file. Does not block.
     */
    public void reopen() {
        writer.requestReopen();
    }

    /** The number of records from all loops, whether written, dropped or waiting. */
    public long recordsOffered() {
        return writer.offered();
    }

    /** The number of records with completely written lines. */
    public long recordsWritten() {
        return writer.written();
    }

    /** The number of records lost, because a ring was full or the file could not be written. */
    public long recordsDropped() {
        return writer.dropped();
    }

    /** Returns the reason why the log cannot be written now; null while it works. */
    public @Nullable String failure() {
        return writer.failure();
    }

    /** Adds the counts to the metrics of a proxy. */
    public void bindTo(MetricsRegistry metrics) {
        metrics.supplyCounter(MetricFamily.ACCESS_LOG_RECORDS, this::recordsWritten, "written");
        metrics.supplyCounter(MetricFamily.ACCESS_LOG_RECORDS, this::recordsDropped, "dropped");
    }

    /**
     * Writes the records in the rings and stops the writer. Call after the event loops have stopped. Blocks until
     * the lines are written, but at most 10 s. Records offered later are not written.
     */
    @Override
    public void close() {
        writer.requestClose();
        boolean interrupted = false;
        long deadline = System.nanoTime() + CLOSE_NANOS;
        long remainingNanos = CLOSE_NANOS;
        while (thread.isAlive() && remainingNanos > 0) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(thread, remainingNanos);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            remainingNanos = deadline - System.nanoTime();
        }
        if (thread.isAlive()) {
            LOGGER.warn("the access log could not be written completely within 10 s; its last records may be lost");
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
