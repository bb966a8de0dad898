package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LoggedRecord;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that passes the records in all event loops' rings to every log. It never waits for a
 * target. When the list of logs changes, a new dispatcher replaces this one.
 */
final class LogDispatcher implements Runnable {
    /** Limit of records that are read from one ring at a time. So the event loop gets free space back soon. */
    private static final int BATCH_RECORDS = 256;

    /**
     * Limit of batches that are read after {@link #stop}. They are enough to empty full rings. Without
     * a limit, event loops that still add records could delay the end of the thread.
     */
    private static final int LAST_ROUNDS = 64;

    /**
     * Interval at which an idle dispatcher polls the rings. Event loops do not wake the dispatcher: one system call per
     * record would cost more than writing the record.
     */
    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final List<AccessLogRing> rings;
    private final List<LogOutput> outputs;
    private final LongAdder dispatched;
    private final FaultLog faults;
    private final RecordFacts facts = new RecordFacts();
    private final AccessLogRing.Reader reader = this::dispatch;
    private final Thread thread;
    /** Number of records that were read from the current ring in this round. */
    private int recordsInBatch;

    private volatile boolean stopRequested;

    /**
     * Creates a dispatcher. {@link #start} starts its thread.
     *
     * @param rings the rings of all loops; rings may be added while it runs
     * @param dispatched counts the records that were read
     */
    LogDispatcher(List<AccessLogRing> rings, List<LogOutput> outputs, LongAdder dispatched, FaultLog faults) {
        this.rings = rings;
        this.outputs = outputs;
        this.dispatched = dispatched;
        this.faults = faults;
        thread = new Thread(this, "millrace-access-log");
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    List<LogOutput> outputs() {
        return outputs;
    }

    /** Reads the records that are in the rings now, and ends the thread. Blocks until the thread has ended. */
    void stop() {
        stopRequested = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                TimeUnit.SECONDS.timedJoin(thread, 1);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void run() {
        while (!stopRequested) {
            if (!dispatchOnce()) {
                LockSupport.parkNanos(this, IDLE_NANOS);
            }
        }
        for (int round = 0; round < LAST_ROUNDS && dispatchOnce(); round++) {
            // until the rings are empty
        }
    }

    /** Reads at most {@link #BATCH_RECORDS} records of each ring. Returns false if there were none. */
    boolean dispatchOnce() {
        int read = 0;
        for (AccessLogRing ring : rings) {
            recordsInBatch = 0;
            read += ring.drain(reader);
        }
        if (read > 0) {
            dispatched.add(read);
            for (LogOutput output : outputs) {
                output.endBatch();
            }
        }
        return read > 0;
    }

    private boolean dispatch(LoggedRecord logged) {
        facts.setRecord(logged);
        for (int i = 0; i < outputs.size(); i++) {
            outputs.get(i).accept(logged, facts, faults);
        }
        recordsInBatch++;
        return recordsInBatch < BATCH_RECORDS;
    }
}
