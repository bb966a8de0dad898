package io.millrace.store.engine.listing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.store.io.ThreadTimes;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InventoryPauseTest {
    @ParameterizedTest(name = "{0} ms of processor time, {1} ms of waiting, {2} volumes")
    @CsvSource({
        "0, 0, 1, 0",
        "10, 0, 1, 30",
        "10, 30, 1, 300",
        "10, 30, 3, 900",
        "10, 1000, 1, 2000",
        "100000, 0, 1, 2000"
    })
    void aPauseIsInProportionToTheWorkBefore(long cpuMillis, long waitMillis, int volumes, long pauseMillis) {
        ThreadTimes used = new ThreadTimes(cpuMillis * 1_000_000, waitMillis * 1_000_000);
        assertEquals(pauseMillis * 1_000_000, Inventories.pauseNanos(used, volumes));
    }
}
