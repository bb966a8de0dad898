package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.log.LineBuffer;
import io.millrace.proxy.observe.log.LineFormat;
import io.millrace.proxy.observe.log.LogTarget;
import io.millrace.proxy.observe.log.LoggedRecord;
import io.millrace.proxy.observe.log.target.LineHead;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * The queue of one access log, with the thread that writes it to the target. The queue has two buffers: the dispatcher
 * (the thread that distributes records to the logs) fills one buffer while this thread writes the other. If the buffer
 * of the dispatcher is full, further lines are dropped and counted.
 *
 * <p>If the target fails, the sender closes it, keeps the lines, and opens it again. The delay doubles from 1 s to 30
 * s. Only the dispatcher thread calls {@link #append}, and only the sender thread {@link #sendOnce} and
 * {@link #finish}. The other methods are thread-safe.
 */
final class LogSender implements Runnable {
    /**
     * Size of each of the two buffers in bytes. Holds about 5,000 lines. Not configurable, because a longer outage of a
     * target needs another target and not more memory.
     */
    static final int QUEUE_BYTES = 1 << 20;

    static final long RETRY_MILLIS = 1000;
    static final long RETRY_MILLIS_MAX = 30_000;

    /** Time in ms for which an incomplete block of a binary log waits for more rows before it is written. */
    static final long BLOCK_MILLIS = 1000;

    /** Interval at which an idle sender checks its target, for a renamed file or a closed connection. */
    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final String failureMessage;
    private final LogTarget target;
    private final LogCounts counts;
    private final FaultLog faults;
    private final LongSupplier epochMillis;
    private final int maxLineBytes;
    private final Thread thread;

    private final ReentrantLock lock = new ReentrantLock();
    private LineBuffer filling;

    // These fields are used by the sender thread.
    private LineBuffer sending;
    private boolean isFailing;
    /** Time at which the sender saw the first row of a block that is not complete; -1 for none. */
    private long blockSeenAtMillis = -1;

    private long retryMillis = RETRY_MILLIS;
    private long failedAtMillis;

    private volatile boolean reopenRequested;
    private volatile boolean closeRequested;

    /**
     * Creates a sender. {@link #start} starts its thread.
     *
     * @param maxLineBytes limit of a line in bytes, including the text of {@link LineHead}
     * @param epochMillis the clock for rotations and retries
     */
    LogSender(
            String name,
            LogTarget target,
            int maxLineBytes,
            LogCounts counts,
            FaultLog faults,
            LongSupplier epochMillis) {
        failureMessage = "the access log " + name + " cannot be written; its lines are dropped when its queue is full";
        this.target = target;
        this.maxLineBytes = maxLineBytes;
        this.counts = counts;
        this.faults = faults;
        this.epochMillis = epochMillis;
        filling = new LineBuffer(QUEUE_BYTES, maxLineBytes);
        sending = new LineBuffer(QUEUE_BYTES, maxLineBytes);
        thread = new Thread(this, "millrace-log-" + name);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    boolean isRunning() {
        return thread.isAlive();
    }

    int maxLineBytes() {
        return maxLineBytes;
    }

    /**
     * Puts a line into the queue, or counts it as dropped if the queue is full. An exception of the format is passed
     * on, and leaves no partial line.
     */
    void append(LoggedRecord logged, LineHead head, LineFormat format) {
        lock.lock();
        try {
            if (!filling.hasRoom()) {
                counts.lost(1);
                return;
            }
            int start = filling.length();
            try {
                head.append(logged, filling);
                format.append(logged, filling);
            } catch (RuntimeException e) {
                filling.truncate(start);
                throw e;
            }
        } finally {
            lock.unlock();
        }
    }

    /** Wakes the sender thread. Called once for each batch of records. */
    void wake() {
        LockSupport.unpark(thread);
    }

    /** Requests that the target is closed and opened again, after the lines in the queue were written. */
    void requestReopen() {
        reopenRequested = true;
        wake();
    }

    /** Requests that the thread ends, after one attempt to write the lines in the queue. */
    void requestClose() {
        closeRequested = true;
        wake();
    }

    /**
     * Waits for the end of the thread. Closes the target at the deadline, because the target may block the thread.
     *
     * @param deadlineNanos the deadline on the clock of {@link System#nanoTime}
     * @return false if the thread still runs
     */
    boolean awaitEnd(long deadlineNanos) throws InterruptedException {
        long remainingNanos = deadlineNanos - System.nanoTime();
        if (remainingNanos > 0) {
            TimeUnit.NANOSECONDS.timedJoin(thread, remainingNanos);
        }
        if (thread.isAlive()) {
            target.close();
        }
        return !thread.isAlive();
    }

    @Override
    public void run() {
        while (!closeRequested) {
            if (!sendOnce()) {
                LockSupport.parkNanos(this, IDLE_NANOS);
            }
        }
        finish();
    }

    /** Writes one buffer. Returns false if there was nothing to write, or writing is not possible now. */
    boolean sendOnce() {
        long now = epochMillis.getAsLong();
        if (isFailing && Math.abs(now - failedAtMillis) < retryMillis && !reopenRequested) {
            return false;
        }
        takeLines(now);
        boolean hadLines = !sending.isEmpty();
        boolean written = write(now);
        if (reopenRequested) {
            reopenRequested = false;
            target.close();
            isFailing = false;
        }
        return written && hadLines;
    }

    /**
     * Takes the lines of the queue. If a binary log has only one incomplete block in the queue, the block stays there
     * for more rows until it is one second old.
     */
    private void takeLines(long nowMillis) {
        lock.lock();
        try {
            boolean isOnlyOpenBlock = filling.holdsOnlyOpenBlock();
            if (isOnlyOpenBlock && blockSeenAtMillis < 0) {
                blockSeenAtMillis = nowMillis;
            }
            boolean isYoung = Math.abs(nowMillis - blockSeenAtMillis) < BLOCK_MILLIS;
            if (!isOnlyOpenBlock || !isYoung || reopenRequested) {
                takeLines();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Exchanges the two buffers if all lines of this thread were written. */
    private void takeLines() {
        if (!sending.isEmpty()) {
            return;
        }
        lock.lock();
        try {
            blockSeenAtMillis = -1;
            filling.completeBlock();
            LineBuffer empty = sending;
            sending = filling;
            filling = empty;
        } finally {
            lock.unlock();
        }
    }

    private boolean write(long nowMillis) {
        try {
            target.maintain(nowMillis);
            if (target.isAtStart()) {
                sending.rewindToLineStart();
            }
            ByteBuffer unwritten = sending.unwritten();
            while (unwritten.hasRemaining()) {
                target.write(unwritten);
            }
        } catch (IOException | RuntimeException e) {
            // The thread continues after any exception and retries.
            faults.report(failureMessage, target.description(), e);
            counts.failed(target.failureText(e));
            target.close();
            retryMillis = isFailing ? Math.min(2 * retryMillis, RETRY_MILLIS_MAX) : RETRY_MILLIS;
            isFailing = true;
            failedAtMillis = nowMillis;
            return false;
        }
        isFailing = false;
        int lost = target.lostLines();
        if (lost == 0) {
            counts.works();
        } else if (sending.isEmpty()) {
            // Nothing was written now: the target reports the loss of an earlier write, which is already counted.
            lost = 0;
        } else {
            counts.failed(target.description() + ": " + lost + " records were lost");
            counts.lost(lost);
        }
        counts.wrote(sending.lines() - lost, sending.length());
        sending.clear();
        return true;
    }

    /** Tries once to write the remaining lines. Lines that cannot be written count as dropped. */
    void finish() {
        boolean isWritable = true;
        takeLines();
        while (isWritable && !sending.isEmpty()) {
            isWritable = write(epochMillis.getAsLong());
            takeLines();
        }
        int sent = sending.linesWritten();
        counts.wrote(sent, 0);
        counts.lost(sending.lines() - sent);
        sending.clear();
        takeLines();
        counts.lost(sending.lines());
        sending.clear();
        target.close();
    }
}
