package io.millrace.store;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The key of a stored object: opaque bytes and their 128-bit hash under the store's own seed.
 *
 * <p>Made by {@link CacheStore#key}, because the seed belongs to the store (it lives with the volumes). A key of one
 * store means nothing to another. The hash only finds candidates; equality is that of all bytes.
 *
 * <p>Immutable.
 */
public final class StoreKey {
    /** Longest key in bytes: URLs are bounded far below it, and a record's head must fit one read. */
    public static final int LENGTH_MAX = 64 * 1024;

    private final byte[] bytes;
    private final long hashHigh;
    private final long hashLow;

    /** For the store: takes the array as its own, and the hash as that of the array. */
    public StoreKey(byte[] bytes, long hashHigh, long hashLow) {
        this.bytes = bytes;
        this.hashHigh = hashHigh;
        this.hashLow = hashLow;
    }

    /** The key's bytes; borrowed, never to be changed by the caller. */
    public byte[] bytes() {
        return bytes;
    }

    /** Length of the key in bytes. */
    public int length() {
        return bytes.length;
    }

    /** The upper 64 bits of the hash. */
    public long hashHigh() {
        return hashHigh;
    }

    /** The lower 64 bits of the hash. */
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

    /** The bytes as ISO 8859-1 text, for messages. */
    @Override
    public String toString() {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
