package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.MetricsRegistry;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The access log: event loops put records into rings of their own, one thread formats them and appends whole lines to a
 * file or to standard output. A full disk or a vanished directory costs log lines, which are counted, and never a request.
 *
 * <p>Thread-safe.
 */
public final class AccessLog implements AutoCloseable {
    private static final Logger LOGGER = LoggerFactory.getLogger(AccessLog.class);

    /** For a file that blocks, such as a pipe that nobody reads. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final AccessLogWriter writer;
    private final Thread thread;

    private AccessLog(AccessLogWriter writer) {
        this.writer = writer;
        thread = new Thread(writer, "millrace-access-log");
        thread.setDaemon(true);
    }

    /**
     * Starts the log. A file that cannot be opened now is reported and tried again; this method does not fail.
     *
     * @param faults told of what fails
     */
    public static AccessLog start(AccessLogConfig config, FaultLog faults) {
        return start(config, faults, System::currentTimeMillis);
    }

    static AccessLog start(AccessLogConfig config, FaultLog faults, LongSupplier epochMillis) {
        AccessLog log = new AccessLog(new AccessLogWriter(config, faults, epochMillis));
        log.thread.start();
        return log;
    }

    /** A new ring for one event loop; to be called once per loop, on any thread. */
    public AccessLogRing loopRing() {
        return writer.newRing();
    }

    /** Closes the file and opens it again by its name, after what was offered before this call is written. Returns at once. */
    public void reopen() {
        writer.requestReopen();
    }

    /** Records offered by all loops: written, dropped, or on the way. */
    public long recordsOffered() {
        return writer.offered();
    }

    /** Records whose line was written as a whole. */
    public long recordsWritten() {
        return writer.written();
    }

    /** Records that were lost because a ring was full or the file could not be written until the end. */
    public long recordsDropped() {
        return writer.dropped();
    }

    /** Adds the counts to a proxy's metrics. */
    public void bindTo(MetricsRegistry metrics) {
        metrics.supplyCounter(MetricFamily.ACCESS_LOG_RECORDS, this::recordsWritten, "written");
        metrics.supplyCounter(MetricFamily.ACCESS_LOG_RECORDS, this::recordsDropped, "dropped");
    }

    /**
     * Writes what the rings hold and ends the writer. Called after the event loops have stopped; blocks until the lines are
     * written or a failing file has been given up. Records offered later stay in their rings.
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
