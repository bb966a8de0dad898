package io.millrace.store.index;

/**
 * Selects the entry to evict when a table is full. It compares at most {@value #CANDIDATES_MAX} candidates. It prefers
 * an entry whose record was reclaimed, then an expired entry, then an entry with fewer hits, then an entry in an older
 * segment. It never selects a tombstone (the entry of a removed key).
 *
 * <p>The eviction must not leave an additional deletion mark, because marks would fill the table. Therefore the victim
 * is in the probe sequence of the new entry, so that the new entry reuses its slot. If that sequence contains no entry,
 * the victim is an entry that displaced no later entry, so that its slot becomes empty.
 *
 * <p>Confined to the volume's writer thread.
 */
final class Eviction {
    /** Maximum number of entries that are compared. */
    private static final int CANDIDATES_MAX = 16;
    /** Maximum number of slots that are scanned. */
    private static final int SLOTS_MAX = 4096;

    private final SlotTable table;
    private final SegmentAges ages;
    private final long nowSeconds;
    private int candidates;
    private long best = -1;
    private long bestRank;
    private long bestAge;

    private Eviction(SlotTable table, SegmentAges ages, long nowSeconds) {
        this.table = table;
        this.ages = ages;
        this.nowSeconds = nowSeconds;
    }

    /** Returns the slot to clear for an entry of this hash, -1 if there is none. */
    static long victim(SlotTable table, long hashLow, SegmentAges ages, long nowSeconds) {
        Eviction eviction = new Eviction(table, ages, nowSeconds);
        long home = hashLow & table.mask;
        eviction.considerProbeSequence(home);
        if (eviction.best < 0) {
            // The search begins at another position. Evictions near the home slot would close the gaps between runs of
            // used slots, and the runs would merge.
            eviction.considerRunBackwards(hashLow >>> 28 & table.mask);
        }
        return eviction.best;
    }

    private void considerProbeSequence(long home) {
        long slot = home;
        for (int i = 0; i < SLOTS_MAX && table.location(slot) != Location.NONE && candidates < CANDIDATES_MAX; i++) {
            consider(slot);
            slot = (slot + 1) & table.mask;
        }
    }

    /**
     * Scans forward to the end of a run of used slots and then back. Considers the entries that displaced no later
     * entry.
     */
    private void considerRunBackwards(long home) {
        long slot = home;
        int length = 0;
        boolean inRun = false;
        for (;
                length < Math.min(SLOTS_MAX, table.mask) && (!inRun || table.location(slot) != Location.NONE);
                length++) {
            inRun = inRun || Probing.isEntry(table.location(slot));
            slot = (slot + 1) & table.mask;
        }
        if (table.location(slot) != Location.NONE) {
            return;
        }
        // Number of slots, from the current one backwards, that the probe sequences of later entries pass over.
        long reach = 0;
        for (int i = 0; i < Math.min(length, Probing.MARK_SCAN_SLOTS_MAX) && candidates < CANDIDATES_MAX; i++) {
            slot = (slot - 1) & table.mask;
            boolean entry = Probing.isEntry(table.location(slot));
            if (entry && reach == 0) {
                consider(slot);
            }
            reach = Math.max(Math.max(0, reach - 1), entry ? Probing.displacement(table, slot) : 0);
        }
    }

    private void consider(long slot) {
        long location = table.location(slot);
        long meta = table.meta(slot);
        if (!Probing.isEntry(location) || SlotTable.isTombstone(meta)) {
            return;
        }
        candidates++;
        long age = ages.age(location);
        long rank = rank(meta, age);
        if (best < 0 || rank < bestRank || (rank == bestRank && age < bestAge)) {
            best = slot;
            bestRank = rank;
            bestAge = age;
        }
    }

    /**
     * Returns the rank of an entry. The entry with the lowest rank is evicted. A negative age means that the segment
     * of the record was reclaimed.
     */
    private long rank(long meta, long age) {
        if (age < 0) {
            return 0;
        }
        boolean isBlock = (meta & SlotTable.FLAG_BLOCK) != 0;
        return !isBlock && (meta & 0xFFFF_FFFFL) < nowSeconds ? 1 : 2 + SlotTable.hits(meta);
    }
}
