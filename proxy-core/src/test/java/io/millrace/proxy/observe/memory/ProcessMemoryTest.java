package io.millrace.proxy.observe.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The memory map is read again only when it is old enough, relative to the time that a read takes. */
class ProcessMemoryTest {
    private static final Duration AGE_MAX = Duration.ofSeconds(10);

    private long nanos;
    private int reads;
    private long durationMillis;

    private MemoryMap read() {
        reads++;
        pass(durationMillis);
        return MemoryMap.NONE;
    }

    private void pass(long millis) {
        nanos += TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /** Asks for the map every second. Returns the number of reads. */
    private int readsIn(ProcessMemory memory, int seconds) {
        reads = 0;
        for (int i = 0; i < seconds; i++) {
            memory.map();
            pass(1000);
        }
        return reads;
    }

    @Test
    void mapOfSmallProcessIsReadWhenItIsOlderThanTheAgeLimit() {
        ProcessMemory memory = new ProcessMemory(AGE_MAX, 500, () -> nanos, this::read);
        durationMillis = 10;
        assertEquals(11, readsIn(memory, 110));
    }

    @Test
    void readsOfLargeProcessUseAtMostTheShareOfProcessorThatTheFactorAllows() {
        ProcessMemory memory = new ProcessMemory(AGE_MAX, 500, () -> nanos, this::read);
        durationMillis = 2000;
        assertEquals(5, readsIn(memory, 4000));
    }

    @Test
    void withoutFactorTheDurationOfReadsDoesNotMatter() {
        ProcessMemory memory = new ProcessMemory(AGE_MAX, 0, () -> nanos, this::read);
        durationMillis = 2000;
        assertEquals(13, readsIn(memory, 110));
    }
}
