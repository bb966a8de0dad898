package io.millrace.store.memory;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
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
 * The RAM tier: objects in RAM within a byte budget.
 *
 * <pre>
 *   get ──> RamTable (resident entries) ──hits, in batches──> Caffeine (eviction policy)
 *                 ^                                                        │
 *                 └──────────── eviction removes an entry ─────────────────┘
 * </pre>
 *
 * <p>The table alone determines which objects are resident. An entry in the table holds one reference of the tier. The
 * thread that unlinks the entry, by eviction, replacement or removal, releases that reference. The buffer is freed with
 * its last reference.
 *
 * <p>Thread-safe. Lookups never block.
 *
 * @param <E> the kind of entry
 */
public final class RamTier<E extends RamEntry> {
    private static final int BATCH_SIZE_MAX = 32;
    /** Bytes of the tier per hit in a batch. In a small tier a long batch would be outdated before it is full. */
    private static final int BYTES_PER_BATCHED = 1 << 20;

    private static final int BATCHES_MAX = 128;
    /**
     * Minimum and maximum number of full batches before the policy's thread is woken. A wake-up takes CPU time from
     * request threads.
     */
    private static final int BATCHES_PER_WAKE_MIN = 8;

    private static final int BATCHES_PER_WAKE_MAX = 32;
    /**
     * Number of entries per waiting hit, between these limits. In a tier with few entries a delayed hit would come too
     * late.
     */
    private static final int ENTRIES_PER_WAITING_HIT = 128;

    /** Divisor: fraction of the heap limit that is freed when entries reach it, so that evictions for heap are rare. */
    private static final int HEAP_FREE_SHARE = 32;
    /**
     * Divisor: the same fraction if the inserting thread evicts, because housekeeping was too late. Housekeeping evicts
     * the rest.
     */
    private static final int HEAP_FREE_SHARE_AT_ONCE = 1024;

    /**
     * Divisor: allowed overshoot of the current limit, in whole units. Housekeeping evicts, not the inserting thread.
     */
    private static final int OVERDRAFT_SHARE = 1024;

    private static final long OVERDRAFT_UNIT_BYTES = 64 * 1024;

    /** Number of hits that mark an entry as requested more than once in the policy's frequency sketch. */
    private static final int WARM_HITS = 2;

    private final long bytesMax;
    private final int batchSize;
    private volatile int batchesPerWake;
    private final MemoryBudget budget;
    private final ReentrantLock resizing = new ReentrantLock();
    /** The current limit: the budget without the bytes of the other parts. Written under {@link #resizing}. */
    private volatile long bytesLimit;

    private final RamTable table;
    private final EpochReclamation sections = new EpochReclamation();
    private final Cache<RamEntry, RamEntry> policy;
    private final Executor housekeeping;
    private final AtomicLong bytes = new AtomicLong();
    /** The heap part of {@link #bytes}. */
    private final AtomicLong heapBytes = new AtomicLong();

    /** True once usage has reached half of the limit. */
    private volatile boolean halfFull;

    private final AtomicLong entries = new AtomicLong();
    private final LongAdder evictions = new LongAdder();
    private final MpmcArrayQueue<RamEntry[]> batches = new MpmcArrayQueue<>(BATCHES_MAX);
    /** Entries with more heap bytes than the policy has recorded. */
    private final Queue<RamEntry> grown = new ConcurrentLinkedQueue<>();

    private final AtomicBoolean drainQueued = new AtomicBoolean();
    private final Runnable drain = this::drain;

    private volatile HitListener<? super E> onHit = (entry, hits) -> {};
    private final FastThreadLocal<HitBatch> hits;

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
     * Creates an empty tier, which evicts when other parts need the budget.
     *
     * @param bytesMax limit of the tier; with 0 no object is kept
     * @param budget counts the entries of this tier and the other parts
     * @param housekeeping runs the tasks of the policy
     */
    public RamTier(long bytesMax, MemoryBudget budget, Executor housekeeping) {
        this(bytesMax, RamTable.BYTES_PER_CHAIN, budget, housekeeping);
    }

    /**
     * Creates an empty tier beside the first tier of this budget. It evicts when the first tier cannot release more,
     * and then stays smaller until {@link #grow}.
     *
     * @param bytesMax limit of the tier; with 0 no object is kept
     * @param entryBytes bytes of most entries
     * @param budget counts the entries of this tier and the other parts
     * @param housekeeping runs the tasks of the policy
     */
    public static <E extends RamEntry> RamTier<E> besideOthers(
            long bytesMax, int entryBytes, MemoryBudget budget, Executor housekeeping) {
        return new RamTier<>(bytesMax, entryBytes, budget, housekeeping);
    }

    private RamTier(long bytesMax, int bytesPerChain, MemoryBudget budget, Executor housekeeping) {
        this.bytesMax = bytesMax;
        this.batchSize = (int) Math.max(1, Math.min(bytesMax / BYTES_PER_BATCHED, BATCH_SIZE_MAX));
        this.hits = HitBatch.ofEachThread(batchSize);
        this.bytesLimit = bytesMax;
        this.batchesPerWake = batchesPerWake();
        this.budget = budget;
        budget.addConsumer(new EvictingConsumer());
        this.housekeeping = housekeeping;
        this.table = new RamTable(bytesMax, bytesPerChain);
        this.policy = Caffeine.newBuilder()
                .maximumWeight(bytesMax)
                .weigher((RamEntry key, RamEntry value) -> value.weight())
                .executor(housekeeping)
                .evictionListener((@Nullable RamEntry key, @Nullable RamEntry value, RemovalCause cause) -> {
                    if (key != null) {
                        evictions.increment();
                        unlink(key);
                    }
                })
                .build();
    }

    private int batchesPerWake() {
        if (batchSize < BATCH_SIZE_MAX) {
            return 1;
        }
        if (!isPolicyListening()) {
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

    /** Returns true if the tier may keep any object. */
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
     * A reader of entries without references, which therefore writes no memory that other threads read. Confined to one
     * thread.
     */
    public final class Reader implements AutoCloseable {
        private final EpochReclamation.Section section = sections.open();

        private Reader() {}

        /** Begins a read section: entries found from now on stay valid until {@link #end}. */
        public void begin() {
            section.begin();
        }

        /** Returns the entry of the key, borrowed until {@link #end}; null if it is not in RAM. */
        public @Nullable E get(long hashLow, byte[] keyBytes) {
            if (!section.isUnderWay()) {
                throw new IllegalStateException("not begun");
            }
            E entry = peek(hashLow, keyBytes);
            // An entry that is linked now is released after this section at the earliest.
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
            sections.close(section);
        }
    }

    /** Creates a reader for one thread. */
    public Reader reader() {
        return new Reader();
    }

    /** Returns the entry of the key, not retained and not counted as a hit. */
    @SuppressWarnings("unchecked") // only entries of this kind are added
    public @Nullable E peek(long hashLow, byte[] keyBytes) {
        return (E) table.find(hashLow, keyBytes);
    }

    private void noteHit(RamEntry entry) {
        HitBatch batch = hits.get();
        batch.entries[batch.size++] = entry;
        if (batch.size == batchSize) {
            batch.size = 0;
            // A batch that does not fit in the queue is discarded: samples are enough for the policy.
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
        // The flag is reset before the batches are read. So a batch that is offered later requests another run.
        drainQueued.set(false);
        weighAnew();
        HitListener<? super E> listener = onHit;
        boolean heard = isPolicyListening();
        for (RamEntry[] batch = batches.poll(); batch != null; batch = batches.poll()) {
            for (RamEntry entry : batch) {
                int hits = entry.hits + 1;
                entry.hits = hits;
                if (heard) {
                    var unused = policy.getIfPresent(entry);
                }
                listener.onHit((E) entry, hits);
            }
        }
    }

    /**
     * Returns true if the policy counts reads. Caffeine counts no reads until its cache is half full, so reporting them
     * would be wasted.
     */
    private boolean isPolicyListening() {
        if (!halfFull) {
            halfFull = bytes.get() >= bytesLimit / 2;
        }
        return halfFull;
    }

    /**
     * Adds heap bytes to an entry. The tier counts them immediately. The policy receives them with the next hits, so
     * the caller need not wait for the policy.
     */
    public void grew(E entry, int moreBytes) {
        int counted = entry.grow(moreBytes);
        if (counted > 0) {
            bytes.addAndGet(counted);
            heapBytes.addAndGet(counted);
            budget.add(MemoryBudget.Part.ENTRIES, counted);
            grown.add(entry);
        }
    }

    private void weighAnew() {
        RamEntry entry = grown.poll();
        if (entry == null) {
            return;
        }
        for (; entry != null; entry = grown.poll()) {
            // replace() instead of put(), because the entry may have been removed.
            var unused = policy.asMap().replace(entry, entry);
        }
        budget.keepEntriesWithinHeap();
    }

    /** Passes the hits of this thread and of full batches to the policy, and performs its evictions. */
    public void settle() {
        HitBatch batch = hits.get();
        if (batch.size > 0 && batches.offer(Arrays.copyOf(batch.entries, batch.size))) {
            Arrays.fill(batch.entries, 0, batch.size, null);
            batch.size = 0;
        }
        drain();
        policy.cleanUp();
    }

    /** Adds the entry, in place of the previous one of its key; borrows the caller's reference and adds its own. */
    public void put(E entry) {
        if (!isEnabled() || entry.weight() > bytesMax || !entry.tryRetain()) {
            remove(entry.hashLow(), entry.keyBytes());
            return;
        }
        int heap = entry.link();
        if (heap == RamEntry.NOT) {
            entry.releaseEntry();
            throw new IllegalStateException("an entry is put in once");
        }
        long weight = (long) entry.bodyBytes() + heap;
        bytes.addAndGet(weight);
        heapBytes.addAndGet(heap);
        budget.replaced(weight);
        budget.add(MemoryBudget.Part.ENTRIES, heap);
        entries.incrementAndGet();
        RamEntry before = table.put(entry);
        if (before != null) {
            entry.hits = before.hits;
            drop(before);
        }
        policy.put(entry, entry);
        if (entry.heapBytes() != heap) {
            // The entry may have grown before it was added to the policy.
            grown.add(entry);
        }
        if (!entry.isLinked()) {
            // Another thread has unlinked the entry between the two puts, so the policy must not count it any more.
            policy.invalidate(entry);
        }
        long limit = bytesLimit;
        if (bytes.get() > limit + limit / OVERDRAFT_SHARE / OVERDRAFT_UNIT_BYTES * OVERDRAFT_UNIT_BYTES) {
            policy.cleanUp();
        }
        budget.keepEntriesWithinHeap();
    }

    /**
     * The reaction of the tier when other parts need memory: it evicts now, and stays smaller until {@link #resize}.
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
            sections.letGo();
            return sections.waitingBytes();
        }

        @Override
        public void evictOverHeapLimit() {
            resizing.lock();
            try {
                // Another thread may have evicted in the meantime.
                if (budget.bytes(MemoryBudget.Part.ENTRIES) > budget.entryBytesMax()) {
                    limit(Math.min(bytesLimit, bytesThatHeapAllows(HEAP_FREE_SHARE_AT_ONCE)));
                }
            } finally {
                resizing.unlock();
            }
        }
    }

    /**
     * Returns the bytes of entries at which their heap reaches the limit minus a free share, assuming the current ratio
     * of heap to bytes. There is no limit while the entries use less than half of the heap limit, because few entries
     * do not predict the ratio.
     */
    private long bytesThatHeapAllows(int freeShare) {
        long heap = heapBytes.get();
        long mayHave = budget.entryBytesMax() - (budget.bytes(MemoryBudget.Part.ENTRIES) - heap);
        if (heap <= budget.entryBytesMax() / 2) {
            return Long.MAX_VALUE;
        }
        double share = (double) Math.max(0, mayHave - budget.entryBytesMax() / freeShare) / heap;
        return (long) (bytes.get() * share);
    }

    /** Sets the limit to the bytes that the other parts leave, and processes waiting hits. Called periodically. */
    public void resize() {
        sections.letGo();
        if (!isEnabled()) {
            return;
        }
        drain();
        batchesPerWake = batchesPerWake();
        resizing.lock();
        try {
            budget.countIdle();
            // Unlinked entries that are still being read need no room for others. Otherwise each call would evict more
            // during a long read.
            long others = budget.totalBytes() - bytes.get() - sections.waitingBytes();
            long fits = Math.max(0, Math.min(bytesMax, budget.bytesNow() - budget.freeBytes() - Math.max(0, others)));
            fits = Math.min(fits, bytesThatHeapAllows(HEAP_FREE_SHARE));
            if (Math.abs(fits - bytesLimit) > budget.freeBytes() / 8 || fits == bytesMax) {
                limit(fits);
            }
        } finally {
            resizing.unlock();
        }
    }

    /** Restores the maximum limit after the tier was made smaller. */
    public void grow() {
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
            policy.policy().eviction().ifPresent(eviction -> eviction.setMaximum(limit));
        }
    }

    /** Records in the policy that the entry was requested before it was added. */
    public void warm(E entry) {
        for (int i = 0; i < WARM_HITS; i++) {
            var unused = policy.getIfPresent(entry);
        }
        entry.hits += WARM_HITS;
    }

    /**
     * Returns at most this many entries, those with the most recent hits first; not retained. Halves the hit counts.
     * Scans every entry, without a lock.
     */
    @SuppressWarnings("unchecked") // only entries of this kind are added
    public List<E> hottest(int max) {
        drain();
        return (List<E>) HottestEntries.take(table, max);
    }

    /** Passes the key of every entry that is present during the whole call, and possibly other keys. Takes no lock. */
    public void forEachKey(Consumer<byte[]> consumer) {
        table.forEach(entry -> consumer.accept(entry.keyBytes()));
    }

    /** Removes the entry of the key; returns true if there was one. */
    public boolean remove(long hashLow, byte[] keyBytes) {
        RamEntry entry = table.find(hashLow, keyBytes);
        return entry != null && drop(entry);
    }

    /** Removes the entry; returns true if it was in the tier. */
    public boolean remove(E entry) {
        return drop(entry);
    }

    private boolean drop(RamEntry entry) {
        boolean mine = unlink(entry);
        policy.invalidate(entry);
        return mine;
    }

    private boolean unlink(RamEntry entry) {
        int heap = entry.unlink();
        if (heap == RamEntry.NOT) {
            return false;
        }
        table.remove(entry);
        bytes.addAndGet(-((long) entry.bodyBytes() + heap));
        heapBytes.addAndGet(-heap);
        budget.release(MemoryBudget.Part.ENTRIES, heap);
        entries.decrementAndGet();
        sections.releaseAfterReaders(entry);
        return true;
    }

    /** Removes all entries. */
    public void clear() {
        for (RamEntry entry : policy.asMap().keySet()) {
            drop(entry);
        }
        policy.cleanUp();
    }

    /**
     * Returns the current limit: below {@link #bytesMax} while other parts need memory, or while entries reach their
     * heap limit.
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

    /** Returns the number of unlinked entries that wait for their readers. */
    int unlinkedEntries() {
        return sections.waiting();
    }

    /** Returns the number of entries that the policy evicted or did not admit. */
    public long evictions() {
        return evictions.sum();
    }
}
