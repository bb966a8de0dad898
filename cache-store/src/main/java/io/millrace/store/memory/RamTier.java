package io.millrace.store.memory;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jctools.queues.MpmcArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The RAM tier: a cache of objects in RAM within a byte budget.
 *
 * <pre>
 *   get ──> RamTable (slots of entries) ──hits, in batches──> EvictionPolicy
 *                 ^                                                 │
 *                 └──────────── eviction removes a slot ────────────┘
 * </pre>
 *
 * <p>The table alone determines which objects are resident. Its slots are numbers of {@link EntrySlots}. The tier holds
 * one reference to the {@link RamEntry} of a slot, or owns the block of a {@link CompactEntries compact entry}. The
 * thread that removes a slot from the table, by eviction, replacement or removal, releases this reference or block when
 * no reader can be using the slot any more. The memory is freed when its last owner has released it.
 *
 * <p>Thread-safe. A lookup of an entry that is in the table and not in compact form takes no lock. Others take the lock
 * of a chain for a few steps, unless the chain is empty.
 *
 * @param <E> the kind of entry
 */
public final class RamTier<E extends RamEntry> {
    private static final int BATCH_SIZE_MAX = 32;
    /**
     * Bytes of the tier per hit in a batch. In a small tier, the hits of a long batch would be outdated before the
     * batch is full.
     */
    private static final int BYTES_PER_BATCHED_HIT = 1 << 20;

    private static final int BATCHES_MAX = 128;
    /**
     * Minimum number of full batches that are queued before the policy's thread is woken. Each wake-up takes CPU time
     * from request threads.
     */
    private static final int BATCHES_PER_WAKE_MIN = 8;

    /** Maximum number of full batches that are queued before the policy's thread is woken. */
    private static final int BATCHES_PER_WAKE_MAX = 32;
    /**
     * Number of entries in the tier for each hit that may wait, within the two limits above. In a tier with few
     * entries, the policy would receive a waiting hit too late to prevent an eviction.
     */
    private static final int ENTRIES_PER_WAITING_HIT = 128;

    /** Number of hits after which the policy treats an entry as requested more than once. */
    private static final int EARLIER_HITS = 2;

    private final long bytesMax;
    private final int batchSize;
    private volatile int batchesPerWake;
    private final MemoryBudget budget;
    private final EntrySlots slots = new EntrySlots();
    private final RamTable table;
    /** The entries in compact form; null if the tier keeps each entry as it was put. */
    private final @Nullable CompactEntries<E> compact;

    private final EpochReclamation reclamation = new EpochReclamation(this::release);
    private final EvictionPolicy policy;
    private final TierLimit limit;

    private final Executor housekeeping;
    private final AtomicLong entries = new AtomicLong();
    private final LongAdder evictions = new LongAdder();
    private final MpmcArrayQueue<RamEntry[]> batches = new MpmcArrayQueue<>(BATCHES_MAX);
    /** Entries whose heap bytes have grown since the policy weighed them. */
    private final Queue<RamEntry> grown = new ConcurrentLinkedQueue<>();

    private final AtomicBoolean drainQueued = new AtomicBoolean();
    private final Runnable drain = this::drain;

    private volatile HitListener<? super E> onHit = (entry, hits) -> {};
    private final FastThreadLocal<HitBatch> hits;
    private final AccessFeed accesses = new AccessFeed();

    /**
     * Creates an empty tier with a budget of its own.
     *
     * @param bytesMax the budget; with 0 no object is kept
     * @param housekeeping runs the tasks of the policy
     */
    public RamTier(long bytesMax, Executor housekeeping) {
        this(bytesMax, new MemoryBudget(bytesMax), housekeeping);
    }

    /**
     * Creates an empty tier with a shared budget. The tier evicts when other parts need the budget.
     *
     * @param bytesMax limit of the tier; with 0 no object is kept
     * @param budget counts the entries of this tier and the other parts
     * @param housekeeping runs the tasks of the policy
     */
    public RamTier(long bytesMax, MemoryBudget budget, Executor housekeeping) {
        this(bytesMax, RamTable.BYTES_PER_CHAIN, budget, housekeeping, null);
    }

    /**
     * Creates an empty tier with a shared budget, which keeps entries without Java objects until their first request.
     *
     * @param bytesMax limit of the tier; with 0 no object is kept
     * @param budget counts the entries of this tier and the other parts
     * @param housekeeping runs the tasks of the policy
     * @param allocator allocator of the bodies of these entries; see {@link CountingAllocator#tryEntryBuffer}
     * @param factory creates an entry again at its first request
     */
    public static <E extends RamEntry> RamTier<E> withCompactEntries(
            long bytesMax,
            MemoryBudget budget,
            Executor housekeeping,
            CountingAllocator allocator,
            EntryFactory<E> factory) {
        return new RamTier<>(
                bytesMax, RamTable.BYTES_PER_CHAIN, budget, housekeeping, new CompactEntries<>(allocator, factory));
    }

    /**
     * Creates an additional empty tier with the budget of another tier. It evicts only when the tiers created before it
     * cannot release more. It then stays smaller until {@link #restoreLimit}.
     *
     * @param bytesMax limit of the tier; with 0 no object is kept
     * @param entryBytes usual bytes of an entry, which determines the size of the hash table
     * @param budget counts the entries of this tier and the other parts
     * @param housekeeping runs the tasks of the policy
     */
    public static <E extends RamEntry> RamTier<E> withSharedBudget(
            long bytesMax, int entryBytes, MemoryBudget budget, Executor housekeeping) {
        return new RamTier<>(bytesMax, entryBytes, budget, housekeeping, null);
    }

    private RamTier(
            long bytesMax,
            int bytesPerChain,
            MemoryBudget budget,
            Executor housekeeping,
            @Nullable CompactEntries<E> compact) {
        this.compact = compact;
        this.bytesMax = bytesMax;
        this.batchSize = (int) Math.max(1, Math.min(bytesMax / BYTES_PER_BATCHED_HIT, BATCH_SIZE_MAX));
        this.hits = HitBatch.ofEachThread(batchSize);
        this.budget = budget;
        this.housekeeping = housekeeping;
        this.table = new RamTable(slots, compact, bytesMax, bytesPerChain);
        this.policy = new EvictionPolicy(slots, bytesMax, bytesMax / bytesPerChain, this::evicted, housekeeping);
        this.limit = new TierLimit(bytesMax, budget, reclamation, policy::limit);
        this.batchesPerWake = batchesPerWake();
        budget.addConsumer(limit);
    }

    private void evicted(int slot) {
        evictions.increment();
        try {
            unlink(slot, slots.hash(slot), null);
        } finally {
            if (policy.endEviction(slot)) {
                slots.free(slot);
            }
        }
    }

    /** Releases an unlinked entry, and its slot. */
    private void release(int slot) {
        RamEntry entry = slots.entry(slot);
        long place = slots.place(slot);
        if (policy.release(slot)) {
            slots.free(slot);
        }
        if (entry != null) {
            entry.releaseEntry();
        } else {
            compact().release(place);
        }
    }

    private CompactEntries<E> compact() {
        CompactEntries<E> entries = compact;
        if (entries == null) {
            throw new IllegalStateException("a slot has no entry");
        }
        return entries;
    }

    /**
     * Sets the policy of the tier. A change keeps all entries; their order of eviction does not continue.
     *
     * @param all true to keep every new entry and to evict the least recently requested one; false, the initial value,
     *     to admit and evict entries by frequency
     */
    public void admitAll(boolean all) {
        policy.admitAll(all);
    }

    /** Returns whether the tier evicts the least recently requested entry: see {@link #admitAll}. */
    public boolean evictsByRecency() {
        return policy.isAdmittingAll();
    }

    private int batchesPerWake() {
        if (batchSize < BATCH_SIZE_MAX) {
            return 1;
        }
        if (!policyCountsReads()) {
            return BATCHES_PER_WAKE_MAX;
        }
        long batches = entries.get() / ENTRIES_PER_WAITING_HIT / BATCH_SIZE_MAX;
        return (int) Math.max(BATCHES_PER_WAKE_MIN, Math.min(batches, BATCHES_PER_WAKE_MAX));
    }

    /**
     * Sets the listener of hits. It is called on the housekeeping thread or an I/O thread; entries are borrowed and may
     * already be released.
     */
    public void onHit(HitListener<? super E> listener) {
        onHit = listener;
    }

    /** Returns true if the tier can keep objects, that is, if its budget is not 0. */
    public boolean isEnabled() {
        return bytesMax > 0;
    }

    /** Returns the entry of the key, retained for the caller; null if it is not in RAM. */
    public @Nullable E get(long hashLow, byte[] keyBytes) {
        E entry = cast(table.findEntry(hashLow, keyBytes));
        if (entry == null || !entry.tryRetain()) {
            entry = retained(hashLow, keyBytes);
            if (entry == null) {
                return null;
            }
        }
        noteHit(entry);
        return entry;
    }

    /** Returns the entry of the key, retained; null if it is not in RAM. Takes the lock of a chain. */
    private @Nullable E retained(long hashLow, byte[] keyBytes) {
        return withSlot(hashLow, keyBytes, slot -> {
            E entry = entryIn(slot);
            return entry.tryRetain() ? entry : null;
        });
    }

    /**
     * Passes the slot of the key to the function, while the lock of its chain is held. Returns its result; null if the
     * key is not in RAM.
     */
    private <T> @Nullable T withSlot(long hashLow, byte[] keyBytes, IntFunction<@Nullable T> function) {
        if (table.isChainEmpty(hashLow)) {
            return null;
        }
        ReentrantLock lock = table.lock(hashLow);
        lock.lock();
        try {
            int slot = table.find(hashLow, keyBytes);
            return slot == EntrySlots.NONE ? null : function.apply(slot);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the entry in a slot of the table, created if it is in compact form. The caller holds the lock of the chain.
     */
    private E entryIn(int slot) {
        E entry = cast(slots.entry(slot));
        return entry == null ? create(slot) : entry;
    }

    /** Creates the entry of a slot in compact form. The tier then keeps the entry. */
    private E create(int slot) {
        E entry = compact().create(slots.place(slot), slots.hash(slot));
        entry.slot(slot);
        int moreBytes = entry.linkToOwnedBody() - CompactEntries.HEAP_BYTES;
        limit.addHeap(moreBytes);
        slots.entry(slot, entry);
        grown.add(entry);
        return entry;
    }

    /**
     * A reader of entries that takes no references. Therefore reads do not write memory that other threads use.
     * Confined to one thread.
     */
    public final class Reader implements AutoCloseable {
        private final EpochReclamation.Section section = reclamation.open();

        private Reader() {}

        /** Begins a read section: entries found from now on stay valid until {@link #end}. */
        public void begin() {
            section.begin();
        }

        /** Returns the entry of the key, borrowed until {@link #end}; null if it is not in RAM. */
        public @Nullable E get(long hashLow, byte[] keyBytes) {
            if (!section.isInProgress()) {
                throw new IllegalStateException("no read section is in progress");
            }
            int slot = table.find(hashLow, keyBytes);
            if (slot == EntrySlots.NONE) {
                return null;
            }
            E entry = cast(slots.entry(slot));
            if (entry == null) {
                entry = peek(hashLow, keyBytes);
            }
            // An entry that is linked now is not released before this section ends.
            if (entry == null || !entry.isLinked()) {
                return null;
            }
            noteHit(entry);
            return entry;
        }

        /** Ends the section: entries that were found and not retained may be released. */
        public void end() {
            section.end();
        }

        @Override
        public void close() {
            reclamation.close(section);
        }
    }

    /** Creates a reader for one thread. */
    public Reader reader() {
        return new Reader();
    }

    /** Returns the entry of the key, not retained and not counted as a hit. */
    public @Nullable E peek(long hashLow, byte[] keyBytes) {
        return withSlot(hashLow, keyBytes, this::entryIn);
    }

    /**
     * Returns the entry of the key, retained for the caller and not counted as a hit; null if it is not in RAM. An entry
     * in compact form stays so, and the caller gets a copy, which uses the same memory. So a caller that visits many
     * keys does not fill the heap.
     */
    public @Nullable E copy(long hashLow, byte[] keyBytes) {
        return withSlot(hashLow, keyBytes, slot -> {
            E entry = cast(slots.entry(slot));
            if (entry == null) {
                return compact().create(slots.place(slot), hashLow);
            }
            return entry.tryRetain() ? entry : null;
        });
    }

    /** Returns true if the key is in RAM. */
    public boolean contains(long hashLow, byte[] keyBytes) {
        return withSlot(hashLow, keyBytes, slot -> true) != null;
    }

    @SuppressWarnings("unchecked") // only entries of this kind are added
    private @Nullable E cast(@Nullable RamEntry entry) {
        return (E) entry;
    }

    /** Returns the feed of sampled requests. */
    public AccessFeed accesses() {
        return accesses;
    }

    private void noteHit(RamEntry entry) {
        accesses.addHit(entry);
        HitBatch batch = hits.get();
        batch.entries[batch.size++] = entry;
        if (batch.size == batchSize) {
            batch.size = 0;
            // If the queue is full, the batch is discarded, because the policy needs only a sample of the hits.
            if (batches.offer(batch.entries)) {
                batch.entries = new RamEntry[batchSize];
            }
            if (batches.size() >= batchesPerWake && !drainQueued.get() && drainQueued.compareAndSet(false, true)) {
                queueDrain();
            }
        }
    }

    private void queueDrain() {
        try {
            housekeeping.execute(drain);
        } catch (RejectedExecutionException e) {
            // The hits stay in the queue for the next attempt.
            drainQueued.set(false);
        }
    }

    @SuppressWarnings("unchecked") // only entries of this kind are added
    private void drain() {
        // The flag is reset before the batches are read, so that a batch that is offered later schedules another run.
        drainQueued.set(false);
        updateWeights();
        HitListener<? super E> listener = onHit;
        boolean counted = policyCountsReads();
        for (RamEntry[] batch = batches.poll(); batch != null; batch = batches.poll()) {
            if (counted) {
                policy.recordRequests(batch);
            }
            for (RamEntry entry : batch) {
                int hits = entry.hits + 1;
                entry.hits = hits;
                listener.onHit((E) entry, hits);
            }
        }
    }

    /**
     * Returns true if the policy receives reads of entries. It receives none until the tier is half full, because it
     * ignores them before.
     */
    private boolean policyCountsReads() {
        return limit.isHalfFull();
    }

    /**
     * Adds heap bytes to an entry, for example after its head was decoded. The tier counts them immediately. The policy
     * receives the new weight later, with the next hits, so that the caller does not wait for the policy.
     */
    public void addHeapBytes(E entry, int moreBytes) {
        int counted = entry.grow(moreBytes);
        if (counted > 0) {
            limit.addHeap(counted);
            grown.add(entry);
        }
    }

    private void updateWeights() {
        RamEntry entry = grown.poll();
        if (entry == null) {
            return;
        }
        for (; entry != null; entry = grown.poll()) {
            policy.reweigh(entry);
        }
        budget.keepEntriesWithinHeap();
    }

    /** Passes the hits of this thread and all queued batches to the policy. Then the policy evicts. */
    public void drainHits() {
        HitBatch batch = hits.get();
        if (batch.size > 0 && batches.offer(Arrays.copyOf(batch.entries, batch.size))) {
            Arrays.fill(batch.entries, 0, batch.size, null);
            batch.size = 0;
        }
        drain();
        policy.evict();
    }

    /**
     * Adds the entry, and replaces the previous entry of its key. Borrows the caller's reference and adds one of its
     * own. An entry that is too large is not added, and the previous entry is removed.
     *
     * <p>An entry that was not requested may be added in compact form. The tier then has no reference to this entry, and
     * creates another one at the first request.
     */
    public void put(E entry) {
        if (!isEnabled() || entry.weight() > bytesMax) {
            remove(entry.hashLow(), entry.keyBytes());
            return;
        }
        add(entry);
        if (limit.isOverdrawn()) {
            policy.evict();
        }
        budget.keepEntriesWithinHeap();
    }

    private void add(E entry) {
        int slot;
        int before;
        ReentrantLock lock = table.lock(entry.hashLow());
        lock.lock();
        try {
            before = table.find(entry.hashLow(), entry.keyBytes());
            slot = newSlot(entry, before);
            table.put(slot, entry.keyBytes());
        } finally {
            lock.unlock();
        }
        try {
            if (!policy.add(slot, entry.compactWeight())) {
                slots.free(slot);
            }
        } finally {
            if (before == EntrySlots.NONE) {
                accesses.addStored(entry);
            } else {
                unlinked(before);
            }
        }
    }

    /**
     * Returns a new slot for the entry. If neither the entry nor the previous one of its key had hits, it is kept in
     * compact form if possible.
     */
    private int newSlot(E entry, int before) {
        RamEntry entryBefore = before == EntrySlots.NONE ? null : slots.entry(before);
        int hits = entryBefore == null ? entry.hits : entryBefore.hits;
        int slot = slots.allocate();
        boolean set = false;
        try {
            long place = compact == null || hits > 0 ? CompactEntries.NONE : compact.store(entry);
            int heap = CompactEntries.HEAP_BYTES;
            if (place == CompactEntries.NONE) {
                heap = link(entry);
                entry.hits = hits;
            }
            limit.add(entry.bodyBytes(), heap);
            entries.incrementAndGet();
            slots.set(slot, place == CompactEntries.NONE ? entry : null, place, entry.hashLow(), EvictionPolicy.ADDING);
            set = true;
            return slot;
        } finally {
            if (!set) {
                slots.free(slot);
            }
        }
    }

    /** Adds the tier's reference to an entry, and returns its heap bytes. */
    private int link(E entry) {
        entry.retainEntry();
        int heap = entry.link();
        if (heap == RamEntry.NO_CHANGE) {
            entry.releaseEntry();
            throw new IllegalStateException("the entry was put before; an entry can be put only once");
        }
        return heap;
    }

    /**
     * Sets the limit to the bytes that other parts of the budget leave. Also processes waiting hits. Called
     * periodically.
     */
    public void resize() {
        reclamation.releaseUnread();
        if (!isEnabled()) {
            return;
        }
        drain();
        batchesPerWake = batchesPerWake();
        limit.resize();
    }

    /** Restores the maximum limit after the tier was made smaller. */
    public void restoreLimit() {
        limit.restore();
    }

    /** Counts two hits of a new entry, because its object was requested before the entry was added. */
    public void creditEarlierHits(E entry) {
        for (int i = 0; i < EARLIER_HITS; i++) {
            policy.recordRequests(entry);
        }
        entry.hits += EARLIER_HITS;
    }

    /**
     * Returns the keys of at most this many entries, in descending order of hit counts. Halves all counts and rounds up,
     * so that older hits lose weight. Scans every entry.
     */
    public HottestKeys hottest(int max) {
        drain();
        return HottestEntries.selectAndHalve(table, slots, compact, max);
    }

    /**
     * Passes the keys of entries to the consumer. Visits each key that is present during the whole call, also if its
     * entry is replaced meanwhile, and possibly keys that are added or removed meanwhile. The consumer runs without a
     * lock.
     */
    public void forEachKey(Consumer<byte[]> consumer) {
        List<byte[]> keys = new ArrayList<>();
        table.forEach(slot -> keys.add(key(slot)), () -> {
            keys.forEach(consumer);
            keys.clear();
        });
    }

    private byte[] key(int slot) {
        RamEntry entry = slots.entry(slot);
        return entry == null ? compact().key(slots.place(slot)) : entry.keyBytes();
    }

    /** Removes the entry of the key; returns true if there was one. */
    public boolean remove(long hashLow, byte[] keyBytes) {
        if (table.isChainEmpty(hashLow)) {
            return false;
        }
        int slot;
        ReentrantLock lock = table.lock(hashLow);
        lock.lock();
        try {
            slot = table.find(hashLow, keyBytes);
            if (slot == EntrySlots.NONE) {
                return false;
            }
            table.remove(slot, hashLow);
        } finally {
            lock.unlock();
        }
        unlinked(slot);
        return true;
    }

    /** Removes the entry; returns true if it was in the tier. */
    public boolean remove(E entry) {
        return entry.slot() != EntrySlots.NONE && unlink(entry.slot(), entry.hashLow(), entry);
    }

    /**
     * Removes a slot from the table. Returns false if the table does not have it.
     *
     * @param only the entry that the slot must have; null for any entry
     */
    private boolean unlink(int slot, long hashLow, @Nullable RamEntry only) {
        ReentrantLock lock = table.lock(hashLow);
        lock.lock();
        try {
            boolean hasOtherEntry = only != null && !Objects.equals(slots.entry(slot), only);
            if (hasOtherEntry || !table.remove(slot, hashLow)) {
                return false;
            }
        } finally {
            lock.unlock();
        }
        unlinked(slot);
        return true;
    }

    /** Called by the thread that has removed the slot from the table. */
    private void unlinked(int slot) {
        RamEntry entry = slots.entry(slot);
        int heap = entry == null ? CompactEntries.HEAP_BYTES : entry.unlink();
        int body = entry == null ? compact().bytes(slots.place(slot)) : entry.bodyBytes();
        policy.remove(slot);
        limit.subtract(body, heap);
        entries.decrementAndGet();
        reclamation.releaseAfterReaders(slot, body);
    }

    /** Removes all entries. */
    public void clear() {
        List<Integer> found = new ArrayList<>();
        table.forEach(found::add, () -> {
            // If a slot was used again meanwhile, its new entry is removed.
            found.forEach(slot -> unlink(slot, slots.hash(slot), null));
            found.clear();
        });
        policy.evict();
    }

    /**
     * Returns the current limit in bytes. It is below {@link #bytesMax} while other parts need memory, or while entries
     * reach their heap limit.
     */
    public long bytesLimit() {
        return limit.bytesLimit();
    }

    /** Returns the bytes in use. */
    public long bytes() {
        return limit.bytes();
    }

    /** Returns the maximum limit. */
    public long bytesMax() {
        return bytesMax;
    }

    /** Returns the number of entries. */
    public long entries() {
        return entries.get();
    }

    /** Returns the number of unlinked entries that are kept because a reader may still use them. */
    int unlinkedEntries() {
        return reclamation.waiting();
    }

    /** Returns the number of entries that the policy evicted or did not admit. */
    public long evictions() {
        return evictions.sum();
    }
}
