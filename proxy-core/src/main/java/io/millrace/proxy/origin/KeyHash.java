package io.millrace.proxy.origin;

import java.nio.charset.StandardCharsets;

/**
 * 64-bit hashes of keys and hosts, the same on every proxy and after restarts. Computed by FNV-1a and the
 * finalizer of SplitMix64, because FNV's upper bits differ little for short keys. Not resistant to attacks: a
 * client may choose keys that load a single host. Requests for a single URL have the same effect.
 */
public final class KeyHash {
    private static final long OFFSET = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private KeyHash() {}

    /** Returns the hash of a part of an array. */
    public static long of(byte[] bytes, int from, int to) {
        long hash = OFFSET;
        for (int i = from; i < to; i++) {
            hash = (hash ^ (bytes[i] & 0xff)) * PRIME;
        }
        return mixed(hash);
    }

    static long of(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return of(bytes, 0, bytes.length);
    }

    /** Returns the combined hash of two hashes. */
    static long mixed(long a, long b) {
        return mixed(a ^ Long.rotateLeft(b, 32) * 0x9e3779b97f4a7c15L);
    }

    private static long mixed(long hash) {
        long z = (hash ^ (hash >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
