package io.millrace.store.memory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The selection of the entries with the most recent hits. */
final class HottestEntries {
    private HottestEntries() {}

    /**
     * Returns at most {@code max} entries of the table, those with the most hits first; not retained. Halves the hit
     * counts. Scans every entry, without a lock.
     */
    static List<RamEntry> take(RamTable table, int max) {
        // Entries are first counted by powers of two, to limit the number of entries that are collected.
        long[] sizes = new long[Integer.SIZE + 1];
        table.forEach(entry -> sizes[magnitude(entry)]++);
        int least = Integer.SIZE;
        long above = sizes[least];
        while (least > 0 && above + sizes[least - 1] <= max) {
            least--;
            above += sizes[least];
        }
        int surely = least;
        List<RamEntry> found = new ArrayList<>();
        List<RamEntry> others = new ArrayList<>();
        table.forEach(entry -> {
            if (magnitude(entry) >= surely) {
                found.add(entry);
            } else if (magnitude(entry) == surely - 1 && others.size() < max) {
                others.add(entry);
            } else {
                entry.hits >>>= 1;
            }
        });
        found.addAll(others);
        long[] order = new long[found.size()];
        for (int i = 0; i < order.length; i++) {
            order[i] = (long) -found.get(i).hits << Integer.SIZE | i;
        }
        Arrays.sort(order);
        List<RamEntry> hottest = new ArrayList<>();
        for (int i = 0; i < order.length && i < max; i++) {
            hottest.add(found.get((int) order[i]));
        }
        found.forEach(entry -> entry.hits >>>= 1);
        return hottest;
    }

    private static int magnitude(RamEntry entry) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(entry.hits);
    }
}
