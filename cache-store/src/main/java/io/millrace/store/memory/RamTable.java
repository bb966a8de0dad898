package io.millrace.store.memory;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A hash table of the entries of a RAM tier. Each bucket is a chain of slots, linked through {@link EntrySlots}. A
 * lookup in a read section of {@link EpochReclamation} takes no lock and writes no memory.
 *
 * <p>The number of chains depends on the budget; the table is never resized. A slot that leaves a chain keeps its link
 * to the next slot, so that a concurrent lookup can continue. A new entry is added at the front of its chain. Only then
 * is the previous entry of the key removed, so that a lookup always finds one of the two.
 *
 * <p>Links are read and written with volatile semantics. With the numbers of {@link EpochReclamation}, this ensures that
 * a reader does not find a slot that was removed before its section began.
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
    /** The compact entries; null if each slot has an entry. */
    private final @Nullable CompactEntries<?> compact;

    private final AtomicIntegerArray chains;
    private final ReentrantLock[] locks = new ReentrantLock[LOCKS];
    private final int mask;

    RamTable(EntrySlots slots, @Nullable CompactEntries<?> compact, long budgetBytes, int bytesPerChain) {
        this.slots = slots;
        this.compact = compact;
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

    /** Returns the lock of the hash's chain. While it is held, slots of the chain neither enter nor leave the table. */
    ReentrantLock lock(long hashLow) {
        return lock(chain(hashLow));
    }

    private ReentrantLock lock(int chain) {
        return locks[chain % LOCKS];
    }

    /**
     * Returns the slot of the key; {@link EntrySlots#NONE} if there is none. Call in a read section, or while the lock
     * of the chain is held.
     */
    int find(long hashLow, byte[] keyBytes) {
        int slot = chains.get(chain(hashLow));
        while (slot != EntrySlots.NONE && !hasKey(slot, hashLow, keyBytes)) {
            slot = slots.next(slot);
        }
        return slot;
    }

    /**
     * Returns the entry of the key, without a read section and without a lock. Returns null if there is none, if it is in
     * compact form, or possibly if slots of the chain are used again meanwhile. The entry may have been unlinked.
     */
    @Nullable
    RamEntry findEntry(long hashLow, byte[] keyBytes) {
        for (int slot = chains.get(chain(hashLow)); slot != EntrySlots.NONE; slot = slots.next(slot)) {
            RamEntry entry = slots.entry(slot);
            if (entry != null && entry.hasKey(hashLow, keyBytes)) {
                return entry;
            }
        }
        return null;
    }

    private boolean hasKey(int slot, long hashLow, byte[] keyBytes) {
        if (slots.hash(slot) != hashLow) {
            return false;
        }
        RamEntry entry = slots.entry(slot);
        if (entry != null) {
            return entry.hasKey(hashLow, keyBytes);
        }
        return compact != null && compact.hasKey(slots.place(slot), keyBytes);
    }

    /** Returns true if the table has no slot in the chain of the hash. */
    boolean isChainEmpty(long hashLow) {
        return chains.get(chain(hashLow)) == EntrySlots.NONE;
    }

    /**
     * Adds a slot. Removes and returns the previous slot of the key; {@link EntrySlots#NONE} if there was none. The
     * caller holds the lock of the chain.
     */
    int put(int added, byte[] keyBytes) {
        long hashLow = slots.hash(added);
        int chain = chain(hashLow);
        int first = chains.get(chain);
        slots.next(added, first);
        chains.set(chain, added);
        int before = added;
        for (int at = first; at != EntrySlots.NONE; at = slots.next(at)) {
            if (hasKey(at, hashLow, keyBytes)) {
                slots.next(before, slots.next(at));
                return at;
            }
            before = at;
        }
        return EntrySlots.NONE;
    }

    /**
     * Removes a slot from the chain of its hash; returns false if the slot is not in it. The caller holds the lock of
     * the chain.
     */
    boolean remove(int slot, long hashLow) {
        int chain = chain(hashLow);
        int before = EntrySlots.NONE;
        int at = chains.get(chain);
        while (at != EntrySlots.NONE && at != slot) {
            before = at;
            at = slots.next(at);
        }
        if (at == EntrySlots.NONE) {
            return false;
        }
        if (before == EntrySlots.NONE) {
            chains.set(chain, slots.next(at));
        } else {
            slots.next(before, slots.next(at));
        }
        return true;
    }

    /**
     * Passes slots to the consumer, while the lock of their chain is held. Visits a slot of each key that is in the
     * table during the whole call, also if its entry is replaced meanwhile. Possibly visits keys that are added or
     * removed meanwhile. The consumer must not change the table.
     *
     * @param afterChain runs after each chain, without the lock; it may change the table
     */
    void forEach(IntConsumer consumer, Runnable afterChain) {
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
                    consumer.accept(slot);
                }
            } finally {
                lock.unlock();
            }
            afterChain.run();
        }
    }
}
