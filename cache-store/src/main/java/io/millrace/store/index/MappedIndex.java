package io.millrace.store.index;

import io.millrace.store.io.FileIo;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The index of one volume: 128-bit hash to {@link Location}, expiry, flags and hits, in the mapped file
 * {@value #FILE_NAME}.
 *
 * <p>When three quarters of the table are used or marked, another one is made, of double the size if need be, a little in
 * each put and more in each {@link #step}: see {@link Growth}. No lookup waits for it, no change does more than a bounded
 * piece of it, and at 13/16, where the old table counts as full, it has long been in place. Where it cannot be
 * made, for want of disk space, a put evicts another entry: see {@link Eviction}.
 *
 * <p>Writers only mark and fill slots after the log has the record, so the table is never ahead of the log, and
 * {@link #applied} says how far behind it may be after kill -9.
 *
 * <p>Thread-safe: lookups and {@link #hit} from any thread; all that changes entries is confined to the volume's writer
 * thread.
 */
public final class MappedIndex {
    /** Name of the file in the volume's directory. */
    public static final String FILE_NAME = IndexFile.NAME;
    /** Where an entry's hits stop to be counted. */
    public static final int HITS_MAX = SlotTable.HITS_MAX;

    private static final Logger LOG = LoggerFactory.getLogger(MappedIndex.class);
    /** Slots of a new table at least: the puts between three quarters and 13/16 suffice to make a larger one. */
    private static final int FIRST_SHIFT_MIN = 10;
    /** And at most: it grows without a pause, but making it is one. */
    private static final int FIRST_SHIFT_MAX = 20;

    private static final int PUT_BYTES = 64 * 1024;
    private static final int PUT_SLOTS = 64;
    /** Background steps may take longer: tasks come between them. */
    private static final int STEP_BYTES = 256 * 1024;

    private static final int STEP_SLOTS = 2048;
    private static final int WALK_SLOTS = 8192;
    private static final long NOWHERE = Location.pack(0, Location.UNIT_BYTES, Location.UNIT_BYTES, 0);

    private final TableSource source;
    private final String name;
    private final AtomicLong evictions = new AtomicLong();
    private volatile SlotTable table;
    /** The table that replaces the other soon and takes every change; null while there is none. */
    private volatile @Nullable SlotTable growing;

    // All below is confined to the writer thread.
    private int shiftMax = IndexFile.SHIFT_MAX;
    private int putSlots = PUT_SLOTS;
    private int stepSlots = STEP_SLOTS;
    private SegmentAges ages = location -> 0;
    private @Nullable Growth growth;
    /** Puts that have to pass before growth is tried again after it failed. */
    private long growthWait;

    private long growthPause;
    private boolean rebuilding;
    /** During a rebuild: something newer was given up, so nothing older may come in. */
    private boolean overflowed;

    private @Nullable TableWalk finishing;
    private @Nullable TableWalk sweep;
    private @Nullable TableWalk nextSweep;

    /**
     * An index over a table.
     *
     * @param name how messages name it
     * @param rebuilding whether tombstones are kept until {@link #finishRebuildStep} is through
     */
    MappedIndex(TableSource source, String name, SlotTable table, boolean rebuilding) {
        this.source = source;
        this.name = name;
        this.table = table;
        this.rebuilding = rebuilding;
    }

    /** Sees every entry of a table. */
    @FunctionalInterface
    public interface EntryVisitor {
        /** One entry; {@code block} and {@code tombstone} are its flags. */
        void entry(long hashHigh, long hashLow, long location, boolean block, boolean tombstone);
    }

    /**
     * Makes a new, empty index, not yet complete, in place of whatever is there.
     *
     * @param auxiliaryBytes size of the auxiliary area, a multiple of 8
     * @param entriesExpected how many entries to have room for before the table grows, if that is not too much to begin
     *     with
     */
    public static MappedIndex create(FileIo io, Path directory, UUID volumeId, int auxiliaryBytes, long entriesExpected)
            throws IOException {
        int shift = FIRST_SHIFT_MIN;
        while (shift < FIRST_SHIFT_MAX && (1L << shift) < entriesExpected * 2) {
            shift++;
        }
        IndexFile file = new IndexFile(io, directory, volumeId, auxiliaryBytes);
        return new MappedIndex(file, directory.toString(), file.create(shift), true);
    }

    /**
     * Maps the index that is there and marks it unclean.
     *
     * @throws IndexUnusableException when it must be rebuilt from the segments; the message says why
     */
    public static MappedIndex open(FileIo io, Path directory, UUID volumeId, int auxiliaryBytes) throws IOException {
        IndexFile file = new IndexFile(io, directory, volumeId, auxiliaryBytes);
        return new MappedIndex(file, directory.toString(), file.open(), false);
    }

    /**
     * Maps the index as it is and changes nothing, whatever boot it is of: for looking at a volume that is not in use.
     *
     * @throws IndexUnusableException when it is missing, damaged or not complete
     */
    public static MappedIndex view(FileIo io, Path directory, UUID volumeId, int auxiliaryBytes) throws IOException {
        IndexFile file = new IndexFile(io, directory, volumeId, auxiliaryBytes);
        return new MappedIndex(file, directory.toString(), file.view(), false);
    }

    /** Says whom to ask about segments; before that all are equal. */
    public void segmentAges(SegmentAges segmentAges) {
        ages = segmentAges;
    }

    /** Largest log2 of the number of slots. */
    void shiftMax(int shift) {
        shiftMax = shift;
    }

    /** Slots that are copied in a put, and in a {@link #step}. */
    void slotsAtOnce(int put, int step) {
        putSlots = put;
        stepSlots = step;
    }

    /** Where the newest record of the hash lies, or {@link Location#NONE}. Any thread. */
    public long find(long hashHigh, long hashLow) {
        return Probing.find(table, hashHigh, hashLow);
    }

    /**
     * Whether the index cannot say for certain what the hash has: a slot that it may have had is damaged, as far as one
     * can tell. Any thread; slower than {@link #find}.
     */
    public boolean isDoubtful(long hashHigh, long hashLow) {
        SlotTable current = table;
        return current.isDamaged() || Probing.isDoubtful(current, hashHigh, hashLow);
    }

    /**
     * Where the newest record of an object's key lies of which only the lower half of the hash is known; of several
     * the first. {@link Location#NONE} when there is none. For the writer thread.
     */
    public long findKey(long hashLow) {
        return Probing.findKey(table, hashLow);
    }

    /**
     * Counts a read of the entry, up to {@link #HITS_MAX}; from there on it writes nothing. A count may get lost when
     * others change the entry. Any thread.
     */
    public void hit(long hashHigh, long hashLow) {
        hit(table, hashHigh, hashLow);
        SlotTable next = growing;
        if (next != null) {
            hit(next, hashHigh, hashLow);
        }
    }

    private static void hit(SlotTable table, long hashHigh, long hashLow) {
        long slot = Probing.slot(table, hashHigh, hashLow);
        if (slot >= 0) {
            table.hit(slot);
        }
    }

    /** How often the entry was read since it was put, at most {@link #HITS_MAX}; 0 when there is none. Any thread. */
    public int hits(long hashHigh, long hashLow) {
        SlotTable current = table;
        long slot = Probing.slot(current, hashHigh, hashLow);
        return slot < 0 ? 0 : SlotTable.hits(current.meta(slot));
    }

    /**
     * Sets the entry of an object's key, with no hits yet. Where there is no room another entry goes.
     *
     * @throws IOException when there is no room and nothing but tombstones around
     */
    public void put(long hashHigh, long hashLow, long location, int expirySeconds) throws IOException {
        put(hashHigh, hashLow, location, expirySeconds, 0);
    }

    /** As {@link #put(long, long, long, int)}, with hits that it brings along from another place. */
    public void put(long hashHigh, long hashLow, long location, int expirySeconds, int hits) throws IOException {
        set(hashHigh, hashLow, location, SlotTable.hitBits(hits) | Integer.toUnsignedLong(expirySeconds));
    }

    /** Sets the entry of a block, with no hits yet. */
    public void putBlock(long hashHigh, long hashLow, long location) throws IOException {
        putBlock(hashHigh, hashLow, location, 0);
    }

    /** As {@link #putBlock(long, long, long)}, with hits that it brings along from another place. */
    public void putBlock(long hashHigh, long hashLow, long location, int hits) throws IOException {
        set(hashHigh, hashLow, location, SlotTable.hitBits(hits) | SlotTable.FLAG_BLOCK);
    }

    /**
     * Remembers a tombstone, which hides what a rebuild finds in older segments; once it has found all there is, takes
     * the entry out.
     */
    public void putTombstone(long hashHigh, long hashLow, long location) throws IOException {
        if (rebuilding) {
            set(hashHigh, hashLow, location, SlotTable.FLAG_TOMBSTONE);
        } else {
            remove(hashHigh, hashLow);
        }
    }

    /**
     * As {@link #putTombstone}, for a tombstone that is in no log. Never fails: without room there is an entry to hide, or
     * the rebuild brings in nothing more.
     */
    public void hide(long hashHigh, long hashLow) {
        try {
            putTombstone(hashHigh, hashLow, NOWHERE);
        } catch (IOException e) {
            overflowed = true;
            remove(hashHigh, hashLow);
        }
    }

    /**
     * As the three puts, but for older records: an entry that exists stays.
     *
     * @return false when there is no room, or was none once: nothing older can be entered any more, as it might be older
     *     than what was left out
     */
    public boolean putOlder(
            long hashHigh, long hashLow, long location, int expirySeconds, boolean block, boolean tombstone) {
        long flags = (block ? SlotTable.FLAG_BLOCK : 0) | (tombstone ? SlotTable.FLAG_TOMBSTONE : 0);
        if (overflowed) {
            return false;
        }
        growInPut();
        long place = Probing.place(table, hashHigh, hashLow);
        if (place < 0) {
            if (!hasRoom(place)) {
                overflowed = true;
                return false;
            }
            fill(~place, hashHigh, hashLow, location, flags | Integer.toUnsignedLong(expirySeconds));
        }
        return true;
    }

    private void set(long hashHigh, long hashLow, long location, long meta) throws IOException {
        growInPut();
        long place = Probing.place(table, hashHigh, hashLow);
        if (place < 0 && !hasRoom(place)) {
            evict(hashLow);
            place = Probing.place(table, hashHigh, hashLow);
        }
        if (place < 0) {
            fill(~place, hashHigh, hashLow, location, meta);
            return;
        }
        Probing.move(table, place, location, meta);
        setInGrowing(hashHigh, hashLow, location, meta);
    }

    private void fill(long slot, long hashHigh, long hashLow, long location, long meta) {
        Probing.fill(table, slot, hashHigh, hashLow, location, meta);
        setInGrowing(hashHigh, hashLow, location, meta);
    }

    private void setInGrowing(long hashHigh, long hashLow, long location, long meta) {
        SlotTable next = growing;
        if (next != null && !Probing.set(next, hashHigh, hashLow, location, meta)) {
            growthFailed(new IOException("new table full: slots=" + next.slotCount()));
        }
    }

    /** Whether an entry may go to the place: marks are always free, empty slots up to 13/16 of the table. */
    private boolean hasRoom(long place) {
        SlotTable current = table;
        long count = current.slotCount();
        return place != Probing.NO_PLACE
                && (current.location(~place) == Location.DELETED || current.taken() < count - (count >>> 4) * 3);
    }

    private void evict(long hashLow) throws IOException {
        SlotTable current = table;
        long slot = Eviction.victim(current, hashLow, ages, System.currentTimeMillis() / 1000);
        if (slot < 0) {
            throw new IOException(name + ": index full of tombstones: slots=" + current.slotCount());
        }
        clear(current, slot);
        overflowed = rebuilding;
        evictions.incrementAndGet();
    }

    /** Takes the entry out, whatever it says; true when there was one and no tombstone. */
    public boolean remove(long hashHigh, long hashLow) {
        SlotTable current = table;
        long slot = Probing.slot(current, hashHigh, hashLow);
        if (slot < 0) {
            noteDamage(current, hashHigh, hashLow);
            return false;
        }
        boolean tombstone = SlotTable.isTombstone(current.meta(slot));
        clear(current, slot);
        return !tombstone;
    }

    /** What was not found may be in a slot that is damaged: said once, and mended by the next opening. */
    private void noteDamage(SlotTable current, long hashHigh, long hashLow) {
        if (!current.isDamaged() && Probing.isDoubtful(current, hashHigh, hashLow)) {
            current.damaged();
            LOG.warn("{}: index has damaged slots, the next start rebuilds it", name);
        }
    }

    /** Changes where an entry points to if it still says {@code from}; all else of it stays. */
    public void moveIf(long hashHigh, long hashLow, long from, long to) {
        SlotTable current = table;
        long slot = Probing.slot(current, hashHigh, hashLow);
        if (slot >= 0 && current.location(slot) == from) {
            long meta = current.meta(slot);
            Probing.move(current, slot, to, meta);
            setInGrowing(hashHigh, hashLow, to, meta);
        }
    }

    /** Takes the entry out if it still says {@code location}. */
    public void removeIf(long hashHigh, long hashLow, long location) {
        SlotTable current = table;
        long slot = Probing.slot(current, hashHigh, hashLow);
        if (slot >= 0 && current.location(slot) == location) {
            clear(current, slot);
        }
    }

    /** Takes out what the slot of the table in use holds. */
    void clear(SlotTable current, long slot) {
        SlotTable next = growing;
        if (next != null) {
            long other = Probing.slot(next, current.hashHigh(slot), current.hashLow(slot));
            if (other >= 0) {
                Probing.clear(next, other);
            }
        }
        Probing.clear(current, slot);
    }

    /**
     * Takes out, in steps from now on, every entry that points into the segment as it was under the tag: for when its own
     * summary cannot be read. The segment's next tag must differ in its low byte.
     */
    public void removeSegment(int segment, long tag) {
        TableWalk walk = sweep;
        if (walk == null) {
            walk = TableWalk.forSegments(table);
            sweep = walk;
        } else if (walk.hasBegun()) {
            walk = nextSweep;
            if (walk == null) {
                walk = TableWalk.forSegments(table);
                nextSweep = walk;
            }
        }
        walk.add(segment, (int) (tag & 0xFF));
    }

    /**
     * Takes a step of what ends a rebuild: tombstones are kept no more and go, and the table is complete.
     *
     * @return false when that is done
     */
    public boolean finishRebuildStep() {
        SlotTable current = table;
        rebuilding = false;
        TableWalk walk = finishing;
        if (walk == null) {
            walk = TableWalk.forTombstones(current);
            finishing = walk;
        }
        if (walk.step(this, current, WALK_SLOTS)) {
            return true;
        }
        finishing = null;
        current.field(SlotTable.COMPLETE_AT, IndexFile.MARK);
        return false;
    }

    /** All that {@link #finishRebuildStep} does, at once. */
    public void finishRebuild() {
        while (finishRebuildStep()) {
            // The step did it.
        }
    }

    /** Does a little of what is to be done between changes; false when there is nothing at the moment. */
    public boolean step() {
        if (growth != null) {
            grow(STEP_BYTES, stepSlots);
            return true;
        }
        TableWalk walk = sweep;
        if (walk != null && !walk.step(this, table, WALK_SLOTS)) {
            sweep = nextSweep;
            nextSweep = null;
        }
        return sweep != null;
    }

    private void growInPut() {
        if (growth != null) {
            grow(PUT_BYTES, putSlots);
            return;
        }
        SlotTable current = table;
        long count = current.slotCount();
        if (current.taken() < count - (count >>> 2)) {
            return;
        }
        if (growthWait > 0) {
            growthWait--;
            return;
        }
        int shift = current.used() > count >>> 1 ? current.shift + 1 : current.shift;
        if (shift > shiftMax && current.field(SlotTable.DELETED_AT) < count >>> 4) {
            growthWait = count >>> 4;
            return;
        }
        beginGrowth(Math.min(shift, shiftMax));
    }

    /** Begins to make a table of another size, unless one is being made. */
    void beginGrowth(int shift) {
        try {
            if (growth == null) {
                growth = new Growth(table, source.begin(shift), ages);
            }
        } catch (IOException e) {
            growthFailed(e);
        }
    }

    private void grow(int bytes, int slots) {
        Growth current = growth;
        if (current == null) {
            return;
        }
        try {
            SlotTable grown = current.step(bytes, slots);
            if (grown != null) {
                table = grown;
                growing = null;
                growth = null;
                growthPause = 0;
            } else {
                growing = current.target();
            }
        } catch (IOException e) {
            growthFailed(e);
        }
    }

    private void growthFailed(IOException e) {
        Growth current = growth;
        long count = table.slotCount();
        if (growthPause == 0) {
            LOG.warn("{}: index cannot grow, full it evicts: slots={}: {}", name, count, e.toString());
        }
        growing = null;
        growth = null;
        growthPause = Math.min(Math.max(growthPause << 1, count >>> 6), count);
        growthWait = growthPause;
        if (current != null) {
            current.discard();
        }
    }

    /** Shows every entry to the visitor; the table must not change meanwhile. */
    public void forEach(EntryVisitor visitor) {
        SlotTable current = table;
        for (long slot = 0; slot < current.slotCount(); slot++) {
            long location = current.location(slot);
            if (Probing.isEntry(location)) {
                long meta = current.meta(slot);
                visitor.entry(
                        current.hashHigh(slot),
                        current.hashLow(slot),
                        location,
                        (meta & SlotTable.FLAG_BLOCK) != 0,
                        SlotTable.isTombstone(meta));
            }
        }
    }

    /** Number of objects (blocks not counted). Any thread. */
    public long objects() {
        SlotTable current = table;
        return Math.max(0, current.field(SlotTable.USED_AT) - current.field(SlotTable.BLOCKS_AT));
    }

    /** Number of slots. Any thread. */
    public long capacity() {
        return table.slotCount();
    }

    /** Entries that had to go because the table was full and could not grow. Any thread. */
    public long evictions() {
        return evictions.get();
    }

    /** A word of the area for the owner's own use, which is kept with the index. */
    public long auxiliary(int word) {
        return table.auxiliary(word);
    }

    /** Sets a word of the auxiliary area. */
    public void auxiliary(int word, long value) {
        table.auxiliary(word, value);
        Growth current = growth;
        SlotTable next = current == null ? null : current.auxiliaryTarget();
        if (next != null) {
            next.auxiliary(word, value);
        }
    }

    /** Sequence of the last record that the table knows. */
    public long applied() {
        return table.field(SlotTable.APPLIED_AT);
    }

    /** Says that every record up to {@code sequence} is in the table. */
    public void applied(long sequence) {
        table.field(SlotTable.APPLIED_AT, sequence);
    }

    /** Forces the table to the device and marks it clean, so that it is good after a reboot too. */
    public void close() throws IOException {
        Growth current = growth;
        if (current != null) {
            growing = null;
            growth = null;
            current.discard();
        }
        SlotTable last = table;
        last.force();
        last.field(SlotTable.CLEAN_AT, IndexFile.MARK);
        last.force();
    }
}
