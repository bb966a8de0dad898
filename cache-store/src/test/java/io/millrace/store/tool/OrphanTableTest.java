package io.millrace.store.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OrphanTableTest {
    private static final long SEED = Long.getLong("store.seed", System.nanoTime());
    private static final int KEYS = 20_000;

    private final OrphanTable table = new OrphanTable();

    private Set<Long> shown() {
        Set<Long> shown = new HashSet<>();
        table.forEach(location -> assertTrue(shown.add(location), "twice: " + location));
        return shown;
    }

    @Test
    void showsTheNewestOfEachHoweverManyThereAre() {
        System.out.println("store.seed=" + SEED);
        Random random = new Random(SEED);
        Map<Integer, Long> newest = new HashMap<>();
        Map<Integer, Long> locations = new HashMap<>();
        for (int i = 1; i <= 3 * KEYS; i++) {
            int key = random.nextInt(KEYS);
            long sequence = 1L + random.nextInt(1 << 30);
            long location = random.nextInt(4) == 0 ? 0 : i;
            // Some keys share half of their hash, and many share a home slot.
            table.note(key % 7, key / 7 * 512L, sequence, location);
            if (sequence >= newest.getOrDefault(key, 0L)) {
                newest.put(key, sequence);
                locations.put(key, location);
            }
        }
        locations.values().removeIf(location -> location == 0);
        assertEquals(new HashSet<>(locations.values()), shown());
        assertFalse(table.isFull());
    }

    @Test
    void saysWhenThereAreMoreThanItHolds() {
        for (int i = 1; i <= OrphanTable.ENTRIES_MAX; i++) {
            table.note(0, i, 1, i);
        }
        table.note(0, 1, 2, -1);
        assertFalse(table.isFull());
        assertTrue(shown().contains(-1L), "one that is there already has room");
        table.note(1, 0, 1, -2);
        assertTrue(table.isFull());
        assertFalse(shown().contains(-2L));
    }
}
