package io.millrace.launcher.exit;

import io.millrace.worker.control.ProcessSignals;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * SIGTERM and SIGINT from the first moment on: one that comes while the launcher starts is not lost, and does not end it in the middle
 * of a takeover, which would leave the worker that was to be stopped. Thread-safe.
 */
public final class StopSignals {
    private final ReentrantLock lock = new ReentrantLock();
    private final Runnable giveUp;
    private int waiting;
    private @Nullable Runnable hearer;

    /** @param giveUp run at the second signal while nobody hears: what begins may hang */
    StopSignals(Runnable giveUp) {
        this.giveUp = giveUp;
    }

    /** Those of this process. The second one while nobody hears ends it. */
    public static StopSignals ofProcess() {
        StopSignals signals = new StopSignals(() -> Runtime.getRuntime().halt(ExitCode.CUT_SHORT));
        ProcessSignals.handle("TERM", signals::came);
        ProcessSignals.handle("INT", signals::came);
        return signals;
    }

    void came() {
        Runnable told;
        lock.lock();
        try {
            told = hearer;
            if (told == null) {
                waiting++;
                told = waiting > 1 ? giveUp : () -> {};
            }
        } finally {
            lock.unlock();
        }
        told.run();
    }

    /** Runs {@code action} for a signal that has come, on this thread, and for each that comes, on a thread of the JVM. */
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
