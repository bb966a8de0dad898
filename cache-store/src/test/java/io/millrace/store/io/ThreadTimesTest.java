package io.millrace.store.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ThreadTimesTest {
    @TempDir
    Path directory;

    @Test
    void readsTheWaitFromTheStatisticsOfTheScheduler() throws IOException {
        Path statistics = Files.writeString(directory.resolve("schedstat"), "1234 567 8\n");
        assertEquals(567, ThreadTimes.ofCallingThread(statistics).waitNanos());
        assertEquals(new ThreadTimes(234, 67), new ThreadTimes(1234, 567).since(new ThreadTimes(1000, 500)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1234", "a b c"})
    void usesTheTimesOfTheJvmForUnreadableStatistics(String text) throws IOException {
        Path statistics = Files.writeString(directory.resolve("schedstat"), text);
        assertEquals(0, ThreadTimes.ofCallingThread(statistics).waitNanos());
        assertTrue(ThreadTimes.ofCallingThread(directory.resolve("missing")).cpuNanos() > 0);
    }

    /** A task is shorter than a tick of the kernel's timer. */
    @Test
    void countsTheCpuTimeOfShortTasks() throws IOException {
        Path statistics = Files.writeString(directory.resolve("schedstat"), "0 0 0\n");
        ThreadTimes before = ThreadTimes.ofCallingThread(statistics);
        ThreadTimes after = before;
        for (int i = 0; i < 1_000_000 && after.cpuNanos() == before.cpuNanos(); i++) {
            after = ThreadTimes.ofCallingThread(statistics);
        }
        assertTrue(after.since(before).cpuNanos() > 0);
    }
}
