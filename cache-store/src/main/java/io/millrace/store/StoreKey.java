package io.millrace.store;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The key of a stored object: opaque bytes and their 128-bit hash with the seed of the store.
 *
 * <p>Created by {@link CacheStore#key}, because the seed belongs to the store and is saved with the volumes. A key is
 * valid only for the store that created it. The hash selects candidates; equality compares all bytes.
 *
 * <p>Immutable.
 */
public final class StoreKey {
    /**
     * Maximum length of a key in bytes. A URL is far shorter, and one read must be able to fetch the key together with
     * the head of a record.
     */
    public static final int LENGTH_MAX = 64 * 1024;

    private final byte[] bytes;
    private final long hashHigh;
    private final long hashLow;

    /**
     * Creates a key that uses the array without a copy. For the store only: the caller must pass the array's hash with
     * the seed of the store.
     */
    public StoreKey(byte[] bytes, long hashHigh, long hashLow) {
        this.bytes = bytes;
        this.hashHigh = hashHigh;
        this.hashLow = hashLow;
    }

    /** Returns the key's bytes; borrowed, the caller must not change them. */
    public byte[] bytes() {
        return bytes;
    }

    /** Returns the length of the key in bytes. */
    public int length() {
        return bytes.length;
    }

    /** Returns the upper 64 bits of the hash. */
    public long hashHigh() {
        return hashHigh;
    }

    /** Returns the lower 64 bits of the hash. */
    public long hashLow() {
        return hashLow;
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || (other instanceof StoreKey key
                        && key.hashLow == hashLow
                        && key.hashHigh == hashHigh
                        && Arrays.equals(key.bytes, bytes));
    }

    @Override
    public int hashCode() {
        return Long.hashCode(hashLow);
    }

    /** Returns the bytes as ISO 8859-1 text, for messages. */
    @Override
    public String toString() {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
