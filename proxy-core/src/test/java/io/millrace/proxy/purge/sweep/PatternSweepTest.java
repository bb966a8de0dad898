package io.millrace.proxy.purge.sweep;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PatternSweepTest {
    /** The first listing can wait 14 seconds until the inventory is open; the sweep does not pause for 35 seconds then. */
    @ParameterizedTest
    @CsvSource({"0, 0", "20, 0", "24, 60", "80, 200", "100, 250", "101, 250", "14000, 250"})
    void pausesInProportionToTheWorkUpToALimit(long workedMillis, long pauseMillis) {
        assertEquals(
                TimeUnit.MILLISECONDS.toNanos(pauseMillis),
                PatternSweep.pauseNanos(TimeUnit.MILLISECONDS.toNanos(workedMillis)));
    }
}
