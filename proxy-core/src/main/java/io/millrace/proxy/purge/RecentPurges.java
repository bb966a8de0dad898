package io.millrace.proxy.purge;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The latest purges of single keys, so that a fetch can tell whether its own key was among those since it began. Other keys'
 * purges do not matter to it unless more than {@value #KEPT} of them fell into its slot meanwhile, in which case it is told yes:
 * not storing is the safe side.
 *
 * <pre>
 * slot (of {@value #SLOTS})   newest → … → oldest kept → FORGOTTEN
 * a fetch remembers the newest one at its start, and later looks at those that came after it
 * </pre>
 *
 * <p>Thread-safe; a purge allocates one small object, a fetch nothing.
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

    /** What a key is known by here: a fetch keeps it, so that it need not go through the key once more. */
    static int hash(byte[] key) {
        return Arrays.hashCode(key);
    }

    /** Enters the purge of a key. */
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

    /** The latest purge in the key's slot: the point from which {@link #isAnySince} looks. */
    PurgePoint latest(int keyHash) {
        return newest.get(slot(keyHash));
    }

    /** Whether the key was purged after {@link #latest} gave {@code point}. */
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
