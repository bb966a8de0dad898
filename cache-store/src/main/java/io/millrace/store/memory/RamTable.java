package io.millrace.store.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A hash table of the entries of a RAM tier. Each bucket is a chain, linked through {@link RamEntry#next}. Lookups take
 * no lock and write no memory.
 *
 * <p>The number of chains depends on the budget; the table is never resized. An entry that leaves a chain keeps its
 * link to the next entry, so that a concurrent lookup can continue. A new entry is added at the front of its chain.
 * Only then is the previous entry of the key removed, so that a lookup always finds one of the two.
 *
 * <p>Thread-safe: a change of a chain holds one of {@value #LOCKS} locks for a few pointer updates.
 */
final class RamTable {
    private static final int LOCKS = 64;
    /**
     * Bytes of budget per chain. A chain takes 4 bytes of heap, and about 1 KiB is the smallest usual size of an entry.
     */
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

    /** Adds the entry. Removes and returns the previous entry of the key; null if there was none. */
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

    /**
     * Passes entries to the consumer. Visits one entry of each key that is in the table during the whole call, also if
     * the entry is replaced meanwhile. Possibly visits keys that are added or removed meanwhile. The consumer runs
     * without a lock and may change the table.
     */
    void forEach(Consumer<RamEntry> consumer) {
        List<RamEntry> entries = new ArrayList<>();
        for (int chain = 0; chain < chains.length(); chain++) {
            if (chains.get(chain) == null) {
                continue;
            }
            // Without the lock, an entry that is replaced now could be missed: it leaves the end of the chain, and its
            // successor is at the front.
            ReentrantLock lock = locks[chain % LOCKS];
            lock.lock();
            try {
                for (RamEntry entry = chains.get(chain); entry != null; entry = entry.next) {
                    entries.add(entry);
                }
            } finally {
                lock.unlock();
            }
            entries.forEach(consumer);
            entries.clear();
        }
    }

    /** Removes the entry if it is in the table. */
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
