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
    void readsTheStatisticsOfTheScheduler() throws IOException {
        Path statistics = Files.writeString(directory.resolve("schedstat"), "1234 567 8\n");
        ThreadTimes times = ThreadTimes.ofCallingThread(statistics);
        assertEquals(new ThreadTimes(1234, 567), times);
        assertEquals(new ThreadTimes(234, 67), times.since(new ThreadTimes(1000, 500)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1234", "a b c"})
    void usesTheTimesOfTheJvmForUnreadableStatistics(String text) throws IOException {
        Path statistics = Files.writeString(directory.resolve("schedstat"), text);
        assertEquals(0, ThreadTimes.ofCallingThread(statistics).waitNanos());
        assertTrue(ThreadTimes.ofCallingThread(directory.resolve("missing")).cpuNanos() > 0);
    }

    @Test
    void countsTheWorkOfTheCallingThread() {
        ThreadTimes before = ThreadTimes.ofCallingThread();
        ThreadTimes after = before;
        while (after.cpuNanos() < before.cpuNanos() + 1_000_000) {
            after = ThreadTimes.ofCallingThread();
        }
        assertTrue(after.since(before).waitNanos() >= 0);
    }
}
