package io.millrace.store.memory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Selects the entries of the RAM tier with the highest hit counts, in which older hits weigh less. Stateless. */
final class HottestEntries {
    private HottestEntries() {}

    /**
     * Returns at most {@code max} entries of the table, in descending order of hit counts. The entries are not
     * retained. Halves the hit count of every entry, so that older hits lose weight. Rounds up, so that an entry with a
     * hit keeps at least one. Scans every entry.
     */
    static List<RamEntry> take(RamTable table, int max) {
        // The first scan counts the entries per power of two of their hits. These counts determine a minimum, so that
        // the second scan collects only few entries.
        long[] countsByMagnitude = new long[Integer.SIZE + 1];
        table.forEach(entry -> countsByMagnitude[magnitude(entry)]++);
        int magnitudeMin = Integer.SIZE;
        long selected = countsByMagnitude[magnitudeMin];
        while (magnitudeMin > 0 && selected + countsByMagnitude[magnitudeMin - 1] <= max) {
            magnitudeMin--;
            selected += countsByMagnitude[magnitudeMin];
        }
        int selectedFrom = magnitudeMin;
        List<RamEntry> found = new ArrayList<>();
        List<RamEntry> others = new ArrayList<>();
        table.forEach(entry -> {
            if (magnitude(entry) >= selectedFrom) {
                found.add(entry);
            } else if (magnitude(entry) == selectedFrom - 1 && others.size() < max) {
                others.add(entry);
            } else {
                halve(entry);
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
        found.forEach(HottestEntries::halve);
        return hottest;
    }

    private static void halve(RamEntry entry) {
        entry.hits -= entry.hits / 2;
    }

    private static int magnitude(RamEntry entry) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(entry.hits);
    }
}
