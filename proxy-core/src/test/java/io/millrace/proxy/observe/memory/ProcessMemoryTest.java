package io.millrace.proxy.observe.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

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

    @Test
    void cheapMapIsReadWhenItIsOlderThanTheAgeLimit() {
        cpuMillis = 10;
        assertEquals(10, readsIn(memory(500), 110));
    }

    @Test
    void expensiveMapIsReadLessOften() {
        ProcessMemory memory = memory(500);
        cpuMillis = 60;
        readsIn(memory, 20);
        assertEquals(10, readsIn(memory, 310));
    }

    @Test
    void mapIsNeverOlderThanAMinute() {
        ProcessMemory memory = memory(500);
        cpuMillis = 2000;
        readsIn(memory, 20);
        assertEquals(10, readsIn(memory, 610));
    }

    @Test
    void costOfTheFirstReadDoesNotCount() {
        ProcessMemory memory = memory(500);
        cpuMillis = 2000;
        memory.map();
        cpuMillis = 10;
        assertEquals(9, readsIn(memory, 110));
    }

    @Test
    void withoutFactorTheCostOfReadsDoesNotMatter() {
        cpuMillis = 2000;
        assertEquals(10, readsIn(memory(0), 110));
    }
}
