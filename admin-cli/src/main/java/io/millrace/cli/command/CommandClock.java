package io.millrace.cli.command;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** The clock of a command, and its waits between two repetitions. Tests replace it, so that no test sleeps. */
@FunctionalInterface
public interface CommandClock {
    /** Waits for a time. Returns false if the command must not be repeated, for example after an interrupt. Blocks. */
    boolean sleep(Duration time);

    /** Returns the monotonic time in nanoseconds, like {@link System#nanoTime}. */
    default long nanoTime() {
        return System.nanoTime();
    }

    /** Sleeps for a time. Returns false if the thread is interrupted. */
    static boolean sleepThread(Duration time) {
        try {
            TimeUnit.NANOSECONDS.sleep(time.toNanos());
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
