package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The access log. Event loops write records into their own rings; one thread formats them and appends complete lines to
 * a file or standard output. A full disk or a missing directory loses log lines, which are counted, but never affects a
 * request.
 *
 * <p>Thread-safe.
 */
public final class AccessLog implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(AccessLog.class);

    /** Time limit for a file that blocks, such as a pipe without a reader. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final AccessLogWriter writer;
    private final Thread thread;

    private AccessLog(AccessLogWriter writer) {
        this.writer = writer;
        thread = new Thread(writer, "millrace-access-log");
        thread.setDaemon(true);
    }

    /**
     * Starts the log. A file that cannot be opened now is reported and retried; this method does not fail.
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
     * Closes the file and opens it again by name, after the records offered before this call are written. Does not
     * block.
     */
    public void reopen() {
        writer.requestReopen();
    }

    /** The number of records offered by all loops: written, dropped, or waiting. */
    public long recordsOffered() {
        return writer.offered();
    }

    /** The number of records with completely written lines. */
    public long recordsWritten() {
        return writer.written();
    }

    /** The number of records lost because a ring was full or the file was not writable until the end. */
    public long recordsDropped() {
        return writer.dropped();
    }

    /** Adds the counts to the metrics of a proxy. */
    public void bindTo(MetricsRegistry metrics) {
        metrics.supplyCounter(MetricFamily.ACCESS_LOG_RECORDS, this::recordsWritten, "written");
        metrics.supplyCounter(MetricFamily.ACCESS_LOG_RECORDS, this::recordsDropped, "dropped");
    }

    /**
     * Writes the records in the rings and stops the writer. Call after the event loops have stopped. Blocks until the
     * lines are written or a failing file was abandoned. Records offered later stay in their rings.
     */
    @Override
    public void close() {
        writer.requestClose();
        boolean interrupted = false;
        long deadline = System.nanoTime() + CLOSE_NANOS;
        long left = CLOSE_NANOS;
        while (thread.isAlive() && left > 0) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(thread, left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = deadline - System.nanoTime();
        }
        if (thread.isAlive()) {
            LOGGER.warn("the access log could not be written completely at the end; its last records may be lost");
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
