package io.millrace.store.memory;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Hash table of entries, chained through the entries themselves. Lookups take no lock and write nothing.
 *
 * <p>The number of chains is fixed by the budget: the table never moves. An entry that leaves a chain keeps its link, so
 * a lookup that stands on it finds its way on; a new entry goes in front before the one it replaces leaves.
 *
 * <p>Thread-safe: changes of a chain under one of a few locks, held for some pointer steps.
 */
final class RamTable {
    private static final int LOCKS = 64;
    /** One chain for this many bytes of budget: 4 bytes of heap for an entry of the smallest usual size. */
    static final int BYTES_PER_CHAIN = 1024;

    private static final int CHAINS_MIN = 1 << 6;
    private static final int CHAINS_MAX = 1 << 24;

    private final AtomicReferenceArray<@Nullable RamEntry> chains;
    private final ReentrantLock[] locks = new ReentrantLock[LOCKS];
    private final int mask;

    RamTable(long budgetBytes, int bytesPerChain) {
        int count = CHAINS_MIN;
        while (count < CHAINS_MAX && count < budgetBytes / bytesPerChain) {
            count <<= 1;
        }
        chains = new AtomicReferenceArray<>(count);
        mask = count - 1;
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new ReentrantLock();
        }
    }

    private int chain(long hashLow) {
        return (int) (hashLow >>> 32) & mask;
    }

    @Nullable
    RamEntry find(long hashLow, byte[] keyBytes) {
        RamEntry entry = chains.get(chain(hashLow));
        while (entry != null && !entry.hasKey(hashLow, keyBytes)) {
            entry = entry.next;
        }
        return entry;
    }

    /** Puts the entry in; returns the one of the same key that had to go, taken out of the chain. */
    @Nullable
    RamEntry put(RamEntry entry) {
        int chain = chain(entry.hashLow());
        ReentrantLock lock = locks[chain % LOCKS];
        lock.lock();
        try {
            RamEntry first = chains.get(chain);
            entry.next = first;
            chains.set(chain, entry);
            RamEntry before = entry;
            RamEntry at = first;
            while (at != null) {
                if (at.hasKey(entry.hashLow(), entry.keyBytes())) {
                    before.next = at.next;
                    return at;
                }
                before = at;
                at = at.next;
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Passes on every entry that is in from beginning to end, and perhaps others. */
    void forEach(Consumer<RamEntry> consumer) {
        for (int chain = 0; chain < chains.length(); chain++) {
            for (RamEntry entry = chains.get(chain); entry != null; entry = entry.next) {
                consumer.accept(entry);
            }
        }
    }

    /** Takes the entry out if it is in. */
    void remove(RamEntry entry) {
        int chain = chain(entry.hashLow());
        ReentrantLock lock = locks[chain % LOCKS];
        lock.lock();
        try {
            RamEntry before = null;
            RamEntry at = chains.get(chain);
            while (at != null && !at.equals(entry)) {
                before = at;
                at = at.next;
            }
            if (at == null) {
                return;
            }
            if (before == null) {
                chains.set(chain, at.next);
            } else {
                before.next = at.next;
            }
        } finally {
            lock.unlock();
        }
    }
}
