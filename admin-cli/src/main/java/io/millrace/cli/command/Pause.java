package io.millrace.cli.command;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Time between two looks. */
@FunctionalInterface
public interface Pause {
    /** Lets it pass. Returns false when there shall be no other look. */
    boolean pass(Duration time);

    /** The moment of a look, in nanoseconds since some other. */
    default long nanos() {
        return System.nanoTime();
    }

    /** By the clock, until the process is interrupted. */
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
