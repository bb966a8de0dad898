package io.millrace.store.index;

import io.millrace.store.io.Checksums;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.UUID;

/**
 * The index of one volume: 128-bit hash to {@link Location}, expiry, flags and hits, in the mapped file
 * {@value #FILE_NAME}.
 *
 * <p>Linear probing. An entry that is removed leaves a mark, unless the slot after it is empty: then it and the marks
 * before it become empty again, so that probe sequences stay short while a full store trades old entries for new ones.
 * The table is copied into another file, of double the size if need be, when three quarters of it are used or marked;
 * the new file replaces the old by a rename, so a crash leaves one or the other.
 *
 * <p>Writers only mark and fill slots after the log has the record, so the table is never ahead of the log, and
 * {@link #applied} says how far behind it may be after kill -9.
 *
 * <p>Thread-safe: lookups and {@link #hit} from any thread; all that changes entries is confined to the volume's writer
 * thread.
 */
public final class MappedIndex {
    /** Name of the file in the volume's directory. */
    public static final String FILE_NAME = "index";
    /** Where an entry's hits stop to be counted. */
    public static final int HITS_MAX = SlotTable.HITS_MAX;

    private static final String NEW_FILE_NAME = "index.new";
    private static final int SHIFT_MIN = 7;
    private static final int SHIFT_MAX = 36;
    private static final int ZEROES_BYTES = 1 << 20;
    private static final long NOWHERE = Location.pack(0, Location.UNIT_BYTES, Location.UNIT_BYTES, 0);
    private static final long MARK = 0x4e41_454c_4321L;

    private final FileIo io;
    private final Path directory;
    private volatile SlotTable table;
    /** After growth failed: slots in use at which to try again. */
    private long retryGrowthAt;

    private MappedIndex(FileIo io, Path directory, SlotTable table) {
        this.io = io;
        this.directory = directory;
        this.table = table;
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
     * @param auxiliaryBytes size of {@link #auxiliary}
     * @param entriesExpected how many entries to have room for before the table grows
     */
    public static MappedIndex create(FileIo io, Path directory, UUID volumeId, int auxiliaryBytes, long entriesExpected)
            throws IOException {
        int shift = SHIFT_MIN;
        while (shift < SHIFT_MAX && (1L << shift) < entriesExpected * 2) {
            shift++;
        }
        SlotTable table = newTable(io, directory, volumeId, auxiliaryBytes, shift);
        io.rename(directory.resolve(NEW_FILE_NAME), directory.resolve(FILE_NAME));
        return new MappedIndex(io, directory, table);
    }

    /**
     * Maps the index that is there and marks it unclean.
     *
     * @throws IndexUnusableException when it must be rebuilt from the segments; the message says why
     */
    public static MappedIndex open(FileIo io, Path directory, UUID volumeId, int auxiliaryBytes) throws IOException {
        Path path = directory.resolve(FILE_NAME);
        if (!io.exists(path)) {
            throw new IndexUnusableException(path + ": missing");
        }
        SlotTable table;
        try (StoreFile file = io.open(path)) {
            int shift = checkHeader(path, file, volumeId, auxiliaryBytes);
            table = SlotTable.map(file, auxiliaryBytes, shift);
        }
        UUID boot = bootId(io);
        boolean sameBoot = boot.getMostSignificantBits() != 0
                && table.field(SlotTable.BOOT_ID_AT) == boot.getMostSignificantBits()
                && table.field(SlotTable.BOOT_ID_AT + 8) == boot.getLeastSignificantBits();
        if (!sameBoot && table.field(SlotTable.CLEAN_AT) != MARK) {
            throw new IndexUnusableException(path + ": not closed before the machine went down");
        }
        if (table.field(SlotTable.COMPLETE_AT) != MARK) {
            throw new IndexUnusableException(path + ": was still being built");
        }
        table.field(SlotTable.CLEAN_AT, 0);
        writeHeader(table, volumeId, auxiliaryBytes, boot);
        // Else the mark of the last close might be all that a power failure leaves of this page.
        table.forceHeader();
        return new MappedIndex(io, directory, table);
    }

    /**
     * Maps the index as it is and changes nothing, whatever boot it is of: for looking at a volume that is not in use.
     *
     * @throws IndexUnusableException when it is missing, damaged or not complete
     */
    public static MappedIndex view(FileIo io, Path directory, UUID volumeId, int auxiliaryBytes) throws IOException {
        Path path = directory.resolve(FILE_NAME);
        if (!io.exists(path)) {
            throw new IndexUnusableException(path + ": missing");
        }
        try (StoreFile file = io.open(path)) {
            SlotTable table = SlotTable.map(file, auxiliaryBytes, checkHeader(path, file, volumeId, auxiliaryBytes));
            if (table.field(SlotTable.COMPLETE_AT) != MARK) {
                throw new IndexUnusableException(path + ": was still being built");
            }
            return new MappedIndex(io, directory, table);
        }
    }

    private static int checkHeader(Path path, StoreFile file, UUID volumeId, int auxiliaryBytes) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(SlotTable.PAGE_BYTES).order(java.nio.ByteOrder.LITTLE_ENDIAN);
        int length = file.read(header, 0);
        if (length < SlotTable.PAGE_BYTES) {
            throw new IndexUnusableException(path + ": length actual=" + length);
        }
        expect(path, "magic", header.getLong(SlotTable.MAGIC_AT), SlotTable.MAGIC);
        expect(path, "format version", header.getInt(SlotTable.VERSION_AT), SlotTable.FORMAT_VERSION);
        int crc = Checksums.crc32c(header, 0, SlotTable.STATIC_HEADER_BYTES);
        expect(path, "header CRC32C", header.getInt(SlotTable.CRC_AT), crc);
        expect(path, "volume id", header.getLong(SlotTable.VOLUME_ID_AT), volumeId.getMostSignificantBits());
        expect(path, "volume id", header.getLong(SlotTable.VOLUME_ID_AT + 8), volumeId.getLeastSignificantBits());
        expect(path, "auxiliary bytes", header.getLong(SlotTable.AUXILIARY_BYTES_AT), auxiliaryBytes);
        int shift = header.getInt(SlotTable.SHIFT_AT);
        if (shift < SHIFT_MIN || shift > SHIFT_MAX) {
            throw new IndexUnusableException(path + ": log2 of slots actual=" + shift);
        }
        expect(path, "length", file.length(), SlotTable.fileBytes(auxiliaryBytes, shift));
        return shift;
    }

    private static void expect(Path path, String what, long actual, long expected) throws IndexUnusableException {
        if (actual != expected) {
            throw new IndexUnusableException(path + ": " + what + " actual=" + actual + ", expected=" + expected);
        }
    }

    private static SlotTable newTable(FileIo io, Path directory, UUID volumeId, int auxiliaryBytes, int shift)
            throws IOException {
        Path path = directory.resolve(NEW_FILE_NAME);
        io.delete(path);
        try (StoreFile file = io.open(path)) {
            // Zeros are really written: a hole that the disk has no room for would be a signal at the first store.
            long length = SlotTable.fileBytes(auxiliaryBytes, shift);
            ByteBuffer zeroes = ByteBuffer.allocateDirect(ZEROES_BYTES);
            for (long at = 0; at < length; at += ZEROES_BYTES) {
                file.write(zeroes.clear().limit((int) Math.min(ZEROES_BYTES, length - at)), at);
            }
            SlotTable table = SlotTable.map(file, auxiliaryBytes, shift);
            writeHeader(table, volumeId, auxiliaryBytes, bootId(io));
            return table;
        }
    }

    private static void writeHeader(SlotTable table, UUID volumeId, int auxiliaryBytes, UUID boot) {
        ByteBuffer header = table.header();
        header.putLong(SlotTable.MAGIC_AT, SlotTable.MAGIC);
        header.putInt(SlotTable.VERSION_AT, SlotTable.FORMAT_VERSION);
        header.putInt(SlotTable.SHIFT_AT, table.shift);
        header.putLong(SlotTable.VOLUME_ID_AT, volumeId.getMostSignificantBits());
        header.putLong(SlotTable.VOLUME_ID_AT + 8, volumeId.getLeastSignificantBits());
        header.putLong(SlotTable.AUXILIARY_BYTES_AT, auxiliaryBytes);
        header.putLong(SlotTable.BOOT_ID_AT, boot.getMostSignificantBits());
        header.putLong(SlotTable.BOOT_ID_AT + 8, boot.getLeastSignificantBits());
        header.putInt(SlotTable.CRC_AT, Checksums.crc32c(header, 0, SlotTable.STATIC_HEADER_BYTES));
    }

    private static UUID bootId(FileIo io) {
        try {
            return UUID.fromString(io.bootId());
        } catch (IllegalArgumentException e) {
            return new UUID(0, 0);
        }
    }

    /** Where the newest record of the hash lies, or {@link Location#NONE}. Any thread. */
    public long find(long hashHigh, long hashLow) {
        SlotTable current = table;
        long slot = findSlot(current, hashHigh, hashLow);
        while (slot >= 0) {
            long location = current.location(slot);
            boolean tombstone = (current.meta(slot) & SlotTable.FLAG_TOMBSTONE) != 0;
            boolean same = current.hasHash(slot, hashHigh, hashLow);
            VarHandle.loadLoadFence();
            if (same && location == current.location(slot)) {
                return tombstone || location == Location.DELETED ? Location.NONE : location;
            }
            slot = findSlot(current, hashHigh, hashLow);
        }
        return Location.NONE;
    }

    /**
     * Where the newest record of an object's key lies of which only the lower half of the hash is known; of several
     * the first. {@link Location#NONE} when there is none. For the writer thread.
     */
    public long findKey(long hashLow) {
        SlotTable current = table;
        long slot = hashLow & current.mask;
        for (long probes = 0; probes <= current.mask; probes++) {
            long location = current.location(slot);
            if (location == Location.NONE) {
                break;
            }
            boolean object = (current.meta(slot) & (SlotTable.FLAG_BLOCK | SlotTable.FLAG_TOMBSTONE)) == 0;
            if (location != Location.DELETED && object && current.hashLow(slot) == hashLow) {
                return location;
            }
            slot = (slot + 1) & current.mask;
        }
        return Location.NONE;
    }

    /** The slot that holds the hash, -1 when none does. */
    private static long findSlot(SlotTable table, long hashHigh, long hashLow) {
        long slot = hashLow & table.mask;
        for (long probes = 0; probes <= table.mask; probes++) {
            long location = table.location(slot);
            if (location == Location.NONE) {
                return -1;
            }
            if (location != Location.DELETED && table.hasHash(slot, hashHigh, hashLow)) {
                return slot;
            }
            slot = (slot + 1) & table.mask;
        }
        return -1;
    }

    /**
     * Counts a read of the entry, up to {@link #HITS_MAX}; from there on it writes nothing. A count may get lost when
     * others change the entry. Any thread.
     */
    public void hit(long hashHigh, long hashLow) {
        SlotTable current = table;
        long slot = findSlot(current, hashHigh, hashLow);
        if (slot >= 0) {
            current.hit(slot);
        }
    }

    /** How often the entry was read since it was put, at most {@link #HITS_MAX}; 0 when there is none. Any thread. */
    public int hits(long hashHigh, long hashLow) {
        SlotTable current = table;
        long slot = findSlot(current, hashHigh, hashLow);
        return slot < 0 ? 0 : SlotTable.hits(current.meta(slot));
    }

    /**
     * Sets the entry of an object's key, with no hits yet.
     *
     * @throws IOException when the table is full and cannot grow
     */
    public void put(long hashHigh, long hashLow, long location, int expirySeconds) throws IOException {
        put(hashHigh, hashLow, location, expirySeconds, 0);
    }

    /** As {@link #put(long, long, long, int)}, with hits that it brings along from another place. */
    public void put(long hashHigh, long hashLow, long location, int expirySeconds, int hits) throws IOException {
        set(hashHigh, hashLow, location, SlotTable.hitBits(hits) | Integer.toUnsignedLong(expirySeconds), true);
    }

    /** Sets the entry of a block, with no hits yet. */
    public void putBlock(long hashHigh, long hashLow, long location) throws IOException {
        putBlock(hashHigh, hashLow, location, 0);
    }

    /** As {@link #putBlock(long, long, long)}, with hits that it brings along from another place. */
    public void putBlock(long hashHigh, long hashLow, long location, int hits) throws IOException {
        set(hashHigh, hashLow, location, SlotTable.hitBits(hits) | SlotTable.FLAG_BLOCK, true);
    }

    /** Remembers a tombstone, which hides what a rebuild finds in older segments. */
    public void putTombstone(long hashHigh, long hashLow, long location) throws IOException {
        set(hashHigh, hashLow, location, SlotTable.FLAG_TOMBSTONE, true);
    }

    /** As {@link #putTombstone}, for a tombstone that is in no log. Never fails: without room there is an entry to hide. */
    public void hide(long hashHigh, long hashLow) {
        SlotTable current = table;
        long slot = findSlot(current, hashHigh, hashLow);
        try {
            set(hashHigh, hashLow, NOWHERE, SlotTable.FLAG_TOMBSTONE, true);
        } catch (IOException e) {
            if (slot >= 0) {
                clear(current, slot);
            }
        }
    }

    /** As the three puts, but for older records: an entry that exists stays. */
    public void putOlder(
            long hashHigh, long hashLow, long location, int expirySeconds, boolean block, boolean tombstone)
            throws IOException {
        long flags = (block ? SlotTable.FLAG_BLOCK : 0) | (tombstone ? SlotTable.FLAG_TOMBSTONE : 0);
        set(hashHigh, hashLow, location, flags | Integer.toUnsignedLong(expirySeconds), false);
    }

    private void set(long hashHigh, long hashLow, long location, long meta, boolean replace) throws IOException {
        makeRoom();
        SlotTable current = table;
        long reusable = -1;
        long slot = hashLow & current.mask;
        while (true) {
            long found = current.location(slot);
            if (found == Location.NONE) {
                break;
            }
            if (found == Location.DELETED) {
                reusable = reusable < 0 ? slot : reusable;
            } else if (current.hasHash(slot, hashHigh, hashLow)) {
                if (replace) {
                    countBlocks(current, current.meta(slot), -1);
                    countBlocks(current, meta, 1);
                    current.move(slot, location, meta);
                }
                return;
            }
            slot = (slot + 1) & current.mask;
        }
        if (reusable >= 0) {
            slot = reusable;
            current.add(SlotTable.DELETED_AT, -1);
        }
        current.add(SlotTable.USED_AT, 1);
        countBlocks(current, meta, 1);
        current.fill(slot, hashHigh, hashLow, location, meta);
    }

    private static void countBlocks(SlotTable table, long meta, int delta) {
        if ((meta & (SlotTable.FLAG_BLOCK | SlotTable.FLAG_TOMBSTONE)) != 0) {
            table.add(SlotTable.BLOCKS_AT, delta);
        }
    }

    /** Takes the entry out, whatever it says; true when there was one and no tombstone. */
    public boolean remove(long hashHigh, long hashLow) {
        SlotTable current = table;
        long slot = findSlot(current, hashHigh, hashLow);
        if (slot < 0) {
            return false;
        }
        boolean tombstone = (current.meta(slot) & SlotTable.FLAG_TOMBSTONE) != 0;
        clear(current, slot);
        return !tombstone;
    }

    /** Takes the entry out if it still says {@code location}. */
    public void removeIf(long hashHigh, long hashLow, long location) {
        SlotTable current = table;
        long slot = findSlot(current, hashHigh, hashLow);
        if (slot >= 0 && current.location(slot) == location) {
            clear(current, slot);
        }
    }

    private static void clear(SlotTable table, long slot) {
        countBlocks(table, table.meta(slot), -1);
        table.add(SlotTable.USED_AT, -1);
        if (table.location((slot + 1) & table.mask) != Location.NONE) {
            table.clear(slot, Location.DELETED);
            table.add(SlotTable.DELETED_AT, 1);
            return;
        }
        table.clear(slot, Location.NONE);
        long before = (slot - 1) & table.mask;
        while (table.location(before) == Location.DELETED) {
            table.clear(before, Location.NONE);
            table.add(SlotTable.DELETED_AT, -1);
            before = (before - 1) & table.mask;
        }
    }

    /** Takes out every entry that points into the segment: for when its own summary cannot be read. */
    public void removeSegment(int segment) {
        SlotTable current = table;
        for (long slot = 0; slot < current.slotCount(); slot++) {
            long location = current.location(slot);
            if (location != Location.NONE && location != Location.DELETED && Location.segment(location) == segment) {
                clear(current, slot);
            }
        }
    }

    /** Takes out the tombstones and marks the table complete: the rebuild is through. */
    public void finishRebuild() {
        SlotTable current = table;
        for (long slot = 0; slot < current.slotCount(); slot++) {
            long location = current.location(slot);
            if (location != Location.NONE
                    && location != Location.DELETED
                    && (current.meta(slot) & SlotTable.FLAG_TOMBSTONE) != 0) {
                clear(current, slot);
            }
        }
        current.field(SlotTable.COMPLETE_AT, MARK);
    }

    private void makeRoom() throws IOException {
        SlotTable current = table;
        long used = current.field(SlotTable.USED_AT);
        long taken = used + current.field(SlotTable.DELETED_AT);
        long count = current.slotCount();
        if (taken < Math.max(count - (count >>> 2), retryGrowthAt)) {
            return;
        }
        try {
            rehash(current, used > count >>> 1 ? current.shift + 1 : current.shift);
        } catch (IOException e) {
            retryGrowthAt = Math.min(taken + (count >>> 6) + 1, count - (count >>> 5));
            if (taken >= count - (count >>> 5)) {
                throw new IOException(directory + ": index full: slots=" + count + ", and it cannot grow", e);
            }
        }
    }

    private void rehash(SlotTable old, int shift) throws IOException {
        if (shift > SHIFT_MAX) {
            throw new IOException(directory + ": index at its largest");
        }
        ByteBuffer header = old.header();
        UUID volumeId = new UUID(header.getLong(SlotTable.VOLUME_ID_AT), header.getLong(SlotTable.VOLUME_ID_AT + 8));
        SlotTable next = newTable(io, directory, volumeId, old.auxiliary().capacity(), shift);
        for (long slot = 0; slot < old.slotCount(); slot++) {
            long location = old.location(slot);
            if (location != Location.NONE && location != Location.DELETED) {
                long target = old.hashLow(slot) & next.mask;
                while (next.location(target) != Location.NONE) {
                    target = (target + 1) & next.mask;
                }
                next.fill(target, old.hashHigh(slot), old.hashLow(slot), location, old.meta(slot));
            }
        }
        next.auxiliary().put(0, old.auxiliary(), 0, old.auxiliary().capacity());
        for (int field :
                new int[] {SlotTable.COMPLETE_AT, SlotTable.USED_AT, SlotTable.BLOCKS_AT, SlotTable.APPLIED_AT}) {
            next.field(field, old.field(field));
        }
        io.rename(directory.resolve(NEW_FILE_NAME), directory.resolve(FILE_NAME));
        table = next;
        retryGrowthAt = 0;
    }

    /** Shows every entry to the visitor; the table must not change meanwhile. */
    public void forEach(EntryVisitor visitor) {
        SlotTable current = table;
        for (long slot = 0; slot < current.slotCount(); slot++) {
            long location = current.location(slot);
            if (location != Location.NONE && location != Location.DELETED) {
                long meta = current.meta(slot);
                visitor.entry(
                        current.hashHigh(slot),
                        current.hashLow(slot),
                        location,
                        (meta & SlotTable.FLAG_BLOCK) != 0,
                        (meta & SlotTable.FLAG_TOMBSTONE) != 0);
            }
        }
    }

    /** Number of objects (blocks not counted). Any thread. */
    public long objects() {
        SlotTable current = table;
        return Math.max(0, current.field(SlotTable.USED_AT) - current.field(SlotTable.BLOCKS_AT));
    }

    /** Number of slots. */
    public long capacity() {
        return table.slotCount();
    }

    /** An area for the owner's own use, kept with the index and copied when it grows; fetch it anew for each change. */
    public ByteBuffer auxiliary() {
        return table.auxiliary();
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
        SlotTable current = table;
        current.force();
        current.field(SlotTable.CLEAN_AT, MARK);
        current.force();
    }
}
