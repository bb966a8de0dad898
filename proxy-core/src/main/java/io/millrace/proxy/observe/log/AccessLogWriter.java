package io.millrace.proxy.observe.log;

import io.millrace.proxy.observe.FaultLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The thread of one access log. It reads records from the rings in batches, formats them, and writes each batch
 * with one call.
 *
 * <p>If a batch cannot be written, the writer keeps it and tries again each second. Meanwhile the rings fill up
 * and drop records, which limits the memory. Each record counts exactly once, as written or dropped.
 *
 * <p>Only the thread itself calls {@link #writeOnce} and {@link #finish}; all other methods are thread-safe.
 */
final class AccessLogWriter implements Runnable {
    /**
     * Size of a batch in bytes. Large enough that the system call costs little per line, and small enough for the
     * processor's cache.
     */
    static final int BATCH_BYTES = 1 << 18;

    /** Time in ms after a failure in which the writer does not try again. */
    static final long RETRY_MILLIS = 1000;

    /** Time in ms for which an incomplete block of a binary log waits for more rows before it is written. */
    static final long BLOCK_MILLIS = 1000;

    /**
     * Interval at which an idle writer polls the rings. Event loops do not wake the writer: one system call per record
     * would cost more than writing the record.
     */
    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final LineFormat format;
    private final LogTarget target;
    private final FaultLog faults;
    private final LongSupplier epochMillis;
    private final LineBuffer batch;
    private final List<LogCapture> captures;
    private final boolean showsTls;
    private final List<AccessLogRing> rings = new CopyOnWriteArrayList<>();
    private final AccessLogRing.Reader reader = this::appendLine;
    private final int ringBytes;

    /** Index of the ring that is read first for the next batch. */
    private int firstRing;

    private boolean isFailing;
    private long failedAtMillis;
    private long blockBegunAtMillis;

    private volatile boolean reopenRequested;
    private volatile boolean closeRequested;
    private volatile @Nullable Thread thread;
    /** Reason of the last failure; null while the log can be written. */
    private volatile @Nullable String failure;

    private volatile long written;
    /** Number of records that this writer could not format or write. */
    private volatile long lost;

    AccessLogWriter(AccessLogConfig config, FaultLog faults, LongSupplier epochMillis) {
        this(config, target(config, faults), faults, epochMillis);
    }

    AccessLogWriter(AccessLogConfig config, LogTarget target, FaultLog faults, LongSupplier epochMillis) {
        this.format = config.format().lines();
        this.batch = new LineBuffer(BATCH_BYTES, format.maxLineBytes());
        this.captures = config.format().captures();
        this.showsTls = config.format().showsTls();
        this.target = target;
        this.faults = faults;
        this.epochMillis = epochMillis;
        this.ringBytes = config.ringBytes();
    }

    private static LogTarget target(AccessLogConfig config, FaultLog faults) {
        Path file = config.file();
        return file == null ? new StandardOutputTarget() : new FileTarget(file, config, faults);
    }

    AccessLogRing newRing() {
        AccessLogRing ring = new AccessLogRing(ringBytes, captures, showsTls);
        rings.add(ring);
        return ring;
    }

    void requestReopen() {
        reopenRequested = true;
        LockSupport.unpark(thread);
    }

    void requestClose() {
        closeRequested = true;
        LockSupport.unpark(thread);
    }

    long offered() {
        long offered = 0;
        for (AccessLogRing ring : rings) {
            offered += ring.offered();
        }
        return offered;
    }

    /** Returns the reason why the log cannot be written; null while it works. Callable by any thread. */
    @Nullable
    String failure() {
        return failure;
    }

    long written() {
        return written;
    }

    long dropped() {
        long dropped = lost;
        for (AccessLogRing ring : rings) {
            dropped += ring.dropped();
        }
        return dropped;
    }

    @Override
    public void run() {
        thread = Thread.currentThread();
        while (!closeRequested) {
            if (!writeOnce()) {
                LockSupport.parkNanos(this, IDLE_NANOS);
            }
        }
        finish();
    }

    /** Writes at most one batch. Returns false if there was nothing to write or writing is not possible now. */
    boolean writeOnce() {
        long now = epochMillis.getAsLong();
        reopenIfRequested();
        if (isFailing && Math.abs(now - failedAtMillis) < RETRY_MILLIS) {
            return false;
        }
        if (batch.isEmpty()) {
            fillBatch();
            blockBegunAtMillis = now;
        } else if (batch.hasOpenBlock()) {
            fillBatch();
        }
        if (batch.holdsOnlyOpenBlock() && Math.abs(now - blockBegunAtMillis) < BLOCK_MILLIS) {
            return false;
        }
        boolean hadLines = !batch.isEmpty();
        return writeBatch(now) && hadLines;
    }

    private void reopenIfRequested() {
        if (reopenRequested) {
            reopenRequested = false;
            target.close();
            isFailing = false;
            failure = null;
        }
    }

    private void fillBatch() {
        int count = rings.size();
        for (int i = 0; i < count && batch.hasRoom(); i++) {
            rings.get((firstRing + i) % count).drain(reader);
        }
        // The next batch begins with another ring, so that one busy loop cannot fill every batch.
        firstRing = count == 0 ? 0 : (firstRing + 1) % count;
    }

    private boolean appendLine(LoggedRecord logged) {
        int lineStart = batch.length();
        try {
            format.append(logged, batch);
        } catch (RuntimeException e) {
            // A record that cannot be formatted must not stop the log.
            batch.truncate(lineStart);
            count(0, 1);
            faults.report("an access log record cannot be formatted", e);
        }
        return batch.hasRoom();
    }

    private boolean writeBatch(long nowMillis) {
        batch.completeBlock();
        try {
            target.maintain(nowMillis);
            if (target.isAtStart()) {
                batch.rewindToLineStart();
            }
            ByteBuffer unwritten = batch.unwritten();
            while (unwritten.hasRemaining()) {
                target.write(unwritten);
            }
        } catch (IOException | RuntimeException e) {
            // The thread continues after any exception and retries.
            faults.report(
                    "the access log cannot be written; records are dropped until it can", target.description(), e);
            target.close();
            isFailing = true;
            failure = target.failureText(e);
            failedAtMillis = nowMillis;
            return false;
        }
        if (isFailing) {
            isFailing = false;
            failure = null;
        }
        count(batch.lines(), 0);
        batch.clear();
        return true;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written by one thread only
    private void count(long writtenLines, long lostRecords) {
        written += writtenLines;
        lost += lostRecords;
    }

    /** Writes the remaining records. Records that cannot be written count as dropped. */
    void finish() {
        reopenIfRequested();
        boolean isWritable = true;
        if (batch.isEmpty()) {
            fillBatch();
        }
        while (isWritable && !batch.isEmpty()) {
            isWritable = writeBatch(epochMillis.getAsLong());
            if (isWritable) {
                fillBatch();
            }
        }
        if (!batch.isEmpty()) {
            int lines = batch.linesWritten();
            count(lines, batch.lines() - lines);
            batch.clear();
        }
        for (AccessLogRing ring : rings) {
            count(0, ring.drain(logged -> true));
        }
        target.close();
    }
}
