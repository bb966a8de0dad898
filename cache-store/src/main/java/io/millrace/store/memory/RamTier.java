package io.millrace.store.memory;

import io.netty.util.concurrent.FastThreadLocal;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jctools.queues.MpmcArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The RAM tier: a cache of objects in RAM within a byte budget.
 *
 * <pre>
 *   get ──> RamTable (resident entries) ──hits, in batches──> EvictionPolicy
 *                 ^                                                 │
 *                 └──────────── eviction removes an entry ──────────┘
 * </pre>
 *
 * <p>The table alone determines which objects are resident. The tier holds one reference to each entry in the table.
 * The thread that unlinks an entry, by eviction, replacement or removal, releases that reference. The buffer is freed
 * when its last reference is released.
 *
 * <p>Thread-safe. Lookups never block.
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

    /**
     * Divisor of the heap limit: the result is freed when entries reach the limit, so that evictions for heap are rare.
     */
    private static final int HEAP_FREE_DIVISOR = 32;
    /**
     * Divisor like {@link #HEAP_FREE_DIVISOR}, for the case that the inserting thread must evict because housekeeping
     * was too late. The thread evicts only a small part; housekeeping continues.
     */
    private static final int HEAP_FREE_DIVISOR_AT_ONCE = 1024;

    /**
     * Divisor of the current limit: usage may exceed the limit by the result, rounded down to
     * {@link #OVERDRAFT_UNIT_BYTES}. Above that, the inserting thread evicts; below, housekeeping does.
     */
    private static final int OVERDRAFT_DIVISOR = 1024;

    private static final long OVERDRAFT_UNIT_BYTES = 64 * 1024;

    /** Number of hits after which the policy treats an entry as requested more than once. */
    private static final int EARLIER_HITS = 2;

    private final long bytesMax;
    private final int batchSize;
    private volatile int batchesPerWake;
    private final MemoryBudget budget;
    private final ReentrantLock resizing = new ReentrantLock();
    /**
     * The current limit of the tier in bytes: the budget minus the bytes of the other parts. Written under
     * {@link #resizing}.
     */
    private volatile long bytesLimit;

    private final EntrySlots slots = new EntrySlots();
    private final RamTable table;
    private final EpochReclamation reclamation = new EpochReclamation(this::release);
    private final EvictionPolicy policy;
    /** True if the policy evicts by recency. Written under {@link #resizing}. */
    private volatile boolean evictsByRecency;

    private final Executor housekeeping;
    private final AtomicLong bytes = new AtomicLong();
    /** The heap part of {@link #bytes}. */
    private final AtomicLong heapBytes = new AtomicLong();

    /** True once usage has reached half of the limit. */
    private volatile boolean halfFull;

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
        this(bytesMax, RamTable.BYTES_PER_CHAIN, budget, housekeeping);
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
        return new RamTier<>(bytesMax, entryBytes, budget, housekeeping);
    }

    private RamTier(long bytesMax, int bytesPerChain, MemoryBudget budget, Executor housekeeping) {
        this.bytesMax = bytesMax;
        this.batchSize = (int) Math.max(1, Math.min(bytesMax / BYTES_PER_BATCHED_HIT, BATCH_SIZE_MAX));
        this.hits = HitBatch.ofEachThread(batchSize);
        this.bytesLimit = bytesMax;
        this.batchesPerWake = batchesPerWake();
        this.budget = budget;
        budget.addConsumer(new EvictingConsumer());
        this.housekeeping = housekeeping;
        this.table = new RamTable(slots, bytesMax, bytesPerChain);
        this.policy = new EvictionPolicy(slots, bytesMax, bytesMax / bytesPerChain, this::evicted, housekeeping);
    }

    private void evicted(int slot) {
        evictions.increment();
        RamEntry entry = slots.entry(slot);
        if (entry != null) {
            unlink(entry);
        }
        if (policy.endEviction(slot)) {
            slots.free(slot);
        }
    }

    /** Releases the tier's reference to an unlinked entry, and its slot. */
    private void release(RamEntry entry) {
        int slot = entry.slot();
        if (policy.release(slot)) {
            slots.free(slot);
        }
        entry.releaseEntry();
    }

    /**
     * Sets the policy of the tier. A change keeps all entries; their order of eviction does not continue.
     *
     * @param all true to keep every new entry and to evict the least recently requested one; false, the initial value,
     *     to admit and evict entries by frequency
     */
    public void admitAll(boolean all) {
        resizing.lock();
        try {
            if (all != evictsByRecency) {
                evictsByRecency = all;
                policy.admitAll(all);
            }
        } finally {
            resizing.unlock();
        }
    }

    /** Returns whether the tier evicts the least recently requested entry: see {@link #admitAll}. */
    public boolean evictsByRecency() {
        return evictsByRecency;
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
        E entry = peek(hashLow, keyBytes);
        if (entry == null || !entry.tryRetain()) {
            return null;
        }
        noteHit(entry);
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
            E entry = cast(table.find(hashLow, keyBytes));
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
        return cast(table.findLocked(hashLow, keyBytes));
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
                housekeeping.execute(drain);
            }
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
     * Returns true if the policy receives reads of entries. It receives none until the tier is half full: before that,
     * Caffeine ignores reads and LRU does not need them.
     */
    private boolean policyCountsReads() {
        if (!halfFull) {
            halfFull = bytes.get() >= bytesLimit / 2;
        }
        return halfFull;
    }

    /**
     * Adds heap bytes to an entry, for example after its head was decoded. The tier counts them immediately. The policy
     * receives the new weight later, with the next hits, so that the caller does not wait for the policy.
     */
    public void addHeapBytes(E entry, int moreBytes) {
        int counted = entry.grow(moreBytes);
        if (counted > 0) {
            bytes.addAndGet(counted);
            heapBytes.addAndGet(counted);
            budget.add(MemoryBudget.Part.ENTRIES, counted);
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
     */
    public void put(E entry) {
        if (!isEnabled() || entry.weight() > bytesMax || !entry.tryRetain()) {
            remove(entry.hashLow(), entry.keyBytes());
            return;
        }
        int heap = entry.link();
        if (heap == RamEntry.NO_CHANGE) {
            entry.releaseEntry();
            throw new IllegalStateException("the entry was put before; an entry can be put only once");
        }
        long weight = (long) entry.bodyBytes() + heap;
        bytes.addAndGet(weight);
        heapBytes.addAndGet(heap);
        budget.countAdded(weight);
        budget.add(MemoryBudget.Part.ENTRIES, heap);
        entries.incrementAndGet();
        RamEntry before = table.put(entry);
        if (before != null) {
            entry.hits = before.hits;
            unlink(before);
        } else {
            accesses.addStored(entry);
        }
        if (!policy.add(entry.slot(), entry.weight())) {
            slots.free(entry.slot());
        }
        if (entry.heapBytes() != heap) {
            // The entry may have grown before it was added to the policy.
            grown.add(entry);
        }
        long limit = bytesLimit;
        if (bytes.get() > limit + limit / OVERDRAFT_DIVISOR / OVERDRAFT_UNIT_BYTES * OVERDRAFT_UNIT_BYTES) {
            policy.evict();
        }
        budget.keepEntriesWithinHeap();
    }

    /**
     * Releases memory of the tier when other parts of the budget need it. The tier evicts immediately, and stays
     * smaller until {@link #resize}.
     */
    private final class EvictingConsumer implements MemoryBudget.MemoryConsumer {
        @Override
        public boolean releaseBytes(long missing) {
            resizing.lock();
            try {
                long smaller = Math.max(0, Math.min(bytesLimit, bytes.get()) - missing);
                if (smaller >= bytesLimit) {
                    return false;
                }
                limit(smaller);
                return true;
            } finally {
                resizing.unlock();
            }
        }

        @Override
        public long freeUnused() {
            reclamation.releaseUnread();
            return reclamation.waitingBytes();
        }

        @Override
        public void evictOverHeapLimit() {
            resizing.lock();
            try {
                // Another thread may have evicted in the meantime.
                if (budget.bytes(MemoryBudget.Part.ENTRIES) > budget.entryBytesMax()) {
                    limit(Math.min(bytesLimit, bytesThatHeapAllows(HEAP_FREE_DIVISOR_AT_ONCE)));
                }
            } finally {
                resizing.unlock();
            }
        }
    }

    /**
     * Returns the size of the tier, in bytes, at which its heap usage reaches its limit. A part of the heap limit, the
     * limit divided by {@code freeDivisor}, stays free. The calculation assumes the current ratio of heap bytes to all
     * bytes. While entries use less than half of the heap limit, the ratio is not reliable, and the method returns
     * {@link Long#MAX_VALUE}.
     */
    private long bytesThatHeapAllows(int freeDivisor) {
        long heap = heapBytes.get();
        long heapMax = budget.entryBytesMax() - (budget.bytes(MemoryBudget.Part.ENTRIES) - heap);
        if (heap <= budget.entryBytesMax() / 2) {
            return Long.MAX_VALUE;
        }
        double share = (double) Math.max(0, heapMax - budget.entryBytesMax() / freeDivisor) / heap;
        return (long) (bytes.get() * share);
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
        resizing.lock();
        try {
            budget.countIdle();
            // Unlinked entries that are still being read do not count as bytes of other parts. Otherwise each call
            // during a long read would evict more.
            long others = budget.totalBytes() - bytes.get() - reclamation.waitingBytes();
            long fits = Math.max(0, Math.min(bytesMax, budget.bytesNow() - budget.freeBytes() - Math.max(0, others)));
            fits = Math.min(fits, bytesThatHeapAllows(HEAP_FREE_DIVISOR));
            if (Math.abs(fits - bytesLimit) > budget.freeBytes() / 8 || fits == bytesMax) {
                limit(fits);
            }
        } finally {
            resizing.unlock();
        }
    }

    /** Restores the maximum limit after the tier was made smaller. */
    public void restoreLimit() {
        resizing.lock();
        try {
            limit(bytesMax);
        } finally {
            resizing.unlock();
        }
    }

    private void limit(long limit) {
        if (limit != bytesLimit) {
            bytesLimit = limit;
            policy.limit(limit);
        }
    }

    /** Counts two hits of a new entry, because its object was requested before the entry was added. */
    public void creditEarlierHits(E entry) {
        for (int i = 0; i < EARLIER_HITS; i++) {
            policy.recordRequests(entry);
        }
        entry.hits += EARLIER_HITS;
    }

    /**
     * Returns at most this many entries, in descending order of hit counts; the entries are not retained. Halves all
     * counts and rounds up, so that older hits lose weight. Scans every entry.
     */
    @SuppressWarnings("unchecked") // only entries of this kind are added
    public List<E> hottest(int max) {
        drain();
        return (List<E>) HottestEntries.take(table, max);
    }

    /**
     * Passes the keys of entries to the consumer. Visits each key that is present during the whole call, also if its
     * entry is replaced meanwhile, and possibly keys that are added or removed meanwhile. The consumer runs without a
     * lock.
     */
    public void forEachKey(Consumer<byte[]> consumer) {
        table.forEach(entry -> consumer.accept(entry.keyBytes()));
    }

    /** Removes the entry of the key; returns true if there was one. */
    public boolean remove(long hashLow, byte[] keyBytes) {
        RamEntry entry = table.findLocked(hashLow, keyBytes);
        return entry != null && unlink(entry);
    }

    /** Removes the entry; returns true if it was in the tier. */
    public boolean remove(E entry) {
        return unlink(entry);
    }

    private boolean unlink(RamEntry entry) {
        int heap = entry.unlink();
        if (heap == RamEntry.NO_CHANGE) {
            return false;
        }
        table.remove(entry);
        policy.remove(entry.slot());
        bytes.addAndGet(-((long) entry.bodyBytes() + heap));
        heapBytes.addAndGet(-heap);
        budget.release(MemoryBudget.Part.ENTRIES, heap);
        entries.decrementAndGet();
        reclamation.releaseAfterReaders(entry);
        return true;
    }

    /** Removes all entries. */
    public void clear() {
        table.forEach(this::unlink);
        policy.evict();
    }

    /**
     * Returns the current limit in bytes. It is below {@link #bytesMax} while other parts need memory, or while entries
     * reach their heap limit.
     */
    public long bytesLimit() {
        return bytesLimit;
    }

    /** Returns the bytes in use. */
    public long bytes() {
        return bytes.get();
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
