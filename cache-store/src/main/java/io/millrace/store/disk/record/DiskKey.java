package io.millrace.store.disk.record;

/**
 * A key as used on disk: its bytes (borrowed, never changed) and its 128-bit hash.
 *
 * <p>Immutable.
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; only groups three fields
public record DiskKey(byte[] bytes, long hashHigh, long hashLow) {
    private static final long HIGH_SALT = 0x9E37_79B9_7F4A_7C15L;

    /** Returns the upper half of a block's hash in the index. Both halves together identify the block uniquely. */
    public static long blockHashHigh(long objectId) {
        return mix(objectId ^ HIGH_SALT);
    }

    /** Returns the lower half of a block's hash in the index. */
    public static long blockHashLow(long objectId, int block) {
        return mix(mix(objectId) + block);
    }

    /** The finalizer of MurmurHash3: a bijection of 64 bits. */
    private static long mix(long value) {
        long z = value;
        z = (z ^ (z >>> 33)) * 0xFF51_AFD7_ED55_8CCDL;
        z = (z ^ (z >>> 33)) * 0xC4CE_B9FE_1A85_EC53L;
        return z ^ (z >>> 33);
    }
}
