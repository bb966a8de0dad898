package io.millrace.proxy.observe.log.output;

import io.millrace.proxy.observe.FaultLog;
import io.millrace.proxy.observe.log.AccessLogRing;
import io.millrace.proxy.observe.log.LoggedRecord;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * The thread that reads the rings of all event loops and gives each record to every log. It never waits for a target.
 * One dispatcher serves one list of logs; a change of the list replaces it.
 */
final class LogDispatcher implements Runnable {
    /** Records of one ring that are read before the space is given back to the event loop. */
    private static final int BATCH_RECORDS = 256;

    /** Rounds after a stop: enough for every record of a full ring, while event loops may add more. */
    private static final int LAST_ROUNDS = 64;

    /** Event loops never wake the dispatcher, because a system call per record would cost more than the record. */
    private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final List<AccessLogRing> rings;
    private final List<LogOutput> outputs;
    private final LongAdder dispatched;
    private final FaultLog faults;
    private final RecordFacts facts = new RecordFacts();
    private final AccessLogRing.Reader reader = this::dispatch;
    private final Thread thread;
    private int batch;
    private volatile boolean stopRequested;

    /**
     * Creates a dispatcher, which does not run yet.
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

    /** Reads the records that are in the rings now, and ends the thread. Returns when it has ended. */
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
            if (!turn()) {
                LockSupport.parkNanos(this, IDLE_NANOS);
            }
        }
        for (int round = 0; round < LAST_ROUNDS && turn(); round++) {
            // until the rings are empty
        }
    }

    /** Reads at most {@link #BATCH_RECORDS} records of each ring. Returns false if there were none. */
    boolean turn() {
        int read = 0;
        for (AccessLogRing ring : rings) {
            batch = 0;
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
        facts.of(logged);
        for (int i = 0; i < outputs.size(); i++) {
            outputs.get(i).accept(logged, facts, faults);
        }
        batch++;
        return batch < BATCH_RECORDS;
    }
}
