package io.millrace.store.memory;

import io.millrace.store.frequency.FrequencySketch;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the entries of a RAM tier that are evicted when their weight exceeds a limit.
 *
 * <p>W-TinyLFU (Einziger, Friedman and Manes, "TinyLFU: a highly efficient cache admission policy", 2017): new entries
 * are in a small window, from which they move to the main part. When the tier is full, the entry that would move is
 * compared with the oldest entry of the main part, and the one whose key was requested less often is evicted. Entries
 * of the main part that are requested again are protected, while they and the window have at most
 * {@value #PROTECTED_PERCENT} % of the limit.
 *
 * <pre>
 *   new ──> window ──> probation <──> protected       share of the window: {@link WindowShare}
 *                          │
 *                       evicted
 * </pre>
 *
 * <p>With {@link #admitAll} the window has no limit, so that the least recently requested entry is evicted: LRU.
 *
 * <p>The state of a slot shows its list. A slot that is being added or evicted is in no list, but is freed only when
 * that has ended.
 *
 * <p>Thread-safe: a lock is held for a bounded number of updates of {@link EntrySlots}, and never while an entry is
 * unlinked. Methods are called by event loops and by the housekeeping thread.
 */
final class EvictionPolicy {
    /** State of a slot that was put in the table but not added to the policy yet. */
    static final int ADDING = 1;
    /** State of a slot that is in no list, and may be freed. */
    private static final int REMOVED = 2;
    /** State of a slot that was chosen for eviction. */
    private static final int EVICTING = 3;
    /** State of a slot whose use has ended while its entry was being added or evicted. */
    private static final int RELEASED = 4;

    private static final int IN_WINDOW = 5;
    private static final int IN_PROBATION = 6;
    private static final int IN_PROTECTED = 7;

    static final int PROTECTED_PERCENT = 80;

    /** Changes of counters per entry after which the sketch halves its counters. */
    private static final int CHANGES_PER_ENTRY = 10;

    private static final int CHANGES_MIN = 100;
    /** Maximum number of longs of the sketch that are halved at once. */
    private static final int LONGS_HALVED_PER_STEP = 1 << 12;
    /**
     * Maximum number of entries that are chosen for eviction while the lock is held, and of entries that move between
     * two lists. With one number for both, each entry that leaves the window of a full tier is compared.
     */
    private static final int MOVES_PER_STEP = 32;
    /** Maximum number of entries that leave a list because one entry was added to it. */
    private static final int MOVES_PER_ENTRY = 2;
    /**
     * Minimum frequency of an entry that is sometimes admitted at random although it was requested less often.
     * Otherwise, requests for keys that share the counters of an entry could keep that entry in the tier for ever.
     */
    private static final int CHANCE_FREQUENCY_MIN = 6;

    private static final int CHANCE_ONE_IN = 128;

    private final EntrySlots slots;
    private final IntConsumer evicted;
    private final Executor housekeeping;
    private final AtomicBoolean evictionQueued = new AtomicBoolean();
    private final Runnable eviction = this::evictQueued;

    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private final SlotList window;
    private final SlotList probation;
    private final SlotList protectedSlots;
    private FrequencySketch sketch;
    private final WindowShare windowShare = new WindowShare();
    private final SplittableRandom random = new SplittableRandom();
    private volatile boolean admitsAll;
    private long bytesMax;
    private long windowBytesMax;
    private long protectedBytesMax;
    private long entries;
    /** True once the entries have half of the limit; until then, requests are not counted. */
    private boolean counting;
    /** Changes of the counters of {@link #sketch} since they were halved, and half of those before. */
    private long changes;
    /** Bytes that are still to be moved to the window, because its share has grown. */
    private long bytesToWindow;

    /**
     * Creates a policy without entries.
     *
     * @param bytesMax the first limit
     * @param entriesExpected expected number of entries of a full tier
     * @param evicted receives the slots of evicted entries, without the lock
     * @param housekeeping runs evictions after {@link #add}
     */
    EvictionPolicy(EntrySlots slots, long bytesMax, long entriesExpected, IntConsumer evicted, Executor housekeeping) {
        this.slots = slots;
        this.evicted = evicted;
        this.housekeeping = housekeeping;
        window = new SlotList(slots, IN_WINDOW);
        probation = new SlotList(slots, IN_PROBATION);
        protectedSlots = new SlotList(slots, IN_PROTECTED);
        sketch = new FrequencySketch(entriesExpected, CHANGES_PER_ENTRY, LONGS_HALVED_PER_STEP);
        setLimit(bytesMax);
    }

    /** Sets whether every entry is admitted, and the least recently requested one is evicted. */
    void admitAll(boolean all) {
        lock.lock();
        try {
            admitsAll = all;
            setLimit(bytesMax);
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether every entry is admitted. Needs no lock. */
    boolean isAdmittingAll() {
        return admitsAll;
    }

    /**
     * Adds an entry whose slot is in the state {@link #ADDING}. Returns false if {@link #release} was called meanwhile;
     * the caller then frees the slot.
     *
     * @param compactWeight weight of the entry if it is in compact form
     */
    boolean add(int slot, int compactWeight) {
        boolean full;
        lock.lock();
        try {
            if (slots.state(slot) == RELEASED) {
                return false;
            }
            RamEntry entry = slots.entry(slot);
            slots.weight(slot, entry == null ? compactWeight : entry.weight());
            window.append(slot);
            entries++;
            long bytes = bytes();
            full = bytes > bytesMax;
            counting |= bytes >= bytesMax / 2;
            if (counting) {
                count(slot);
                windowShare.countMiss();
            }
            if (!full) {
                moveFromWindow(MOVES_PER_ENTRY);
            }
        } finally {
            lock.unlock();
        }
        if (full && evictionQueued.compareAndSet(false, true)) {
            queueEviction();
        }
        return true;
    }

    private void queueEviction() {
        try {
            housekeeping.execute(eviction);
        } catch (RejectedExecutionException e) {
            // Without housekeeping, the entries must fit too.
            evictQueued();
        }
    }

    /** Counts a request for each of the entries that are still in the tier. */
    void recordRequests(RamEntry... requested) {
        lock.lock();
        try {
            for (RamEntry entry : requested) {
                recordRequest(entry);
            }
        } finally {
            lock.unlock();
        }
    }

    private void recordRequest(RamEntry entry) {
        int slot = slotOf(entry);
        if (slot == EntrySlots.NONE) {
            return;
        }
        if (counting) {
            count(slot);
            windowShare.countHit(slots.state(slot) == IN_WINDOW);
        }
        switch (slots.state(slot)) {
            case IN_WINDOW -> window.moveToNewest(slot);
            case IN_PROBATION -> promote(slot);
            case IN_PROTECTED -> renew(slot);
            default -> {
                // The entry is being added, evicted or removed.
            }
        }
    }

    private void count(int slot) {
        if (sketch.count(slots.hash(slot))) {
            changes++;
        }
    }

    /** Returns the slot of the entry; {@link EntrySlots#NONE} if the slot has another entry by now. */
    private int slotOf(RamEntry entry) {
        int slot = entry.slot();
        return slot != EntrySlots.NONE && Objects.equals(slots.entry(slot), entry) ? slot : EntrySlots.NONE;
    }

    /** Makes a protected entry the newest: of the window, if all entries are admitted. */
    private void renew(int slot) {
        if (admitsAll) {
            protectedSlots.remove(slot, REMOVED);
            window.append(slot);
        } else {
            protectedSlots.moveToNewest(slot);
        }
    }

    private void promote(int slot) {
        probation.remove(slot, REMOVED);
        if (admitsAll) {
            window.append(slot);
            return;
        }
        protectedSlots.append(slot);
        for (int i = 0; i < MOVES_PER_ENTRY && protectedSlots.bytes() > protectedBytesMax; i++) {
            move(protectedSlots, probation);
        }
    }

    /** Moves the oldest entry of a list to another list, and returns its slot. */
    private static int move(SlotList from, SlotList to) {
        int slot = from.oldest();
        from.remove(slot, REMOVED);
        to.append(slot);
        return slot;
    }

    /** Updates the weight of an entry; does nothing for an entry that is in no list. */
    void reweigh(RamEntry entry) {
        lock.lock();
        try {
            int slot = slotOf(entry);
            SlotList list = slot == EntrySlots.NONE ? null : listOf(slot);
            if (list != null) {
                list.reweigh(slot, entry.weight());
            }
        } finally {
            lock.unlock();
        }
    }

    private @Nullable SlotList listOf(int slot) {
        return switch (slots.state(slot)) {
            case IN_WINDOW -> window;
            case IN_PROBATION -> probation;
            case IN_PROTECTED -> protectedSlots;
            default -> null;
        };
    }

    /** Forgets an entry that was unlinked; its slot is still in use. */
    void remove(int slot) {
        lock.lock();
        try {
            removeFromList(slot, REMOVED);
        } finally {
            lock.unlock();
        }
    }

    /** Removes the slot from its list, if it is in one, and sets its state. */
    private boolean removeFromList(int slot, int state) {
        SlotList list = listOf(slot);
        if (list == null) {
            return false;
        }
        list.remove(slot, state);
        entries--;
        return true;
    }

    /**
     * Ends the use of a slot. Returns true if the caller may free it now. Otherwise the thread that adds or evicts the
     * entry frees it, when {@link #add} or {@link #endEviction} tells it to.
     */
    boolean release(int slot) {
        lock.lock();
        try {
            // An entry that was unlinked before it was added is still in a list.
            boolean free = removeFromList(slot, REMOVED) || slots.state(slot) == REMOVED;
            if (!free) {
                slots.state(slot, RELEASED);
            }
            return free;
        } finally {
            lock.unlock();
        }
    }

    /** Ends an eviction; returns true if {@link #release} was called meanwhile, so that the caller frees the slot. */
    boolean endEviction(int slot) {
        lock.lock();
        try {
            boolean released = slots.state(slot) == RELEASED;
            slots.state(slot, REMOVED);
            return released;
        } finally {
            lock.unlock();
        }
    }

    /** Sets the limit in bytes, and evicts on this thread until the entries fit. */
    void limit(long bytes) {
        lock.lock();
        try {
            setLimit(bytes);
        } finally {
            lock.unlock();
        }
        evict();
    }

    private void setLimit(long bytes) {
        bytesMax = bytes;
        windowBytesMax = admitsAll ? Long.MAX_VALUE : (long) (bytes * windowShare.share());
        protectedBytesMax = admitsAll ? 0 : Math.max(0, bytes / 100 * PROTECTED_PERCENT - windowBytesMax);
        bytesToWindow = 0;
    }

    private void evictQueued() {
        // The flag is reset first, so that a later entry schedules another run.
        evictionQueued.set(false);
        enlargeSketch();
        evict();
    }

    /**
     * Doubles the length of the sketch if there are more entries than longs. The counters are copied without the lock,
     * so that other threads do not wait; counts made meanwhile are lost.
     */
    private void enlargeSketch() {
        FrequencySketch small;
        lock.lock();
        try {
            small = sketch;
            if (entries <= small.longs() || small.isHalving()) {
                return;
            }
        } finally {
            lock.unlock();
        }
        FrequencySketch doubled = small.doubled();
        lock.lock();
        try {
            // If halving has begun meanwhile, only a part of the copied counters is halved.
            if (sketch.equals(small) && !small.isHalving()) {
                sketch = doubled;
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Evicts on this thread until the entries fit. If the eviction of an entry fails, the others that were chosen are
     * evicted nevertheless, and the first failure is thrown at the end.
     */
    void evict() {
        int[] victims = new int[MOVES_PER_STEP];
        RuntimeException failure = null;
        int count;
        do {
            count = chooseVictims(victims);
            for (int i = 0; i < count; i++) {
                try {
                    evicted.accept(victims[i]);
                } catch (RuntimeException e) {
                    failure = failure == null ? e : failure;
                }
            }
        } while (count == victims.length);
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * Takes entries from the lists until the others fit, at most as many as the array has elements. Returns their
     * number.
     */
    private int chooseVictims(int[] victims) {
        lock.lock();
        try {
            growWindow();
            demote();
            int candidate = moveFromWindow(MOVES_PER_STEP);
            boolean isWindowChecked = admitsAll;
            int count = 0;
            while (count < victims.length && bytes() > bytesMax) {
                if (candidate == EntrySlots.NONE && !isWindowChecked) {
                    candidate = window.oldest();
                    isWindowChecked = true;
                }
                // The entry that is not evicted stays: the admitted candidate, or the oldest entry, with which the next
                // candidate is compared.
                int next = candidate == EntrySlots.NONE ? EntrySlots.NONE : slots.newer(candidate);
                int victim = victim(candidate);
                if (victim == EntrySlots.NONE) {
                    break;
                }
                removeFromList(victim, EVICTING);
                victims[count++] = victim;
                candidate = next;
            }
            adapt();
            return count;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the slot to evict: the candidate for the main part, or the oldest entry there. {@link EntrySlots#NONE} if
     * there is no entry at all.
     */
    private int victim(int candidate) {
        int oldest = probation.oldest();
        if (candidate == EntrySlots.NONE) {
            return oldest != EntrySlots.NONE ? oldest : oldestOfOthers();
        }
        return oldest == EntrySlots.NONE || !isAdmitted(candidate, oldest) ? candidate : oldest;
    }

    private int oldestOfOthers() {
        return protectedSlots.oldest() != EntrySlots.NONE ? protectedSlots.oldest() : window.oldest();
    }

    /** Returns true if the candidate may displace the oldest entry of the main part. */
    private boolean isAdmitted(int candidate, int oldest) {
        if (slots.weight(candidate) > bytesMax) {
            return false;
        }
        int frequency = sketch.frequency(slots.hash(candidate));
        return frequency > sketch.frequency(slots.hash(oldest))
                || (frequency >= CHANCE_FREQUENCY_MIN && random.nextInt(CHANCE_ONE_IN) == 0);
    }

    /**
     * Moves the oldest entries of the window to the main part while the window exceeds its limit. Returns the slot of
     * the first one; {@link EntrySlots#NONE} if none moved.
     */
    private int moveFromWindow(int max) {
        int first = EntrySlots.NONE;
        for (int i = 0; i < max && window.bytes() > windowBytesMax; i++) {
            int moved = move(window, probation);
            first = first == EntrySlots.NONE ? moved : first;
        }
        return first;
    }

    /** Moves the oldest entries of the main part to the window after its share has grown. */
    private void growWindow() {
        for (int i = 0; i < MOVES_PER_STEP && bytesToWindow > 0; i++) {
            SlotList from = probation.oldest() != EntrySlots.NONE ? probation : protectedSlots;
            int oldest = from.oldest();
            if (oldest == EntrySlots.NONE || slots.weight(oldest) > bytesToWindow) {
                bytesToWindow = 0;
                return;
            }
            bytesToWindow -= slots.weight(oldest);
            move(from, window);
        }
    }

    /**
     * Moves the oldest protected entries back if they exceed their limit and probation is empty, for example after the
     * limit has shrunk. Otherwise each new entry would be evicted without a comparison.
     */
    private void demote() {
        if (admitsAll || probation.oldest() != EntrySlots.NONE) {
            return;
        }
        for (int i = 0; i < MOVES_PER_STEP && protectedSlots.bytes() > protectedBytesMax; i++) {
            move(protectedSlots, probation);
        }
    }

    private void adapt() {
        if (!counting || admitsAll) {
            return;
        }
        long changesMax = Math.max(CHANGES_MIN, CHANGES_PER_ENTRY * Math.min(entries, sketch.longs()));
        if (changes >= changesMax && !sketch.isHalving()) {
            // Halving also halves the changes that are recorded in the counters.
            changes /= 2;
            sketch.beginHalving();
        }
        sketch.halve();
        if (windowShare.adapt(entries)) {
            long before = windowBytesMax;
            setLimit(bytesMax);
            bytesToWindow = Math.max(0, windowBytesMax - before);
        }
    }

    private long bytes() {
        return window.bytes() + probation.bytes() + protectedSlots.bytes();
    }
}
