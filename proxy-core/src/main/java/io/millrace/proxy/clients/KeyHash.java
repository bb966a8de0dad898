package io.millrace.proxy.clients;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A hash of the parts of a request, SipHash-1-3 with a secret key (Aumasson and Bernstein, 2012). An attacker who does
 * not know the key cannot find values with equal hashes. Reusable after {@link #begin}, and confined to one thread.
 */
public final class KeyHash {
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final int LAST_ROUNDS = 3;

    /** The halves of the secret key and the state, named as in the SipHash paper. */
    private final long k0;

    private final long k1;
    private long v0;
    private long v1;
    private long v2;
    private long v3;

    KeyHash(long k0, long k1) {
        this.k0 = k0;
        this.k1 = k1;
    }

    /** Begins a hash. */
    KeyHash begin() {
        v0 = k0 ^ 0x736f_6d65_7073_6575L;
        v1 = k1 ^ 0x646f_7261_6e64_6f6dL;
        v2 = k0 ^ 0x6c79_6765_6e65_7261L;
        v3 = k1 ^ 0x7465_6462_7974_6573L;
        return this;
    }

    /** Adds a number. */
    KeyHash add(long word) {
        v3 ^= word;
        round();
        v0 ^= word;
        return this;
    }

    /** Adds the bytes of a range, and their number. */
    KeyHash add(byte[] bytes, int from, int to) {
        add(to - from);
        int at = from;
        for (; at + 8 <= to; at += 8) {
            add((long) LONGS.get(bytes, at));
        }
        if (at < to) {
            long last = 0;
            for (int i = at; i < to; i++) {
                last |= (bytes[i] & 0xffL) << (8 * (i - at));
            }
            add(last);
        }
        return this;
    }

    /** Returns the hash, which is never 0. */
    long end() {
        v2 ^= 0xff;
        for (int i = 0; i < LAST_ROUNDS; i++) {
            round();
        }
        long hash = v0 ^ v1 ^ v2 ^ v3;
        return hash == 0 ? 1 : hash;
    }

    private void round() {
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
}
