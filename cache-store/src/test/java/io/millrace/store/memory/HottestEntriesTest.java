package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HottestEntriesTest {
    private final EntrySlots slots = new EntrySlots();
    private final RamTable table = new RamTable(slots, null, 1 << 20, RamTable.BYTES_PER_CHAIN);

    private void add(int... hits) {
        for (int i = 0; i < hits.length; i++) {
            byte[] key = {(byte) i};
            RamEntry entry = new RamEntry(key, (long) i << 32, Unpooled.EMPTY_BUFFER, 0) {};
            entry.hits = hits[i];
            int slot = slots.allocate();
            slots.set(slot, entry, CompactEntries.NONE, entry.hashLow(), EvictionPolicy.ADDING);
            table.put(slot, key);
        }
    }

    private HottestKeys take(int max) {
        return HottestEntries.selectAndHalve(table, slots, null, max);
    }

    private static List<Integer> numbers(HottestKeys keys) {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < keys.count(); i++) {
            numbers.add((int) (keys.hashes()[2 * i + 1] >>> 32));
        }
        return numbers;
    }

    private List<Integer> hits() {
        List<Integer> hits = new ArrayList<>();
        table.forEach(slot -> hits.add(slots.entry(slot).hits), () -> {});
        return hits.stream().sorted().toList();
    }

    @ParameterizedTest(name = "{0} of 6")
    @CsvSource({"0, '[]', 0", "1, '[2]', 1", "2, '[2, 4]', 2", "4, '[2, 4, 0, 5]', 4", "9, '[2, 4, 0, 5, 3, 1]', 5"})
    void takesTheMostHitsFirst(int max, String expected, int requestedAgain) {
        add(7, 0, 100, 2, 40, 5);
        HottestKeys keys = take(max);
        assertEquals(expected, numbers(keys).toString());
        assertEquals(requestedAgain, keys.requestedAgain());
    }

    @Test
    void halvesTheHitsOfAllEntriesAndKeepsTheLast() {
        add(8, 4, 2, 0);
        take(1);
        assertEquals(List.of(0, 1, 2, 4), hits());
        take(4);
        assertEquals(List.of(0, 1, 1, 2), hits());
    }
}
