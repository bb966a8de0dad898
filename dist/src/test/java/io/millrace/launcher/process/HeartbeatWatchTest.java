package io.millrace.launcher.process;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class HeartbeatWatchTest {
    private static final long TIMEOUT = 1000;

    private final HeartbeatWatch watch = new HeartbeatWatch(TIMEOUT, 0);

    @Test
    void isOverdueAfterTheTimeoutOfSilence() {
        assertFalse(silentUntil(TIMEOUT));
        assertTrue(watch.checkOverdue(TIMEOUT + 1));
    }

    @Test
    void countsFromTheLastBeat() {
        silentUntil(900);
        watch.beat(900);

        assertFalse(silentUntil(900, 1900));
        assertTrue(watch.checkOverdue(1901));
    }

    @Test
    void givesTheWorkerAWholeTimeoutWhenTheLauncherItselfStoodStill() {
        silentUntil(200);

        assertFalse(watch.checkOverdue(60_000));
        assertFalse(silentUntil(60_000, 61_000));
        assertTrue(watch.checkOverdue(61_001));
    }

    private boolean silentUntil(long end) {
        return silentUntil(0, end);
    }

    /** Checks ten times in a timeout, as the supervisor does. */
    private boolean silentUntil(long start, long end) {
        boolean overdue = false;
        for (long now = start; now <= end; now += TIMEOUT / 10) {
            overdue |= watch.checkOverdue(now);
        }
        return overdue;
    }
}
