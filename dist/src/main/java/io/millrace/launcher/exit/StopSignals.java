package io.millrace.launcher.exit;

import io.millrace.worker.control.ProcessSignals;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The handler of SIGTERM and SIGINT from the beginning of the process. Thread-safe.
 *
 * <p>A signal during the start is remembered until {@link #onSignal}. It must not end a launcher that is taking over
 * the worker of an earlier launcher, since that worker would then continue without a launcher.
 */
public final class StopSignals {
    private final ReentrantLock lock = new ReentrantLock();
    private final Runnable abort;
    /** Number of signals before {@link #onSignal}. */
    private int earlySignals;

    private @Nullable Runnable signalAction;

    /**
     * Creates a handler.
     *
     * @param abort runs at the second signal before {@link #onSignal}, because the start may hang
     */
    StopSignals(Runnable abort) {
        this.abort = abort;
    }

    /** Returns the handler of this process. A second signal before {@link #onSignal} ends the process. */
    public static StopSignals ofProcess() {
        StopSignals signals = new StopSignals(() -> Runtime.getRuntime().halt(ExitCode.CUT_SHORT));
        ProcessSignals.handle("TERM", signals::received);
        ProcessSignals.handle("INT", signals::received);
        return signals;
    }

    void received() {
        Runnable task;
        lock.lock();
        try {
            task = signalAction;
            if (task == null) {
                earlySignals++;
                task = earlySignals > 1 ? abort : () -> {};
            }
        } finally {
            lock.unlock();
        }
        task.run();
    }

    /**
     * Sets the action for signals. Runs the action at once, on this thread, if a signal has already arrived. Runs it on
     * a JVM thread for each later signal.
     */
    public void onSignal(Runnable action) {
        boolean hasReceived;
        lock.lock();
        try {
            signalAction = action;
            hasReceived = earlySignals > 0;
            earlySignals = 0;
        } finally {
            lock.unlock();
        }
        if (hasReceived) {
            action.run();
        }
    }
}
