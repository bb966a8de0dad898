package io.millrace.store.index;

/**
 * Chooses what goes when a table is full: of some entries one whose record is gone, else one
 * that expired, else the one with the fewest hits, else the one in the oldest segment. Never a tombstone.
 *
 * <p>The slot freed must make up for the one taken, else marks would fill the table. So the victim is in the new entry's
 * way, which then inherits its slot; or, where nothing is in its way, one whose slot becomes empty, as nothing behind was
 * put there because of it.
 *
 * <p>Confined to the volume's writer thread.
 */
final class Eviction {
    /** Entries compared. */
    private static final int CANDIDATES_MAX = 16;
    /** Slots looked at. */
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

    /** The slot to clear for an entry of this hash, -1 when there is none. */
    static long victim(SlotTable table, long hashLow, SegmentAges ages, long nowSeconds) {
        Eviction eviction = new Eviction(table, ages, nowSeconds);
        long home = hashLow & table.mask;
        eviction.inTheWay(home);
        if (eviction.best < 0) {
            // Somewhere else: near by, the gaps of the table would run together, and so would what is between them.
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

    /** Goes on to the end of a run and back, over the entries that no entry behind is put off by. */
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
        // So many slots, back from the one looked at, the entries behind it go over.
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
