package io.millrace.cli.command;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A wait between two repetitions of a command. Tests replace it, so that no test sleeps. */
@FunctionalInterface
public interface Pause {
    /** Waits for a time. Returns false if the command must not be repeated, for example after an interrupt. Blocks. */
    boolean pass(Duration time);

    /** Returns the monotonic time in nanoseconds, like {@link System#nanoTime}. */
    default long nanos() {
        return System.nanoTime();
    }

    /** Sleeps for a time. Returns false if the thread is interrupted. */
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
