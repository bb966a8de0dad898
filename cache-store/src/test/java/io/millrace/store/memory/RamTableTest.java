package io.millrace.store.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Visits to the table while entries of the same chain are replaced. */
final class RamTableTest {
    private final RamTable table = new RamTable(new EntrySlots(), 0, RamTable.BYTES_PER_CHAIN);

    /** Returns an entry in chain 0. */
    private static RamEntry entry(int key) {
        return new RamEntry(new byte[] {(byte) key}, key, Unpooled.EMPTY_BUFFER, 0) {};
    }

    @Test
    void aVisitMissesNoKeyWhoseEntryIsReplacedMeanwhile() {
        for (int key = 1; key <= 3; key++) {
            table.put(entry(key));
        }
        List<Integer> visited = new ArrayList<>();
        table.forEach(visiting -> {
            visited.add((int) visiting.keyBytes()[0]);
            for (int key = 1; key <= 3; key++) {
                table.put(entry(key));
            }
        });
        assertEquals(List.of(1, 2, 3), visited.stream().sorted().toList());
    }

    @Test
    void aVisitMayRemoveTheEntriesThatItVisits() {
        for (int key = 1; key <= 3; key++) {
            table.put(entry(key));
        }
        table.forEach(table::remove);
        table.forEach(left -> {
            throw new AssertionError("still in the table: " + left.keyBytes()[0]);
        });
    }
}
