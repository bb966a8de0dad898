package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HottestEntriesTest {
    private final RamTable table = new RamTable(new EntrySlots(), 1 << 20, RamTable.BYTES_PER_CHAIN);

    private void add(int... hits) {
        for (int i = 0; i < hits.length; i++) {
            RamEntry entry = new RamEntry(new byte[] {(byte) i}, (long) i << 32, Unpooled.EMPTY_BUFFER, 0) {};
            entry.hits = hits[i];
            table.put(entry);
        }
    }

    private List<Integer> hits(int max) {
        return HottestEntries.take(table, max).stream().map(entry -> entry.hits).toList();
    }

    @ParameterizedTest(name = "{0} of 6")
    @CsvSource({"0, ''", "1, 50", "2, '50 20'", "4, '50 20 4 3'", "9, '50 20 4 3 1 0'"})
    void takesTheMostHitsFirst(int max, String halved) {
        add(7, 0, 100, 2, 40, 5);
        assertEquals(halved, hits(max).stream().map(String::valueOf).collect(Collectors.joining(" ")));
    }

    @Test
    void halvesTheHitsOfAllEntriesAndKeepsTheLast() {
        add(8, 4, 2);
        HottestEntries.take(table, 1);
        assertEquals(List.of(2, 1, 1), hits(3));
    }
}
