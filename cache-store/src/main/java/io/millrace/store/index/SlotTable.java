package io.millrace.store.index;

import java.io.IOException;
import java.lang.invoke.VarHandle;

/**
 * One table of the index: a header page, an auxiliary area and the slots. The auxiliary area contains the states of the
 * volume's segments. This class defines the layout, and {@link Probing} the search.
 *
 * <pre>
 * header page, 4096 bytes                                  slot, 32 bytes
 *    0  8  magic "MRINDEX\0"                                 0  8  hash, upper half
 *    8  4  format version                                    8  8  hash, lower half
 *   12  4  log2 of the number of slots                      16  8  location; 0 empty, 1 deleted
 *   16 16  volume id                                        24  4  expiry, seconds since the epoch, unsigned
 *   32  8  bytes of the auxiliary area                      28  1  flags, see below
 *   40 16  boot id: the two 64-bit halves of the UUID       29  1  hits, 0 to 3
 *   56  4  CRC32C of bytes 0 to 55                          30  2  check of the slot without the hits
 *   64  8  clean marker, see below
 *   72  8  complete marker (0 while it is being built)
 *   80  8  slots in use
 *   88  8  slots in use by blocks and tombstones
 *   96  8  slots marked deleted
 *  104  8  sequence of the last record applied
 *  112  8  not 0 after a damaged slot was found
 * 4096     auxiliary area, whole pages
 *    …     slots
 * </pre>
 *
 * <p>Flag 1 marks a block (a part of an object's body, not an object). Flag 2 marks a tombstone (a removed key). A
 * marker that is set has the value {@link IndexFile#MARK}. An orderly close sets the clean marker, and opening the
 * index sets it to 0. An index without the clean marker is used only if the machine has not restarted since: the boot
 * id is the same.
 *
 * <p>All integers are little-endian. One thread writes slots. When a slot is filled, its location is stored last with
 * release semantics, so that a reader of the location also reads the other fields. The reader then reads the location
 * again, to detect that the slot was reused meanwhile. {@link #updateEntry} and {@link #clear} store the location
 * before the last word of the slot, except when the new entry is a tombstone. After kill -9 the three counts (in use,
 * blocks, deleted) may be too high, but never too low.
 *
 * <p>The check is the exclusive or of all 16-bit groups of hash, location, expiry and flags. It detects any single-bit
 * error. Each word is rotated by a different number of bits first, so that the check also detects swapped words and
 * equal changes in several words. The check of an empty slot is 0; a deleted slot has {@code DE1E} (hexadecimal).
 * Lookups do not verify the check, because the reader verifies the key of the record.
 */
final class SlotTable {
    static final int FORMAT_VERSION = 4;
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
    static final int NON_OBJECTS_AT = 88;
    static final int DELETED_AT = 96;
    static final int APPLIED_AT = 104;
    static final int DAMAGED_AT = 112;

    /** Maximum of an entry's hit count. */
    static final int HITS_MAX = 3;

    static final long FLAG_BLOCK = 1L << 32;
    static final long FLAG_TOMBSTONE = 2L << 32;
    private static final int HITS_SHIFT = 40;
    private static final long HIT_BITS = 0xFFL << HITS_SHIFT;
    private static final int CHECK_SHIFT = 48;
    private static final long CHECK_BITS = 0xFFFFL << CHECK_SHIFT;
    private static final long DELETED_META = 0xDE1EL << CHECK_SHIFT;

    private static final int WORD_SHIFT = 3;
    private static final int SLOT_WORDS_SHIFT = 2;

    private final TableMemory head;
    private final TableMemory slots;
    final int auxiliaryWords;
    /** Log2 of the number of slots. */
    final int shift;

    final long mask;

    /**
     * Creates a table over two memory areas.
     *
     * @param head header page and auxiliary area
     * @param slots the slots
     */
    SlotTable(TableMemory head, TableMemory slots, int auxiliaryBytes, int shift) {
        this.head = head;
        this.slots = slots;
        this.auxiliaryWords = auxiliaryBytes >>> WORD_SHIFT;
        this.shift = shift;
        this.mask = (1L << shift) - 1;
    }

    /** Returns the number of bytes before the slots. */
    static long headBytes(int auxiliaryBytes) {
        return PAGE_BYTES + (auxiliaryBytes + PAGE_BYTES - 1L) / PAGE_BYTES * PAGE_BYTES;
    }

    /** Returns the number of bytes of the slots. */
    static long slotBytes(int shift) {
        return (long) SLOT_BYTES << shift;
    }

    long slotCount() {
        return mask + 1;
    }

    /** Returns the header field at this byte offset, a multiple of 8. */
    long field(int at) {
        return head.getOpaque(at >>> WORD_SHIFT);
    }

    void field(int at, long value) {
        head.setOpaque(at >>> WORD_SHIFT, value);
    }

    void add(int at, long delta) {
        field(at, field(at) + delta);
    }

    long used() {
        return field(USED_AT);
    }

    /** Returns the number of slots that are not empty. */
    long taken() {
        return field(USED_AT) + field(DELETED_AT);
    }

    long auxiliary(int word) {
        return head.getOpaque((PAGE_BYTES >>> WORD_SHIFT) + word);
    }

    void auxiliary(int word, long value) {
        head.setOpaque((PAGE_BYTES >>> WORD_SHIFT) + word, value);
    }

    private static long firstWord(long slot) {
        return slot << SLOT_WORDS_SHIFT;
    }

    long location(long slot) {
        return slots.getAcquire(firstWord(slot) + 2);
    }

    boolean hasHash(long slot, long hashHigh, long hashLow) {
        long word = firstWord(slot);
        return slots.get(word + 1) == hashLow && slots.get(word) == hashHigh;
    }

    long hashHigh(long slot) {
        return slots.get(firstWord(slot));
    }

    long hashLow(long slot) {
        return slots.get(firstWord(slot) + 1);
    }

    /** Returns the last word of the slot: expiry, flags, hits and check. */
    long meta(long slot) {
        return slots.getOpaque(firstWord(slot) + 3);
    }

    /** Returns the hit count in a word that {@link #meta} returned. */
    static int hits(long meta) {
        return (int) (meta >>> HITS_SHIFT) & HITS_MAX;
    }

    /** Returns a {@link #meta} word that contains only this hit count, limited to the maximum. */
    static long hitBits(int hits) {
        return (long) Math.min(hits, HITS_MAX) << HITS_SHIFT;
    }

    static boolean isTombstone(long meta) {
        return (meta & FLAG_TOMBSTONE) != 0;
    }

    /**
     * Counts a hit of the entry in the slot, up to {@link #HITS_MAX}. Stores only the byte of the hit count. A hit may
     * be lost if the slot changes concurrently. A new entry that takes the slot at the same time may begin with the
     * count of the previous entry.
     */
    void hit(long slot) {
        long meta = meta(slot);
        int hits = hits(meta);
        if (hits < HITS_MAX) {
            slots.setByte(firstWord(slot) + 3, HITS_SHIFT / Byte.SIZE, (byte) (hits + 1));
        }
    }

    /** Returns the word of {@link #meta} with the check of the slot. */
    private static long checked(long hashHigh, long hashLow, long location, long meta) {
        long data = meta & ~(HIT_BITS | CHECK_BITS);
        long all = hashHigh ^ Long.rotateLeft(hashLow, 5) ^ Long.rotateLeft(location, 11) ^ Long.rotateLeft(data, 14);
        long check = all ^ all >>> 16 ^ all >>> 32 ^ all >>> 48;
        return (meta & ~CHECK_BITS) | check << CHECK_SHIFT;
    }

    /**
     * Returns true if the check of the slot is correct. The result may be false while another thread changes the slot.
     * It may stay false for a slot that a killed process was changing.
     */
    boolean isSound(long slot) {
        long location = location(slot);
        long meta = meta(slot);
        if (location == Location.NONE) {
            return (meta & CHECK_BITS) == 0;
        }
        if (location == Location.DELETED) {
            return (meta & CHECK_BITS) == DELETED_META;
        }
        return ((checked(hashHigh(slot), hashLow(slot), location, meta) ^ meta) & CHECK_BITS) == 0;
    }

    /** Marks the table as damaged: the content of a slot is unknown. */
    void damaged() {
        field(DAMAGED_AT, 1);
    }

    /** Returns true if a damaged slot was found since the table was created. */
    boolean isDamaged() {
        return field(DAMAGED_AT) != 0;
    }

    /** Changes location and meta of the entry in the slot. */
    void updateEntry(long slot, long location, long newMeta) {
        long word = firstWord(slot);
        long meta = checked(hashHigh(slot), hashLow(slot), location, newMeta);
        // A reader must not see the location of a tombstone without the tombstone flag. Therefore the flag is set first
        // and removed last.
        if (isTombstone(meta)) {
            slots.setOpaque(word + 3, meta);
            slots.setRelease(word + 2, location);
        } else {
            slots.setRelease(word + 2, location);
            slots.setRelease(word + 3, meta);
        }
    }

    /** Writes an entry into an empty or deleted slot. */
    void fill(long slot, long hashHigh, long hashLow, long location, long meta) {
        long word = firstWord(slot);
        VarHandle.storeStoreFence();
        slots.set(word, hashHigh);
        slots.set(word + 1, hashLow);
        slots.setOpaque(word + 3, checked(hashHigh, hashLow, location, meta));
        slots.setRelease(word + 2, location);
    }

    /** Marks a slot as empty or deleted. */
    void clear(long slot, long mark) {
        long word = firstWord(slot);
        slots.setRelease(word + 2, mark);
        slots.setRelease(word + 3, mark == Location.DELETED ? DELETED_META : 0);
    }

    /** Writes a word of the header page. */
    void header(int at, long value) {
        head.set(at >>> WORD_SHIFT, value);
    }

    void forceHead() throws IOException {
        head.force();
    }

    void force() throws IOException {
        slots.force();
        head.force();
    }
}
