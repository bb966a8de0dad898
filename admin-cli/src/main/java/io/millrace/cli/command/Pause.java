package io.millrace.cli.command;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Waits between two repetitions of a command. */
@FunctionalInterface
public interface Pause {
    /** Waits for this time. Returns false if there is no further repetition. Blocks. */
    boolean pass(Duration time);

    /** Returns the monotonic time in nanoseconds, like {@link System#nanoTime}. */
    default long nanos() {
        return System.nanoTime();
    }

    /** Waits on the real clock; ends when the thread is interrupted. */
    static boolean byTheClock(Duration time) {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
