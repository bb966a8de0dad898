package io.millrace.store.memory;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Selects the entries of a RAM tier with the highest hit counts, in which older hits weigh less. An entry in compact
 * form has no hits.
 *
 * <p>Confined to one thread.
 */
final class HottestEntries {
    private final EntrySlots slots;
    private final @Nullable CompactEntries<?> compact;
    private final int max;

    /** Hashes of the selected entries, two for each. */
    private long[] hashes = new long[64];

    private int[] hits = new int[hashes.length / 2];
    private int count;
    /**
     * Number of selected entries with the highest magnitude of which not all entries fit. The magnitude is the number
     * of bits of the hit count.
     */
    private int boundaryEntries;

    private HottestEntries(EntrySlots slots, @Nullable CompactEntries<?> compact, int max) {
        this.slots = slots;
        this.compact = compact;
        this.max = max;
    }

    /**
     * Returns the keys of at most {@code max} entries of the table, in descending order of hit counts. Halves the hit
     * count of every entry, so that older hits lose weight. Rounds up, so that an entry with a hit keeps at least one.
     * Scans every entry.
     */
    static HottestKeys selectAndHalve(RamTable table, EntrySlots slots, @Nullable CompactEntries<?> compact, int max) {
        HottestEntries selection = new HottestEntries(slots, compact, max);
        // The first scan counts the entries per power of two of their hits. These counts determine a minimum, so that
        // the second scan collects only few entries.
        long[] countsByMagnitude = new long[Integer.SIZE + 1];
        table.forEach(slot -> countsByMagnitude[magnitude(selection.hits(slot))]++, () -> {});
        int magnitudeMin = Integer.SIZE;
        long selected = countsByMagnitude[magnitudeMin];
        while (magnitudeMin > 0 && selected + countsByMagnitude[magnitudeMin - 1] <= max) {
            magnitudeMin--;
            selected += countsByMagnitude[magnitudeMin];
        }
        int selectedFrom = magnitudeMin;
        table.forEach(slot -> selection.visit(slot, selectedFrom), () -> {});
        return selection.sorted();
    }

    private int hits(int slot) {
        RamEntry entry = slots.entry(slot);
        return entry == null ? 0 : entry.hits;
    }

    private void visit(int slot, int selectedFrom) {
        RamEntry entry = slots.entry(slot);
        int slotHits = entry == null ? 0 : entry.hits;
        int magnitude = magnitude(slotHits);
        if (magnitude >= selectedFrom) {
            add(slot, slotHits);
        } else if (magnitude == selectedFrom - 1 && boundaryEntries < max) {
            boundaryEntries++;
            add(slot, slotHits);
        }
        if (entry != null) {
            entry.hits -= entry.hits / 2;
        }
    }

    private void add(int slot, int slotHits) {
        if (count == hits.length) {
            hits = Arrays.copyOf(hits, count * 2);
            hashes = Arrays.copyOf(hashes, count * 4);
        }
        RamEntry entry = slots.entry(slot);
        long high = entry != null ? entry.hashHigh() : compact == null ? 0 : compact.hashHigh(slots.place(slot));
        hashes[2 * count] = high;
        hashes[2 * count + 1] = slots.hash(slot);
        hits[count++] = slotHits;
    }

    private HottestKeys sorted() {
        long[] order = new long[count];
        for (int i = 0; i < count; i++) {
            order[i] = (long) -hits[i] << Integer.SIZE | i;
        }
        Arrays.sort(order);
        int kept = Math.min(max, count);
        long[] sorted = new long[2 * kept];
        int requestedAgain = 0;
        for (int i = 0; i < kept; i++) {
            int at = (int) order[i];
            sorted[2 * i] = hashes[2 * at];
            sorted[2 * i + 1] = hashes[2 * at + 1];
            requestedAgain += hits[at] > 0 ? 1 : 0;
        }
        return new HottestKeys(sorted, requestedAgain);
    }

    /** Returns the number of bits of a hit count. */
    private static int magnitude(int hits) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(hits);
    }
}
