package io.millrace.proxy.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the memory of closed streams (RFC 9113 s5.1). */
class StreamTableTest {
    private final StreamTable table = new StreamTable();

    @ParameterizedTest
    @CsvSource({
        // id, idle, opened, reset: after the streams 1, 5 and 9, of which 5 was reset
        "0, true, false, false",
        "1, false, true, false",
        "2, true, false, false",
        "3, false, false, false",
        "5, false, true, true",
        "7, false, false, false",
        "8, true, false, false",
        "9, false, true, false",
        "10, true, false, false",
        "11, true, false, false",
        "2147483647, true, false, false",
    })
    void streamsAreIdleUntilAHigherOneBegins(int id, boolean idle, boolean opened, boolean reset) {
        for (int begun : new int[] {1, 5, 9}) {
            table.begin(begun);
        }
        table.markReset(5);
        assertEquals(idle, table.isIdle(id), "idle");
        assertEquals(opened, table.wasOpened(id), "opened");
        assertEquals(reset, table.wasReset(id), "reset");
        assertEquals(9, table.lastId());
    }

    /**
     * The last 64 streams and the last 64 resets are known exactly; older ones are never reported as opened or reset by
     * mistake.
     */
    @Test
    void remembersTheLastStreams() {
        Random random = new Random(11);
        for (int round = 0; round < 200; round++) {
            StreamTable fresh = new StreamTable();
            TreeSet<Integer> opened = new TreeSet<>();
            List<Integer> resets = new ArrayList<>();
            int id = 1 + 2 * random.nextInt(200);
            for (int i = 0; i < 100; i++) {
                fresh.begin(id);
                opened.add(id);
                if (random.nextInt(3) == 0) {
                    int of = opened.stream()
                            .skip(random.nextInt(opened.size()))
                            .findFirst()
                            .orElseThrow();
                    fresh.markReset(of);
                    resets.add(of);
                }
                List<Integer> last = resets.subList(Math.max(0, resets.size() - 64), resets.size());
                for (int at = Math.max(1, id - 300); at <= id + 4; at += 2) {
                    boolean remembered = (id - at) / 2 < 64 && at <= id;
                    assertEquals(remembered && opened.contains(at), fresh.wasOpened(at), "opened " + at + " of " + id);
                    assertEquals(last.contains(at), fresh.wasReset(at), "reset " + at + " of " + id);
                }
                id += 2 * (random.nextInt(10) == 0 ? 1 + random.nextInt(100) : 1);
            }
        }
    }

    /** Ids up to 2^31-1 do not overflow. */
    @Test
    void takesTheHighestId() {
        table.begin(Integer.MAX_VALUE);
        table.markReset(Integer.MAX_VALUE);
        assertTrue(table.wasReset(Integer.MAX_VALUE));
        assertFalse(table.wasOpened(1));
        assertFalse(table.isIdle(1));
        assertTrue(table.isIdle(2));
    }
}
