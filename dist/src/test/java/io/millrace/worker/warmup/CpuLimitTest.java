package io.millrace.worker.warmup;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class CpuLimitTest {
    private static final long MILLI = 1_000_000;

    private long now;
    private long used;

    private CpuLimit limit(double cores) {
        return new CpuLimit(cores, () -> now, () -> used);
    }

    @Test
    void pausesUntilTheTimeIsAgainInProportion() {
        CpuLimit limit = limit(0.5);
        now += 100 * MILLI;
        used += 100 * MILLI;
        assertEquals(100 * MILLI, limit.pauseNanos());
        now += 40 * MILLI;
        assertEquals(60 * MILLI, limit.pauseNanos());
        now += 60 * MILLI;
        assertEquals(0, limit.pauseNanos());
    }

    @Test
    void countsMemoryOfOtherThreadsDuringAPause() {
        CpuLimit limit = limit(1);
        now += 100 * MILLI;
        used += 200 * MILLI;
        assertEquals(100 * MILLI, limit.pauseNanos());
        now += 100 * MILLI;
        used += 30 * MILLI;
        assertEquals(30 * MILLI, limit.pauseNanos());
    }

    @Test
    void accumulatesLittleUnusedTime() {
        CpuLimit limit = limit(1);
        now += 60_000 * MILLI;
        assertEquals(0, limit.pauseNanos());
        now += 100 * MILLI;
        used += 200 * MILLI;
        assertEquals(50 * MILLI, limit.pauseNanos());
    }

    @Test
    void neverPausesWithoutALimit() {
        CpuLimit limit = limit(Double.POSITIVE_INFINITY);
        used += 60_000 * MILLI;
        assertEquals(0, limit.pauseNanos());
    }
}
