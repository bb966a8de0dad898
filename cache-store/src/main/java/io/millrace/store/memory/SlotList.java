package io.millrace.store.memory;

/**
 * A list of slots from the oldest to the newest, linked through {@link EntrySlots}. A slot is in at most one list.
 *
 * <p>Not thread-safe: guarded by the lock of {@link EvictionPolicy}.
 */
final class SlotList {
    private final EntrySlots slots;
    /** State of a slot that is in this list. */
    private final int state;

    private int oldest = EntrySlots.NONE;
    private int newest = EntrySlots.NONE;
    private long bytes;

    SlotList(EntrySlots slots, int state) {
        this.slots = slots;
        this.state = state;
    }

    /** Returns the oldest slot; {@link EntrySlots#NONE} if the list is empty. */
    int oldest() {
        return oldest;
    }

    int newest() {
        return newest;
    }

    /** Returns the weight of all slots in the list. */
    long bytes() {
        return bytes;
    }

    /** Adds a slot, which is in no list, as the newest. */
    void append(int slot) {
        slots.older(slot, newest);
        slots.newer(slot, EntrySlots.NONE);
        if (newest == EntrySlots.NONE) {
            oldest = slot;
        } else {
            slots.newer(newest, slot);
        }
        newest = slot;
        bytes += slots.weight(slot);
        slots.state(slot, state);
    }

    /** Removes a slot of this list, and sets its state. */
    void remove(int slot, int nextState) {
        int older = slots.older(slot);
        int newer = slots.newer(slot);
        if (older == EntrySlots.NONE) {
            oldest = newer;
        } else {
            slots.newer(older, newer);
        }
        if (newer == EntrySlots.NONE) {
            newest = older;
        } else {
            slots.older(newer, older);
        }
        bytes -= slots.weight(slot);
        slots.state(slot, nextState);
    }

    /** Makes a slot of this list the newest. */
    void moveToNewest(int slot) {
        if (slot != newest) {
            remove(slot, state);
            append(slot);
        }
    }

    /** Changes the weight of a slot of this list. */
    void reweigh(int slot, int weight) {
        bytes += weight - slots.weight(slot);
        slots.weight(slot, weight);
    }
}
