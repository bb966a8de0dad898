package io.millrace.store.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A hash table of the entries of a RAM tier. Each bucket is a chain of slots, linked through {@link EntrySlots}. A
 * lookup in a read section of {@link EpochReclamation} takes no lock and writes no memory.
 *
 * <p>The number of chains depends on the budget; the table is never resized. A slot that leaves a chain keeps its link
 * to the next slot, so that a concurrent lookup can continue. A new entry is added at the front of its chain. Only then
 * is the previous entry of the key removed, so that a lookup always finds one of the two.
 *
 * <p>Thread-safe: a change of a chain holds one of {@value #LOCKS} locks for a few updates.
 */
final class RamTable {
    private static final int LOCKS = 64;
    /**
     * Bytes of budget per chain. A chain takes 4 bytes of heap, and about 1 KiB is the smallest usual size of an entry.
     */
    static final int BYTES_PER_CHAIN = 1024;

    private static final int CHAINS_MIN = 1 << 6;
    private static final int CHAINS_MAX = 1 << 24;

    private final EntrySlots slots;
    private final AtomicIntegerArray chains;
    private final ReentrantLock[] locks = new ReentrantLock[LOCKS];
    private final int mask;

    RamTable(EntrySlots slots, long budgetBytes, int bytesPerChain) {
        this.slots = slots;
        int count = CHAINS_MIN;
        while (count < CHAINS_MAX && count < budgetBytes / bytesPerChain) {
            count <<= 1;
        }
        chains = new AtomicIntegerArray(count);
        mask = count - 1;
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new ReentrantLock();
        }
    }

    private int chain(long hashLow) {
        return (int) (hashLow >>> 32) & mask;
    }

    private ReentrantLock lock(int chain) {
        return locks[chain % LOCKS];
    }

    /** Returns the entry of the key; null if there is none. Call in a read section. */
    @Nullable
    RamEntry find(long hashLow, byte[] keyBytes) {
        return find(chain(hashLow), hashLow, keyBytes);
    }

    /** Returns the entry of the key; null if there is none. Needs no read section, but takes a lock. */
    @Nullable
    RamEntry findLocked(long hashLow, byte[] keyBytes) {
        int chain = chain(hashLow);
        if (chains.get(chain) == EntrySlots.NONE) {
            return null;
        }
        ReentrantLock lock = lock(chain);
        lock.lock();
        try {
            return find(chain, hashLow, keyBytes);
        } finally {
            lock.unlock();
        }
    }

    private @Nullable RamEntry find(int chain, long hashLow, byte[] keyBytes) {
        int slot = chains.getAcquire(chain);
        while (slot != EntrySlots.NONE) {
            if (slots.hash(slot) == hashLow) {
                RamEntry entry = slots.entry(slot);
                if (entry != null && entry.hasKey(hashLow, keyBytes)) {
                    return entry;
                }
            }
            slot = slots.next(slot);
        }
        return null;
    }

    /**
     * Adds the entry in a new slot, which is in the state {@link EvictionPolicy#ADDING}. Removes and returns the
     * previous entry of the key; null if there was none.
     */
    @Nullable
    RamEntry put(RamEntry entry) {
        int chain = chain(entry.hashLow());
        ReentrantLock lock = lock(chain);
        lock.lock();
        try {
            int added = slots.allocate(entry, entry.hashLow(), EvictionPolicy.ADDING);
            entry.slot(added);
            int first = chains.get(chain);
            slots.next(added, first);
            chains.setRelease(chain, added);
            int before = added;
            int at = first;
            while (at != EntrySlots.NONE) {
                RamEntry other = slots.entry(at);
                if (other != null && other.hasKey(entry.hashLow(), entry.keyBytes())) {
                    slots.next(before, slots.next(at));
                    return other;
                }
                before = at;
                at = slots.next(at);
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
            if (chains.get(chain) == EntrySlots.NONE) {
                continue;
            }
            // Without the lock, an entry that is replaced now could be missed: it leaves the end of the chain, and its
            // successor is at the front.
            ReentrantLock lock = lock(chain);
            lock.lock();
            try {
                for (int slot = chains.get(chain); slot != EntrySlots.NONE; slot = slots.next(slot)) {
                    RamEntry entry = slots.entry(slot);
                    if (entry != null) {
                        entries.add(entry);
                    }
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
        int removed = entry.slot();
        int chain = chain(entry.hashLow());
        ReentrantLock lock = lock(chain);
        lock.lock();
        try {
            int before = EntrySlots.NONE;
            int at = chains.get(chain);
            while (at != EntrySlots.NONE && at != removed) {
                before = at;
                at = slots.next(at);
            }
            if (at == EntrySlots.NONE) {
                return;
            }
            if (before == EntrySlots.NONE) {
                chains.set(chain, slots.next(at));
            } else {
                slots.next(before, slots.next(at));
            }
        } finally {
            lock.unlock();
        }
    }
}
