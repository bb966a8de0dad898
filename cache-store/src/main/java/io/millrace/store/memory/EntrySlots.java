package io.millrace.store.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The data of a RAM tier's entries that the table and the policy use, in arrays of primitive values. So the garbage
 * collector has no links to follow, and no objects to copy, however many entries there are.
 *
 * <p>A slot is the number of an entry, from 1 on. Slots lie in pages of {@value #PAGE_SLOTS}, which are created when
 * they are needed and never moved.
 *
 * <pre>
 *   slot, 9 ints | hash, 2 ints | place, 2 ints | next | older | newer | weight | state |
 * </pre>
 *
 * <p>A slot has an entry, or the place of one in {@link CompactEntries}. "hash" and "place" do not change while the slot
 * is in use. "next" is the next slot of a chain in {@link RamTable}. "older",
 * "newer", "weight" and "state" belong to {@link EvictionPolicy}, and are guarded by its lock. While a slot is free,
 * "older" is the next free slot.
 *
 * <p>Thread-safe within these rules. A slot that was freed is used again; see {@link #free}.
 */
final class EntrySlots {
    /** The number of no slot. */
    static final int NONE = 0;

    private static final int PAGE_SLOTS_LOG2 = 12;
    private static final int PAGE_SLOTS = 1 << PAGE_SLOTS_LOG2;

    private static final int STRIDE = 9;
    private static final int HASH = 0;
    private static final int PLACE = 2;
    private static final int NEXT = 4;
    private static final int OLDER = 5;
    private static final int NEWER = 6;
    private static final int WEIGHT = 7;
    private static final int STATE = 8;

    private static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);

    private static final class Page {
        final int[] ints = new int[PAGE_SLOTS * STRIDE];
        final AtomicReferenceArray<@Nullable RamEntry> entries = new AtomicReferenceArray<>(PAGE_SLOTS);
    }

    private final ReentrantLock lock = new ReentrantLock();
    /** Written under {@link #lock}; existing pages never change. */
    private volatile Page[] pages = {};
    /** First of the free slots, which are linked by "older". Guarded by {@link #lock}. */
    private int firstFree = NONE;
    /** The number of the next slot that was never used. Guarded by {@link #lock}. */
    private int unused = NONE + 1;

    /** Takes a slot. The caller calls {@link #set} before another thread sees the slot. */
    int allocate() {
        lock.lock();
        try {
            int slot = firstFree;
            if (slot != NONE) {
                firstFree = older(slot);
                return slot;
            }
            if (unused >>> PAGE_SLOTS_LOG2 == pages.length) {
                Page[] more = Arrays.copyOf(pages, pages.length + 1);
                more[pages.length] = new Page();
                pages = more;
            }
            return unused++;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sets the data of a new slot.
     *
     * @param entry the entry; null if it is in compact form
     * @param place place of the compact entry, {@link CompactEntries#NONE} for none
     * @param hash lower half of the key's hash
     * @param state first value of the state
     */
    void set(int slot, @Nullable RamEntry entry, long place, long hash, int state) {
        setLong(slot, HASH, hash);
        setLong(slot, PLACE, place);
        state(slot, state);
        if (entry != null) {
            entry.slot(slot);
        }
        page(slot).entries.set(index(slot), entry);
    }

    /**
     * Frees a slot. The slot must be in no list of the policy. It must have left the table, and each read section in
     * which it may have been found must have ended. Otherwise a reader could continue in the chain of another entry.
     */
    void free(int slot) {
        page(slot).entries.set(index(slot), null);
        lock.lock();
        try {
            older(slot, firstFree);
            firstFree = slot;
        } finally {
            lock.unlock();
        }
    }

    private Page page(int slot) {
        return pages[slot >>> PAGE_SLOTS_LOG2];
    }

    private int[] ints(int slot) {
        return page(slot).ints;
    }

    private static int index(int slot) {
        return slot & (PAGE_SLOTS - 1);
    }

    private static int at(int slot) {
        return index(slot) * STRIDE;
    }

    /** Returns the entry of the slot; null if the slot is free or the entry is in compact form. */
    @Nullable
    RamEntry entry(int slot) {
        return page(slot).entries.getAcquire(index(slot));
    }

    /** Sets the entry that was created for a compact one. */
    void entry(int slot, RamEntry entry) {
        page(slot).entries.setRelease(index(slot), entry);
    }

    /** Returns the lower half of the key's hash. */
    long hash(int slot) {
        return getLong(slot, HASH);
    }

    /** Returns the place of the compact entry, also after {@link #entry} was set. */
    long place(int slot) {
        return getLong(slot, PLACE);
    }

    private long getLong(int slot, int field) {
        int[] ints = ints(slot);
        int at = at(slot) + field;
        return (long) ints[at] << Integer.SIZE | (ints[at + 1] & 0xFFFF_FFFFL);
    }

    private void setLong(int slot, int field, long value) {
        int[] ints = ints(slot);
        int at = at(slot) + field;
        ints[at] = (int) (value >>> Integer.SIZE);
        ints[at + 1] = (int) value;
    }

    /** Returns the next slot of the chain; {@link #NONE} at its end. */
    int next(int slot) {
        return (int) INTS.getVolatile(ints(slot), at(slot) + NEXT);
    }

    /** Sets the next slot of the chain. */
    void next(int slot, int next) {
        INTS.setVolatile(ints(slot), at(slot) + NEXT, next);
    }

    int older(int slot) {
        return ints(slot)[at(slot) + OLDER];
    }

    void older(int slot, int older) {
        ints(slot)[at(slot) + OLDER] = older;
    }

    int newer(int slot) {
        return ints(slot)[at(slot) + NEWER];
    }

    void newer(int slot, int newer) {
        ints(slot)[at(slot) + NEWER] = newer;
    }

    int weight(int slot) {
        return ints(slot)[at(slot) + WEIGHT];
    }

    void weight(int slot, int weight) {
        ints(slot)[at(slot) + WEIGHT] = weight;
    }

    int state(int slot) {
        return ints(slot)[at(slot) + STATE];
    }

    void state(int slot, int state) {
        ints(slot)[at(slot) + STATE] = state;
    }
}
