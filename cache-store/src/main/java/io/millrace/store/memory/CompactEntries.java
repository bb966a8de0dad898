package io.millrace.store.memory;

import io.netty.buffer.ByteBuf;

/**
 * Keeps entries of a RAM tier without Java objects: key, body and details (further values, see {@link
 * RamEntry#writeDetails}) of an entry are in one block of an arena, and the tier keeps only the place of the block. The
 * first request of such a compact entry creates a {@link RamEntry}, which the tier then keeps.
 *
 * <pre>
 *   content of the block
 *   | hash high 8 | details 16 | body length 4 | length after the body 4 | key length 4 | unused 4 | the entry's content
 *   the entry's content
 *   | body | bytes after the body: the encoded head | key |
 * </pre>
 *
 * <p>A place of this class also contains the number of the arena, in its upper 4 bits.
 *
 * <p>Thread-safe. The caller protects each place from being released meanwhile.
 *
 * @param <E> the kind of entry
 */
final class CompactEntries<E extends RamEntry> {
    /** The place of no block. */
    static final long NONE = -1;

    /** Heap bytes of a compact entry: its slot, and its share of the table. */
    static final int HEAP_BYTES = 52;

    private static final int HASH_HIGH = 0;
    private static final int DETAILS = HASH_HIGH + Long.BYTES;
    private static final int DETAIL_BYTES = 16;
    private static final int BODY_LENGTH = DETAILS + DETAIL_BYTES;
    private static final int LENGTH_AFTER_BODY = BODY_LENGTH + Integer.BYTES;
    private static final int KEY_LENGTH = LENGTH_AFTER_BODY + Integer.BYTES;
    /** Bytes in a block before the entry's content. */
    static final int PREFIX_BYTES = KEY_LENGTH + 2 * Integer.BYTES;

    private static final int ARENA_SHIFT = 60;
    private static final long PLACE_MASK = (1L << ARENA_SHIFT) - 1;

    private final CountingAllocator allocator;
    private final EntryFactory<E> factory;

    /**
     * Creates the storage of compact entries.
     *
     * @param allocator allocator of the bodies that may be kept in compact form
     * @param factory creates the entry of a request
     */
    CompactEntries(CountingAllocator allocator, EntryFactory<E> factory) {
        this.allocator = allocator;
        this.factory = factory;
    }

    /**
     * Writes the entry into the block of its body. The block then has one more owner, until {@link #release}. Returns
     * the place of the block; {@link #NONE} if the entry cannot be kept in compact form.
     */
    long store(RamEntry entry) {
        int after = entry.bytesAfterBody();
        if (after < 0 || !(entry.body() instanceof CountedBuffer body) || !body.hasPrefixOf(allocator)) {
            return NONE;
        }
        byte[] key = entry.keyBytes();
        int bodyLength = body.writerIndex();
        if ((long) bodyLength + after + key.length > body.capacity()) {
            return NONE;
        }
        ByteBuf prefix = body.prefix();
        prefix.setLong(HASH_HIGH, entry.hashHigh());
        entry.writeDetails(prefix.slice(DETAILS, DETAIL_BYTES).setIndex(0, 0));
        prefix.setInt(BODY_LENGTH, bodyLength);
        prefix.setInt(LENGTH_AFTER_BODY, after);
        prefix.setInt(KEY_LENGTH, key.length);
        body.setBytes(bodyLength + after, key, 0, key.length);
        BodyArena arena = body.arena();
        BlockOwners.addEntry(arena, body.place(), allocator);
        return (long) allocator.pool().number(arena) << ARENA_SHIFT | body.place();
    }

    private BodyArena arena(long place) {
        return allocator.pool().arena((int) (place >>> ARENA_SHIFT));
    }

    private static int prefix(long place) {
        return BodyArena.offset(place & PLACE_MASK);
    }

    private ByteBuf region(long place) {
        return arena(place).region(place & PLACE_MASK);
    }

    /** Returns the bytes of the block. */
    int bytes(long place) {
        return arena(place).bytes(place & PLACE_MASK);
    }

    /** Returns the upper half of the key's hash. */
    long hashHigh(long place) {
        return region(place).getLong(prefix(place) + HASH_HIGH);
    }

    /** Returns true if the entry has this key. */
    boolean hasKey(long place, byte[] key) {
        ByteBuf region = region(place);
        int at = prefix(place);
        if (region.getInt(at + KEY_LENGTH) != key.length) {
            return false;
        }
        int from = keyFrom(region, at);
        for (int i = 0; i < key.length; i++) {
            if (region.getByte(from + i) != key[i]) {
                return false;
            }
        }
        return true;
    }

    private static int keyFrom(ByteBuf region, int prefix) {
        return prefix + PREFIX_BYTES + region.getInt(prefix + BODY_LENGTH) + region.getInt(prefix + LENGTH_AFTER_BODY);
    }

    /** Returns a copy of the entry's key. */
    byte[] key(long place) {
        ByteBuf region = region(place);
        int at = prefix(place);
        byte[] key = new byte[region.getInt(at + KEY_LENGTH)];
        region.getBytes(keyFrom(region, at), key);
        return key;
    }

    /**
     * Creates the entry, with a new buffer for its block. The caller holds the first reference. The block is still
     * owned by the compact entry too.
     */
    E create(long place, long hashLow) {
        ByteBuf region = region(place);
        int at = prefix(place);
        int bodyLength = region.getInt(at + BODY_LENGTH);
        int after = region.getInt(at + LENGTH_AFTER_BODY);
        byte[] key = key(place);
        CountedBuffer body = new CountedBuffer(
                allocator, arena(place), place & PLACE_MASK, bodyLength, bodyLength + after + key.length);
        E entry = null;
        try {
            entry = factory.create(
                    key, hashHigh(place), hashLow, body, after, region.slice(at + DETAILS, DETAIL_BYTES));
            return entry;
        } finally {
            if (entry == null) {
                body.release();
            }
        }
    }

    /** Ends the ownership of the block. */
    void release(long place) {
        BlockOwners.removeEntry(arena(place), place & PLACE_MASK, allocator);
    }
}
