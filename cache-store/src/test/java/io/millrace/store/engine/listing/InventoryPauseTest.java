package io.millrace.store.engine.listing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.store.io.ThreadTimes;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InventoryPauseTest {
    @ParameterizedTest(name = "{0} ms of processor time, {1} ms of waiting")
    @CsvSource({"0, 0, 0", "10, 0, 30", "10, 30, 300", "10, 1000, 2000", "100000, 0, 2000"})
    void aPauseIsInProportionToTheWorkBefore(long cpuMillis, long waitMillis, long pauseMillis) {
        ThreadTimes used = new ThreadTimes(cpuMillis * 1_000_000, waitMillis * 1_000_000);
        assertEquals(pauseMillis * 1_000_000, Inventories.pauseNanos(used));
    }
}
