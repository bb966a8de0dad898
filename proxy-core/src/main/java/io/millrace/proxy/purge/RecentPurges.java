package io.millrace.proxy.purge;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The latest purges of single keys. A fetch uses them to detect a purge of its key since its start. Only {@value #KEPT}
 * purges are kept per slot of a hash table. After more purges in the slot, a fetch assumes that its key was purged, and
 * does not store its response.
 *
 * <pre>
 * slot (of {@value #SLOTS})   newest → … → oldest kept → FORGOTTEN
 * a fetch keeps the newest purge of its slot at its start; later it searches the newer purges
 * </pre>
 *
 * <p>Thread-safe. A purge allocates one small object; a fetch allocates nothing.
 */
final class RecentPurges {
    static final int SLOTS = 4096;
    static final int KEPT = 16;

    private final AtomicReferenceArray<PurgePoint> newest = new AtomicReferenceArray<>(SLOTS);

    RecentPurges() {
        for (int slot = 0; slot < SLOTS; slot++) {
            newest.setPlain(slot, PurgePoint.START);
        }
    }

    /** Returns the hash of a key. A fetch keeps the hash, so that the key is hashed only once. */
    static int hash(byte[] key) {
        return Arrays.hashCode(key);
    }

    /** Adds the purge of a key. */
    void add(byte[] key) {
        int hash = hash(key);
        PurgePoint purge = new PurgePoint(hash);
        int slot = slot(hash);
        do {
            purge.earlier = newest.get(slot);
        } while (!newest.compareAndSet(slot, purge.earlier, purge));
        forgetBefore(purge);
    }

    private static void forgetBefore(PurgePoint latest) {
        PurgePoint oldest = latest;
        for (int kept = 1; kept < KEPT; kept++) {
            oldest = oldest.earlier;
            if (oldest == PurgePoint.START || oldest == PurgePoint.FORGOTTEN) {
                return;
            }
        }
        oldest.earlier = PurgePoint.FORGOTTEN;
    }

    /** Returns the latest purge in the key's slot, from which {@link #isAnySince} searches. */
    PurgePoint latest(int keyHash) {
        return newest.get(slot(keyHash));
    }

    /** Returns true if the key was, or may have been, purged after {@link #latest} returned {@code point}. */
    boolean isAnySince(int keyHash, PurgePoint point) {
        PurgePoint purge = newest.get(slot(keyHash));
        while (purge != point) {
            if (purge.hash == keyHash || purge == PurgePoint.FORGOTTEN || purge == PurgePoint.START) {
                return true;
            }
            purge = purge.earlier;
        }
        return false;
    }

    private static int slot(int hash) {
        return (hash ^ (hash >>> 16)) & (SLOTS - 1);
    }
}
