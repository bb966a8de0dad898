package io.millrace.proxy.purge.record;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RemovalTimesTest {
    @TempDir
    private Path directory;

    private final AtomicLong clock = new AtomicLong(1000);

    private static byte[] key(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    @Test
    void keepsTheLatestTimeOfEachKeyForOthersToo() {
        RemovalTimes times = RemovalTimes.in(directory, clock::get);
        assertEquals(0, times.latest(key("a")));
        times.removed(key("a"));
        clock.set(500);
        times.removed(key("a"));
        assertEquals(1000, times.latest(key("a")));
        assertEquals(0, times.latest(key("b")));
        times.swept(700);
        times.swept(600);
        RemovalTimes other = RemovalTimes.in(directory, clock::get);
        assertEquals(1000, other.latest(key("a")));
        assertEquals(700, other.latestSwept());
        other.removed(key("b"));
        assertEquals(500, times.latest(key("b")));
    }

    @Test
    void worksWithoutADirectory() {
        RemovalTimes times = RemovalTimes.in(null, clock::get);
        times.removed(key("a"));
        assertEquals(1000, times.latest(key("a")));
    }

    @Test
    void everySlotIsInTheTable() {
        RemovalTimes times = RemovalTimes.in(null, clock::get);
        for (int i = 0; i < 10_000; i++) {
            times.removed(key("http://h/" + i));
            assertEquals(1000, times.latest(key("http://h/" + i)));
        }
    }
}
