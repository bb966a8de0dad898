package io.millrace.proxy.caching.tags;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The secret key of tag hashes, which are SipHash-2-4 (Aumasson and Bernstein, 2012). An attacker who does not know the
 * key cannot find two tags or sites with equal hashes. Immutable.
 */
public final class TagKey {
    /** Length of the key in bytes. */
    public static final int LENGTH = 16;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    /** First byte of the hashed text of a site; tags never begin with a control byte. */
    private static final byte SITE = 1;

    /** The halves of the key, named as in the SipHash paper. */
    private final long k0;

    private final long k1;

    private TagKey(long k0, long k1) {
        this.k0 = k0;
        this.k1 = k1;
    }

    /**
     * Creates a key from its bytes.
     *
     * @throws IllegalArgumentException if the number of bytes is not {@value #LENGTH}
     */
    public static TagKey of(byte[] bytes) {
        if (bytes.length != LENGTH) {
            throw new IllegalArgumentException("length of a tag key: actual=" + bytes.length + ", expected=" + LENGTH);
        }
        return new TagKey((long) LONGS.get(bytes, 0), (long) LONGS.get(bytes, 8));
    }

    /** Returns the bytes for {@link #of}. */
    public byte[] bytes() {
        byte[] bytes = new byte[LENGTH];
        LONGS.set(bytes, 0, k0);
        LONGS.set(bytes, 8, k1);
        return bytes;
    }

    /** Returns the hash of a tag, independent of a site. */
    public long tag(byte[] bytes, int from, int to) {
        return hash(bytes, from, to);
    }

    /** Returns the hash of a site, given in lower case. Site hash XOR tag hash is the hash of the tag on that site. */
    public long site(String site) {
        return prefixed(SITE, site.getBytes(StandardCharsets.UTF_8));
    }

    private long prefixed(byte kind, byte[] text) {
        byte[] bytes = new byte[text.length + 1];
        bytes[0] = kind;
        System.arraycopy(text, 0, bytes, 1, text.length);
        return hash(bytes, 0, bytes.length);
    }

    private long hash(byte[] bytes, int from, int to) {
        long v0 = k0 ^ 0x736f_6d65_7073_6575L;
        long v1 = k1 ^ 0x646f_7261_6e64_6f6dL;
        long v2 = k0 ^ 0x6c79_6765_6e65_7261L;
        long v3 = k1 ^ 0x7465_6462_7974_6573L;
        int length = to - from;
        int whole = from + (length & ~7);
        long last = (long) length << 56;
        for (int i = whole; i < to; i++) {
            last |= (bytes[i] & 0xffL) << (8 * (i - whole));
        }
        for (int at = from; at <= whole; at += 8) {
            long word = at < whole ? (long) LONGS.get(bytes, at) : last;
            v3 ^= word;
            for (int round = 0; round < 2; round++) {
                v0 += v1;
                v1 = Long.rotateLeft(v1, 13) ^ v0;
                v0 = Long.rotateLeft(v0, 32);
                v2 += v3;
                v3 = Long.rotateLeft(v3, 16) ^ v2;
                v0 += v3;
                v3 = Long.rotateLeft(v3, 21) ^ v0;
                v2 += v1;
                v1 = Long.rotateLeft(v1, 17) ^ v2;
                v2 = Long.rotateLeft(v2, 32);
            }
            v0 ^= word;
        }
        v2 ^= 0xff;
        for (int round = 0; round < 4; round++) {
            v0 += v1;
            v1 = Long.rotateLeft(v1, 13) ^ v0;
            v0 = Long.rotateLeft(v0, 32);
            v2 += v3;
            v3 = Long.rotateLeft(v3, 16) ^ v2;
            v0 += v3;
            v3 = Long.rotateLeft(v3, 21) ^ v0;
            v2 += v1;
            v1 = Long.rotateLeft(v1, 17) ^ v2;
            v2 = Long.rotateLeft(v2, 32);
        }
        return v0 ^ v1 ^ v2 ^ v3;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof TagKey that && k0 == that.k0 && k1 == that.k1;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(k0 ^ k1);
    }
}
