package io.millrace.proxy.exchange.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class LoopTickClockTest {
    private long clockMillis = 1_000_000;
    private int reads;
    private final LoopTickClock time = new LoopTickClock(() -> {
        reads++;
        return clockMillis;
    });

    @Test
    void theClocksAreReadOnceATurn() {
        long began = time.nanos();
        assertEquals(1_000_000, time.millis());
        clockMillis += 5000;
        assertEquals(began, time.nanos());
        assertEquals(1_000_000, time.millis());
        assertEquals(1, reads);
    }

    @Test
    void theNextRequestBeginsWhereTheOneBeforeEnded() {
        long began = time.nanos();
        time.advanceTo(began + 7_999_999);
        assertEquals(began + 7_999_999, time.nanos());
        assertEquals(1_000_000, time.millis());
        assertEquals(1, reads);
    }

    @Test
    void anotherTurnReadsThemAnew() {
        long began = time.nanos();
        time.advanceTo(began + 1);
        clockMillis += 5000;
        time.forget();
        assertTrue(time.nanos() - began >= 0);
        assertEquals(1_005_000, time.millis());
        assertEquals(2, reads);
    }
}
