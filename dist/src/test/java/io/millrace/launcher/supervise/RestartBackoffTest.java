package io.millrace.launcher.supervise;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RestartBackoffTest {
    private static final long FIRST = 500;
    private static final long LONGEST = 3000;
    private static final long LONGEST_AFTER_READY = 1500;
    private static final long HEALTHY = 2000;

    private final RestartBackoff backoff = new RestartBackoff(FIRST, LONGEST, LONGEST_AFTER_READY, HEALTHY);

    @Test
    void restartsAtOnceAfterAHealthyLife() {
        assertEquals(0, backoff.afterDeath(1000, 1000 + HEALTHY));
    }

    @Test
    void waitsAfterALifeThatWasReadyButShort() {
        assertEquals(FIRST, backoff.afterDeath(1000, 1000 + HEALTHY - 1));
    }

    @Test
    void doublesUpToTheLongestDelayAndStaysThere() {
        List<Long> delays = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            delays.add(backoff.afterFailedStart());
        }
        assertEquals(List.of(500L, 1000L, 2000L, 3000L, 3000L, 3000L), delays);
    }

    /** Clients wait meanwhile, and the worker answers until it dies. */
    @Test
    void waitsLessAfterAWorkerThatWasReady() {
        List<Long> delays = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            delays.add(backoff.afterDeath(1000, 1001));
        }
        assertEquals(List.of(500L, 1000L, 1500L, 1500L), delays);
        assertEquals(1500L, backoff.afterFailedStart());
        assertEquals(3000L, backoff.afterFailedStart());
        assertEquals(1500L, backoff.afterDeath(1000, 1001));
    }

    @Test
    void beginsAnewAfterAHealthyLife() {
        backoff.afterFailedStart();
        backoff.afterFailedStart();
        backoff.afterDeath(0, HEALTHY);

        assertEquals(FIRST, backoff.afterFailedStart());
    }

    @Test
    void measuresLivesAcrossAnOverflowOfTheClock() {
        assertEquals(0, backoff.afterDeath(Long.MAX_VALUE - 10, Long.MIN_VALUE + HEALTHY));
    }
}
