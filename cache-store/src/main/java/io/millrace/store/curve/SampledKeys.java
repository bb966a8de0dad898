package io.millrace.store.curve;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a simulation by hash: a hash table of fixed size with linear probing. Confined to the thread that
 * computes the curve of hit ratios.
 */
final class SampledKeys {
    private static final int SLOTS_PER_KEY = 2;

    private final @Nullable SampledKey[] slots;
    private final @Nullable SampledKey[] byId;
    private final int[] freeIds;
    private int free;

    SampledKeys(int capacity) {
        slots = new SampledKey[Integer.highestOneBit(capacity * SLOTS_PER_KEY - 1) << 1];
        byId = new SampledKey[capacity];
        freeIds = new int[capacity];
        clear();
    }

    private int slot(long hash) {
        // The lower bits are used, because the sampling test selects keys by the upper bits: these are not spread
        // evenly among sampled keys.
        return (int) hash & (slots.length - 1);
    }

    @Nullable
    SampledKey find(long hash) {
        int slot = slot(hash);
        SampledKey key = slots[slot];
        while (key != null && key.hash != hash) {
            slot = (slot + 1) & (slots.length - 1);
            key = slots[slot];
        }
        return key;
    }

    /** Adds a key that is absent. The table must not be full. */
    SampledKey add(long hash, int group, int size) {
        SampledKey key = new SampledKey(hash, freeIds[--free], group, size);
        int slot = slot(hash);
        while (slots[slot] != null) {
            slot = (slot + 1) & (slots.length - 1);
        }
        slots[slot] = key;
        byId[key.id] = key;
        return key;
    }

    void remove(SampledKey key) {
        int slot = slot(key.hash);
        while (!key.equals(slots[slot])) {
            slot = (slot + 1) & (slots.length - 1);
        }
        byId[key.id] = null;
        freeIds[free++] = key.id;
        slots[slot] = null;
        // Moves later keys of the same run forward, so that lookups never meet a gap.
        int next = (slot + 1) & (slots.length - 1);
        for (SampledKey moved = slots[next]; moved != null; moved = slots[next]) {
            int home = slot(moved.hash);
            if (((next - home) & (slots.length - 1)) >= ((next - slot) & (slots.length - 1))) {
                slots[slot] = moved;
                slots[next] = null;
                slot = next;
            }
            next = (next + 1) & (slots.length - 1);
        }
    }

    /** Returns the key with this id; null if the id is free. */
    @Nullable
    SampledKey byId(int id) {
        return byId[id];
    }

    int capacity() {
        return byId.length;
    }

    int count() {
        return byId.length - free;
    }

    boolean isFull() {
        return free == 0;
    }

    void clear() {
        Arrays.fill(slots, null);
        Arrays.fill(byId, null);
        free = byId.length;
        for (int i = 0; i < free; i++) {
            freeIds[i] = i;
        }
    }
}
