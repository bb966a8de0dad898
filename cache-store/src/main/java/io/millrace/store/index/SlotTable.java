package io.millrace.store.index;

import io.millrace.store.io.StoreFile;
import io.millrace.store.io.StoreFile.MappedRegion;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One index file, mapped: its header page, the auxiliary area, the slots. Knows the layout, not the probing.
 *
 * <pre>
 * header page, 4096 bytes                                  slot, 32 bytes
 *    0  8  magic "MRINDEX\0"                                 0  8  hash, upper half
 *    8  4  format version                                    8  8  hash, lower half
 *   12  4  log2 of the number of slots                      16  8  location; 0 empty, 1 deleted
 *   16 16  volume id                                        24  4  expiry, seconds since the epoch, unsigned
 *   32  8  bytes of the auxiliary area                      28  1  flags: 1 block, 2 tombstone
 *   40 16  boot id (first 16 bytes of a UUID's bits)        29  1  hits, 0 to 3
 *   56  4  CRC32C of bytes 0 to 55                          30  2  zero
 *   64  8  clean marker
 *   72  8  complete marker (0 while it is being built)
 *   80  8  slots in use
 *   88  8  slots in use by blocks
 *   96  8  slots deleted
 *  104  8  sequence of the last record applied
 * 4096     auxiliary area, whole pages
 *    …     slots
 * </pre>
 *
 * All integers are little-endian. A slot is written by one thread; its location is stored last with release, so a
 * reader that sees a location sees the rest, and re-reads it to know that the slot was not reused meanwhile.
 */
final class SlotTable {
    static final int FORMAT_VERSION = 1;
    static final int PAGE_BYTES = 4096;
    static final int SLOT_BYTES = 32;
    static final int STATIC_HEADER_BYTES = 56;
    static final long MAGIC = 0x0058_4544_4e49_524dL;

    static final int MAGIC_AT = 0;
    static final int VERSION_AT = 8;
    static final int SHIFT_AT = 12;
    static final int VOLUME_ID_AT = 16;
    static final int AUXILIARY_BYTES_AT = 32;
    static final int BOOT_ID_AT = 40;
    static final int CRC_AT = 56;
    static final int CLEAN_AT = 64;
    static final int COMPLETE_AT = 72;
    static final int USED_AT = 80;
    static final int BLOCKS_AT = 88;
    static final int DELETED_AT = 96;
    static final int APPLIED_AT = 104;

    /** Where an entry's hits stop to be counted. */
    static final int HITS_MAX = 3;

    static final long FLAG_BLOCK = 1L << 32;
    static final long FLAG_TOMBSTONE = 2L << 32;
    private static final int HITS_SHIFT = 40;

    /** Slots of one mapping: a ByteBuffer ends at 2 GiB, a power of two below it is 1 GiB. */
    private static final int REGION_SHIFT = 25;

    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final MappedRegion headRegion;
    private final ByteBuffer header;
    private final ByteBuffer auxiliary;
    private final MappedRegion[] regions;
    private final ByteBuffer[] slots;
    final int shift;
    final long mask;

    private SlotTable(MappedRegion headRegion, int auxiliaryBytes, MappedRegion[] regions, int shift) {
        this.headRegion = headRegion;
        this.header = headRegion.buffer().slice(0, PAGE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        this.auxiliary = headRegion.buffer().slice(PAGE_BYTES, auxiliaryBytes).order(ByteOrder.LITTLE_ENDIAN);
        this.regions = regions;
        this.slots = new ByteBuffer[regions.length];
        for (int i = 0; i < regions.length; i++) {
            slots[i] = regions[i].buffer();
        }
        this.shift = shift;
        this.mask = (1L << shift) - 1;
    }

    /** Bytes of a file with so many slots. */
    static long fileBytes(int auxiliaryBytes, int shift) {
        return headBytes(auxiliaryBytes) + ((long) SLOT_BYTES << shift);
    }

    private static long headBytes(int auxiliaryBytes) {
        return PAGE_BYTES + (auxiliaryBytes + PAGE_BYTES - 1L) / PAGE_BYTES * PAGE_BYTES;
    }

    /** Maps a file of the right length. The mapping outlives the file's closing. */
    static SlotTable map(StoreFile file, int auxiliaryBytes, int shift) throws IOException {
        long head = headBytes(auxiliaryBytes);
        long slotBytes = (long) SLOT_BYTES << shift;
        long regionBytes = Math.min(slotBytes, (long) SLOT_BYTES << REGION_SHIFT);
        MappedRegion[] regions = new MappedRegion[(int) (slotBytes / regionBytes)];
        for (int i = 0; i < regions.length; i++) {
            regions[i] = file.map(head + i * regionBytes, regionBytes);
        }
        return new SlotTable(file.map(0, head), auxiliaryBytes, regions, shift);
    }

    long slotCount() {
        return mask + 1;
    }

    ByteBuffer header() {
        return header;
    }

    ByteBuffer auxiliary() {
        return auxiliary;
    }

    /** A header field that other threads look at. */
    long field(int at) {
        return (long) LONGS.getOpaque(header, at);
    }

    void field(int at, long value) {
        LONGS.setOpaque(header, at, value);
    }

    void add(int at, long delta) {
        field(at, field(at) + delta);
    }

    private ByteBuffer region(long slot) {
        return slots[(int) (slot >>> REGION_SHIFT)];
    }

    private static int base(long slot) {
        return (int) (slot & ((1L << REGION_SHIFT) - 1)) * SLOT_BYTES;
    }

    long location(long slot) {
        return (long) LONGS.getAcquire(region(slot), base(slot) + 16);
    }

    boolean hasHash(long slot, long hashHigh, long hashLow) {
        ByteBuffer region = region(slot);
        int base = base(slot);
        return (long) LONGS.get(region, base + 8) == hashLow && (long) LONGS.get(region, base) == hashHigh;
    }

    long hashHigh(long slot) {
        return (long) LONGS.get(region(slot), base(slot));
    }

    long hashLow(long slot) {
        return (long) LONGS.get(region(slot), base(slot) + 8);
    }

    /** Expiry, flags and hits in one word. */
    long meta(long slot) {
        return (long) LONGS.getOpaque(region(slot), base(slot) + 24);
    }

    /** The hits that a word of {@link #meta} tells. */
    static int hits(long meta) {
        return (int) (meta >>> HITS_SHIFT) & HITS_MAX;
    }

    /** The bits that say {@code hits} in a word of {@link #meta}. */
    static long hitBits(int hits) {
        return (long) Math.min(hits, HITS_MAX) << HITS_SHIFT;
    }

    /** Counts a hit: one try, nothing when the count is at its largest. A hit that is lost to another change is lost. */
    void hit(long slot) {
        long meta = meta(slot);
        if (hits(meta) < HITS_MAX) {
            LONGS.compareAndSet(region(slot), base(slot) + 24, meta, meta + (1L << HITS_SHIFT));
        }
    }

    /** Changes the place of the entry that the slot holds. */
    void move(long slot, long location, long meta) {
        ByteBuffer region = region(slot);
        int base = base(slot);
        LONGS.setOpaque(region, base + 24, meta);
        LONGS.setRelease(region, base + 16, location);
    }

    /** Fills a slot that is empty or deleted. */
    void fill(long slot, long hashHigh, long hashLow, long location, long meta) {
        ByteBuffer region = region(slot);
        int base = base(slot);
        VarHandle.storeStoreFence();
        LONGS.set(region, base, hashHigh);
        LONGS.set(region, base + 8, hashLow);
        move(slot, location, meta);
    }

    /** Marks a slot empty or deleted. */
    void clear(long slot, long mark) {
        LONGS.setRelease(region(slot), base(slot) + 16, mark);
    }

    void forceHeader() throws IOException {
        headRegion.force();
    }

    void force() throws IOException {
        for (MappedRegion region : regions) {
            region.force();
        }
        headRegion.force();
    }
}
