package io.millrace.proxy.observe.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The memory map is read again only when it is old enough, relative to the CPU time of a read. */
class ProcessMemoryTest {
    private static final Duration AGE_MAX = Duration.ofSeconds(10);

    private long nanos;
    private int reads;
    private long cpuMillis;

    private ProcessMemory.Reading read() {
        reads++;
        return new ProcessMemory.Reading(MemoryMap.NONE, TimeUnit.MILLISECONDS.toNanos(cpuMillis));
    }

    private ProcessMemory memory(long costFactor) {
        return new ProcessMemory(AGE_MAX, costFactor, () -> nanos, this::read);
    }

    /** Asks for the map every second. Returns the number of reads. */
    private int readsIn(ProcessMemory memory, int seconds) {
        reads = 0;
        for (int i = 0; i < seconds; i++) {
            memory.map();
            nanos += TimeUnit.SECONDS.toNanos(1);
        }
        return reads;
    }

    /** Time advances in seconds, so that a map is read one second after its limit. */
    @ParameterizedTest
    @CsvSource(useHeadersInDisplayName = true, textBlock = """
            CPU time in ms, factor, seconds between reads
            10,             500,    11
            60,             500,    31
            2000,           500,    61
            2000,           0,      11
            """)
    void mapIsReadAgainWhenItIsOlderThanTheLargerLimit(long cost, long costFactor, int secondsBetweenReads) {
        cpuMillis = cost;
        ProcessMemory memory = memory(costFactor);
        assertEquals(2, readsIn(memory, 12));
        assertEquals(10, readsIn(memory, 10 * secondsBetweenReads));
    }

    @Test
    void costOfTheFirstReadDoesNotCount() {
        ProcessMemory memory = memory(500);
        cpuMillis = 2000;
        memory.map();
        cpuMillis = 10;
        assertEquals(9, readsIn(memory, 110));
    }
}
