package io.millrace.cli.warm;

/**
 * Recognizes repeated requests among recent ones, in a table of fixed size. Two requests with the same 64-bit hash
 * count as one. Confined to one thread.
 */
final class SeenUrls {
    /** Number of slots. The table has 1 MiB, enough for the URLs of a site's busy hours. */
    private static final int SLOTS = 1 << 17;

    private static final long FNV_BASIS = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private final long[] slots = new long[SLOTS];

    /** Adds a text. Returns false if it was added before, unless another text has taken its slot since. */
    boolean add(String text) {
        long hash = FNV_BASIS;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * FNV_PRIME;
        }
        hash ^= hash >>> 32;
        hash = hash == 0 ? 1 : hash;
        int slot = (int) ((hash * FNV_PRIME) >>> 47) & (SLOTS - 1);
        boolean isNew = slots[slot] != hash;
        slots[slot] = hash;
        return isNew;
    }
}
