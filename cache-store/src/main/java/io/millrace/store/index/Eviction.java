package io.millrace.store.index;

/**
 * Selects the entry to evict when a table is full. Among some candidates it prefers an entry whose record is gone, then
 * an expired one. Next it prefers fewer hits, and then the older segment. It never selects a tombstone.
 *
 * <p>The evicted entry must free the slot that the new entry takes; otherwise deletion marks would fill the table.
 * Therefore the victim is in the probe sequence of the new entry, which reuses its slot. If that sequence has no entry,
 * the victim is one whose slot becomes empty, because no later entry was displaced by it.
 *
 * <p>Confined to the volume's writer thread.
 */
final class Eviction {
    /** Limit of entries compared. */
    private static final int CANDIDATES_MAX = 16;
    /** Limit of slots scanned. */
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
        eviction.inTheWay(home);
        if (eviction.best < 0) {
            // Searches at another position. Evictions near the home slot would close the gaps between runs, and the
            // runs would merge.
            eviction.leavingNoMark(hashLow >>> 28 & table.mask);
        }
        return eviction.best;
    }

    private void inTheWay(long home) {
        long slot = home;
        for (int i = 0; i < SLOTS_MAX && table.location(slot) != Location.NONE && candidates < CANDIDATES_MAX; i++) {
            consider(slot);
            slot = (slot + 1) & table.mask;
        }
    }

    /** Scans forward to the end of a run and back, and considers entries that displaced no later entry. */
    private void leavingNoMark(long home) {
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
        // Number of slots before the current one that the probe sequences of later entries pass over.
        long reach = 0;
        for (int i = 0; i < Math.min(length, Probing.NEED_SLOTS_MAX) && candidates < CANDIDATES_MAX; i++) {
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

    private long rank(long meta, long age) {
        if (age < 0) {
            return 0;
        }
        boolean block = (meta & SlotTable.FLAG_BLOCK) != 0;
        return !block && (meta & 0xFFFF_FFFFL) < nowSeconds ? 1 : 2 + SlotTable.hits(meta);
    }
}
