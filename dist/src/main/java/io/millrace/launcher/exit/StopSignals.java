package io.millrace.launcher.exit;

import io.millrace.worker.control.ProcessSignals;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The handler of SIGTERM and SIGINT from the beginning of the process. A signal during the start is kept: it must not
 * end the launcher in the middle of an adoption, which would leave the worker running. Thread-safe.
 */
public final class StopSignals {
    private final ReentrantLock lock = new ReentrantLock();
    private final Runnable giveUp;
    private int waiting;
    private @Nullable Runnable hearer;

    /** @param giveUp run at a second signal before {@link #hear} is called, since the start may hang */
    StopSignals(Runnable giveUp) {
        this.giveUp = giveUp;
    }

    /** Returns the handler of this process. A second signal before {@link #hear} ends the process. */
    public static StopSignals ofProcess() {
        StopSignals signals = new StopSignals(() -> Runtime.getRuntime().halt(ExitCode.CUT_SHORT));
        ProcessSignals.handle("TERM", signals::came);
        ProcessSignals.handle("INT", signals::came);
        return signals;
    }

    void came() {
        Runnable task;
        lock.lock();
        try {
            task = hearer;
            if (task == null) {
                waiting++;
                task = waiting > 1 ? giveUp : () -> {};
            }
        } finally {
            lock.unlock();
        }
        task.run();
    }

    /**
     * Sets the action. Runs it on this thread for a signal that has arrived before, and on a JVM thread for each later
     * signal.
     */
    public void hear(Runnable action) {
        boolean hasCome;
        lock.lock();
        try {
            hearer = action;
            hasCome = waiting > 0;
            waiting = 0;
        } finally {
            lock.unlock();
        }
        if (hasCome) {
            action.run();
        }
    }
}
