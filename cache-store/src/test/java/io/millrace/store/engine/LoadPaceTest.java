package io.millrace.store.engine;

import static io.millrace.store.engine.LoadPace.SHARE_OF_PROCESSORS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.io.ThreadTimes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Loading stays within its bytes and its share of the processors. */
class LoadPaceTest {
    private static final long TICK_NANOS = 20_000_000;
    private static final int TICKS_PER_SECOND = 50;
    private static final long TASK_NANOS = 1_000_000;

    @ParameterizedTest
    @CsvSource({"1, 0.25", "2, 0.5", "4, 1.0", "64, 1.0"})
    void smallObjectsUseTheShareOfTheProcessors(int processors, double share) {
        LoadPace pace = new LoadPace(TICK_NANOS, processors);
        double used = usedShare(pace, SHARE_OF_PROCESSORS, running(TASK_NANOS));
        assertEquals(share, used, 0.01);
    }

    @ParameterizedTest
    @CsvSource({"0, 0.25", "1000000, 0.0625", "3000000, 0.025"})
    void aTaskThatWaitsForAProcessorUsesASmallerShare(long waitNanos, double share) {
        LoadPace pace = new LoadPace(TICK_NANOS, 1);
        double used = usedShare(pace, SHARE_OF_PROCESSORS, new ThreadTimes(TASK_NANOS, waitNanos));
        assertEquals(share, used, 0.005);
    }

    @ParameterizedTest
    @CsvSource({"1, 0.05", "2, 0.1", "4, 0.2", "64, 0.2"})
    void objectsThatWereRequestedOnceUseAFifthOfTheShare(int processors, double share) {
        LoadPace pace = new LoadPace(TICK_NANOS, processors);
        double used = usedShare(pace, LoadPace.SHARE_FOR_REQUESTED_ONCE, running(TASK_NANOS / 10));
        assertEquals(share, used, 0.005);
    }

    @Test
    void eachTickHasItsOwnShare() {
        LoadPace pace = new LoadPace(TICK_NANOS, 2);
        pace.tick(64L << 20, LoadPace.SHARE_FOR_REQUESTED_ONCE);
        pace.used(running(TICK_NANOS / 10));
        assertFalse(pace.allowsTask());
        pace.tick(64L << 20, SHARE_OF_PROCESSORS);
        pace.used(running(TICK_NANOS / 2));
        assertFalse(pace.allowsTask());
        pace.tick(64L << 20, LoadPace.SHARE_FOR_REQUESTED_ONCE);
        assertTrue(pace.allowsTask());
    }

    @Test
    void bigObjectsUseTheBytesOfTheRate() {
        LoadPace pace = new LoadPace(TICK_NANOS, 1);
        long read = 0;
        for (int tick = 0; tick < 100 * TICKS_PER_SECOND; tick++) {
            pace.tick(10_000_000, SHARE_OF_PROCESSORS);
            while (pace.allowsTask()) {
                pace.usedBytes(1_000_000);
                pace.used(running(1_000));
                read += 1_000_000;
            }
        }
        assertEquals(10_000_000, read / 100.0, 100_000);
    }

    @Test
    void aLongTaskDelaysTheNextOne() {
        LoadPace pace = new LoadPace(TICK_NANOS, 1);
        pace.tick(1 << 20, SHARE_OF_PROCESSORS);
        pace.used(running(50_000_000));
        for (int tick = 0; tick < 9; tick++) {
            pace.tick(1 << 20, SHARE_OF_PROCESSORS);
            assertFalse(pace.allowsTask(), "tick " + tick);
        }
        pace.tick(1 << 20, SHARE_OF_PROCESSORS);
        assertTrue(pace.allowsTask());
    }

    @Test
    void aLongWaitDelaysTheNextTaskByAHundredTicks() {
        LoadPace pace = new LoadPace(TICK_NANOS, 1);
        pace.used(new ThreadTimes(TASK_NANOS, 60_000_000_000L));
        for (int tick = 0; tick < 100; tick++) {
            pace.tick(1 << 20, SHARE_OF_PROCESSORS);
            assertFalse(pace.allowsTask(), "tick " + tick);
        }
        pace.tick(1 << 20, SHARE_OF_PROCESSORS);
        assertTrue(pace.allowsTask());
    }

    /** Returns the share of a processor that tasks of small objects use in 100 s. */
    private static double usedShare(LoadPace pace, double share, ThreadTimes task) {
        long used = 0;
        for (int tick = 0; tick < 100 * TICKS_PER_SECOND; tick++) {
            pace.tick(64L << 20, share);
            while (pace.allowsTask()) {
                pace.usedBytes(500);
                pace.used(task);
                used += task.cpuNanos();
            }
        }
        return used / 100e9;
    }

    private static ThreadTimes running(long cpuNanos) {
        return new ThreadTimes(cpuNanos, 0);
    }
}
