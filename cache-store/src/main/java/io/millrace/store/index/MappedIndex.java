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
 * The index of one volume, in the mapped file {@value #FILE_NAME}. For each 128-bit hash it holds a {@link Location},
 * an expiry, flags and a hit count. The hash identifies an object by its key, or a block: a part of a body in a
 * separate record.
 *
 * <p>When three quarters of the slots are used or marked deleted, a new table is built, twice as large if needed. Each
 * put performs a small, bounded part of this work, and each {@link #step} a larger part (see {@link Growth}). Lookups
 * do not wait for it. The old table counts as full at 13/16; the new table normally replaces it long before. If the
 * disk has no space for the new table, a put evicts another entry (see {@link Eviction}).
 *
 * <p>An entry is written only after its record is in the log (the segments of the volume), so that the table is never
 * ahead of the log. After kill -9, {@link #appliedSequence} returns the sequence number of the last record that the
 * table contains.
 *
 * <p>Thread-safe: lookups and {@link #hit} from any thread; all changes of entries are confined to the volume's writer
 * thread.
 */
public final class MappedIndex {
    /** Name of the file in the volume's directory. */
    public static final String FILE_NAME = IndexFile.NAME;
    /** Maximum of an entry's hit count. */
    public static final int HITS_MAX = SlotTable.HITS_MAX;

    private static final Logger LOG = LoggerFactory.getLogger(MappedIndex.class);
    /**
     * Log2 of the minimum number of slots of a new table. In a table of this size, the puts between three quarters and
     * 13/16 suffice to build a larger table.
     */
    private static final int FIRST_SHIFT_MIN = 10;
    /**
     * Log2 of the maximum number of slots of a new table. The creation of a table blocks, whereas its later growth does
     * not.
     */
    private static final int FIRST_SHIFT_MAX = 20;

    /** Bytes of a new table's file that one put writes. */
    private static final int PUT_BYTES = 64 * 1024;
    /** Slots that one put copies to a new table. */
    private static final int PUT_SLOTS = 64;
    /**
     * Bytes of a new table's file that one call of {@link #step} writes. This may be more than for a put, because the
     * writer thread runs other tasks between steps.
     */
    private static final int STEP_BYTES = 256 * 1024;

    /** Slots that one call of {@link #step} copies to a new table. */
    private static final int STEP_SLOTS = 2048;
    /** Slots that one step of a {@link TableWalk} scans. */
    private static final int WALK_SLOTS = 8192;
    /** Location of a tombstone that has no record in the log. */
    private static final long UNLOGGED = Location.pack(0, Location.UNIT_BYTES, Location.UNIT_BYTES, 0);

    private final TableSource source;
    private final String name;
    private final AtomicLong evictions = new AtomicLong();
    private volatile SlotTable table;
    /** The new table that receives every change in addition to {@link #table}; null if no table is being filled. */
    private volatile @Nullable SlotTable growing;

    // The following fields are confined to the writer thread.
    private int shiftMax = IndexFile.SHIFT_MAX;
    private int putSlots = PUT_SLOTS;
    private int stepSlots = STEP_SLOTS;
    private SegmentAges ages = location -> 0;
    private @Nullable Growth growth;
    /** Number of puts that remain until growth is tried again after a failure. */
    private long putsUntilRetry;

    /** Puts to wait after the last failure of growth; doubles with each failure, 0 after success. */
    private long retryDelayPuts;

    private boolean rebuilding;
    /**
     * True if an entry was dropped during a rebuild. No older entry may be added then, because it might be an outdated
     * record of the same hash.
     */
    private boolean overflowed;

    /** Scan that removes tombstones at the end of a rebuild; null if it is not running. */
    private @Nullable TableWalk finishing;
    /** Running scan that removes entries of reclaimed segments; null if it is not running. */
    private @Nullable TableWalk sweep;
    /** Scan that begins when {@link #sweep} ends; null if no segment waits for it. */
    private @Nullable TableWalk nextSweep;

    /**
     * Creates an index over a table.
     *
     * @param name name in log messages
     * @param rebuilding whether tombstones (entries of removed keys) are kept until {@link #finishRebuildStep} has
     *     ended
     */
    MappedIndex(TableSource source, String name, SlotTable table, boolean rebuilding) {
        this.source = source;
        this.name = name;
        this.table = table;
        this.rebuilding = rebuilding;
    }

    /** Receives every entry of a table. */
    @FunctionalInterface
    public interface EntryVisitor {
        /** Called per entry; {@code block} and {@code tombstone} are its flags. */
        void entry(long hashHigh, long hashLow, long location, boolean block, boolean tombstone);
    }

    /**
     * Creates a new, empty and incomplete index that replaces any existing one.
     *
     * @param auxiliaryBytes size of the auxiliary area, a multiple of 8
     * @param entriesExpected number of entries for which the table has space before it grows, limited by the maximum
     *     initial size
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
     * Maps the existing index and removes its clean mark, which {@link #close} sets.
     *
     * @throws IndexUnusableException if the index must be rebuilt from the segments; the message states the reason
     */
    public static MappedIndex open(FileIo io, Path directory, UUID volumeId, int auxiliaryBytes) throws IOException {
        IndexFile file = new IndexFile(io, directory, volumeId, auxiliaryBytes);
        return new MappedIndex(file, directory.toString(), file.open(), false);
    }

    /**
     * Maps the existing index without changing it, even after a reboot. For the inspection of a volume that no store
     * uses.
     *
     * @throws IndexUnusableException if the index is missing, damaged or incomplete
     */
    public static MappedIndex view(FileIo io, Path directory, UUID volumeId, int auxiliaryBytes) throws IOException {
        IndexFile file = new IndexFile(io, directory, volumeId, auxiliaryBytes);
        return new MappedIndex(file, directory.toString(), file.view(), false);
    }

    /** Sets the source of segment ages. Before this call all segments have the same age. */
    public void segmentAges(SegmentAges segmentAges) {
        ages = segmentAges;
    }

    /** Sets the maximum log2 of the number of slots. */
    void shiftMax(int shift) {
        shiftMax = shift;
    }

    /** Sets the numbers of slots that are copied per put, and per {@link #step}. */
    void slotsAtOnce(int put, int step) {
        putSlots = put;
        stepSlots = step;
    }

    /** Returns the location of the newest record of the hash, or {@link Location#NONE}. Any thread. */
    public long find(long hashHigh, long hashLow) {
        return Probing.find(table, hashHigh, hashLow);
    }

    /**
     * Returns true if the result "not found" for the hash is unreliable. The reason is a damaged slot that may have
     * contained the hash. Any thread; slower than {@link #find}.
     */
    public boolean isMissUnreliable(long hashHigh, long hashLow) {
        SlotTable current = table;
        return current.isDamaged() || Probing.isMissUnreliable(current, hashHigh, hashLow);
    }

    /**
     * Returns the location of the newest record of an object, by the lower half of its key hash. If several objects
     * have this lower half, returns the first one found; {@link Location#NONE} if there is none. For the writer thread.
     */
    public long findKey(long hashLow) {
        return Probing.findKey(table, hashLow);
    }

    /**
     * Counts a read of the entry. At {@link #HITS_MAX} the count saturates, and the method writes no memory. A count
     * may be lost if the entry changes concurrently. Any thread.
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

    /**
     * Returns the number of reads of the entry since it was put, at most {@link #HITS_MAX}. 0 if there is no entry. Any
     * thread.
     */
    public int hits(long hashHigh, long hashLow) {
        SlotTable current = table;
        long slot = Probing.slot(current, hashHigh, hashLow);
        return slot < 0 ? 0 : SlotTable.hits(current.meta(slot));
    }

    /**
     * Sets the entry of an object's key, without hits. Evicts another entry if there is no room.
     *
     * @throws IOException if the table is full and all entries nearby are tombstones, which cannot be evicted
     */
    public void put(long hashHigh, long hashLow, long location, int expirySeconds) throws IOException {
        put(hashHigh, hashLow, location, expirySeconds, 0);
    }

    /** Sets the entry of an object's key, with the hit count of its previous entry. For a record that was moved. */
    public void put(long hashHigh, long hashLow, long location, int expirySeconds, int hits) throws IOException {
        set(hashHigh, hashLow, location, SlotTable.hitBits(hits) | Integer.toUnsignedLong(expirySeconds));
    }

    /** Sets the entry of a block, without hits. */
    public void putBlock(long hashHigh, long hashLow, long location) throws IOException {
        putBlock(hashHigh, hashLow, location, 0);
    }

    /** Sets the entry of a block, with the hit count of its previous entry. For a record that was moved. */
    public void putBlock(long hashHigh, long hashLow, long location, int hits) throws IOException {
        set(hashHigh, hashLow, location, SlotTable.hitBits(hits) | SlotTable.FLAG_BLOCK);
    }

    /**
     * During a rebuild, stores a tombstone that hides records in older segments. After the rebuild, removes the entry.
     */
    public void putTombstone(long hashHigh, long hashLow, long location) throws IOException {
        if (rebuilding) {
            set(hashHigh, hashLow, location, SlotTable.FLAG_TOMBSTONE);
        } else {
            remove(hashHigh, hashLow);
        }
    }

    /**
     * Hides the records of the hash like {@link #putTombstone}, although the log contains no tombstone. Never fails: if
     * the table is full, it removes the entry, and the rebuild adds no further entries.
     */
    public void maskRecords(long hashHigh, long hashLow) {
        try {
            putTombstone(hashHigh, hashLow, UNLOGGED);
        } catch (IOException e) {
            overflowed = true;
            remove(hashHigh, hashLow);
        }
    }

    /**
     * Adds the entry of an older record. An existing entry of the hash is kept.
     *
     * @return false if the table is full, or was full in an earlier call: after an entry was dropped, no older entry
     *     may be added
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
        Probing.updateEntry(table, place, location, meta);
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

    /**
     * Returns true if an entry may be added at the place. A deletion mark may always be reused. An empty slot may be
     * used until 13/16 of the slots are not empty.
     */
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

    /** Removes the entry of the hash. Returns true if there was an entry that is not a tombstone. */
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

    /**
     * Marks the table as damaged if a damaged slot may have contained the hash. Logs this once; the next open rebuilds
     * the index.
     */
    private void noteDamage(SlotTable current, long hashHigh, long hashLow) {
        if (!current.isDamaged() && Probing.isMissUnreliable(current, hashHigh, hashLow)) {
            current.damaged();
            LOG.warn("{}: the index has damaged slots; the next start rebuilds it", name);
        }
    }

    /** Changes the location of an entry if it is still {@code from}. Its other fields do not change. */
    public void moveIf(long hashHigh, long hashLow, long from, long to) {
        SlotTable current = table;
        long slot = Probing.slot(current, hashHigh, hashLow);
        if (slot >= 0 && current.location(slot) == from) {
            long meta = current.meta(slot);
            Probing.updateEntry(current, slot, to, meta);
            setInGrowing(hashHigh, hashLow, to, meta);
        }
    }

    /** Removes the entry if it still has this location. */
    public void removeIf(long hashHigh, long hashLow, long location) {
        SlotTable current = table;
        long slot = Probing.slot(current, hashHigh, hashLow);
        if (slot >= 0 && current.location(slot) == location) {
            clear(current, slot);
        }
    }

    /** Removes the entry in a slot of the current table. */
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
     * Schedules the removal of every entry with this segment and tag, which later calls of {@link #step} perform. Used
     * if the summary of the segment cannot be read. The next tag of the segment must differ in its low byte.
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
     * Performs one step of the last phase of a rebuild. This phase removes the tombstones and marks the table complete.
     *
     * @return false when done
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

    /** Performs all steps of {@link #finishRebuildStep}. */
    public void finishRebuild() {
        while (finishRebuildStep()) {
            // The condition performs the step.
        }
    }

    /** Performs one step of growth, or of removal by {@link #removeSegment}. Returns false if no work remains. */
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
        if (putsUntilRetry > 0) {
            putsUntilRetry--;
            return;
        }
        int shift = current.used() > count >>> 1 ? current.shift + 1 : current.shift;
        if (shift > shiftMax && current.field(SlotTable.DELETED_AT) < count >>> 4) {
            putsUntilRetry = count >>> 4;
            return;
        }
        beginGrowth(Math.min(shift, shiftMax));
    }

    /** Begins to build a table of another size, unless a table is already being built. */
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
                retryDelayPuts = 0;
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
        if (retryDelayPuts == 0) {
            LOG.warn("{}: the index cannot grow and evicts objects when full: slots={}: {}", name, count, e.toString());
        }
        growing = null;
        growth = null;
        retryDelayPuts = Math.min(Math.max(retryDelayPuts << 1, count >>> 6), count);
        putsUntilRetry = retryDelayPuts;
        if (current != null) {
            current.discard();
        }
    }

    /** Passes every entry to the visitor. The table must not change during the call. */
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

    /** Returns the number of objects, without blocks. Any thread. */
    public long objects() {
        SlotTable current = table;
        return Math.max(0, current.field(SlotTable.USED_AT) - current.field(SlotTable.NON_OBJECTS_AT));
    }

    /** Returns the number of slots. Any thread. */
    public long capacity() {
        return table.slotCount();
    }

    /** Returns the number of entries evicted because the table was full and could not grow. Any thread. */
    public long evictions() {
        return evictions.get();
    }

    /** Returns a word of the auxiliary area, which the owner of the index defines. */
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

    /** Returns the sequence number of the last record whose entry is in the table. */
    public long appliedSequence() {
        return table.field(SlotTable.APPLIED_AT);
    }

    /** Sets the sequence number up to which the table contains every record. */
    public void appliedSequence(long sequence) {
        table.field(SlotTable.APPLIED_AT, sequence);
    }

    /** Forces the table to the device and marks it clean. Therefore it is also valid after a reboot. */
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
