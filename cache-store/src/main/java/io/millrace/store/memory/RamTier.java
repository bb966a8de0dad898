package io.millrace.store.memory;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import io.netty.util.concurrent.FastThreadLocal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jctools.queues.MpmcArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Objects in RAM under a byte budget.
 *
 * <pre>
 *   get ──> RamTable (what is here) ──hits, some at a time─> Caffeine (what is worth keeping)
 *                 ^                                                        │
 *                 └────────────── eviction takes it out ───────────────────┘
 * </pre>
 *
 * The table alone says what is resident. An entry in it holds one reference of the tier's; the thread that unlinks it,
 * be it by eviction, replacement or removal, gives that up, and the buffer goes when the last reader does.
 *
 * <p>Thread-safe. Lookups never block.
 *
 * @param <E> the kind of entry
 */
public final class RamTier<E extends RamEntry> {
    private static final int BATCH_SIZE_MAX = 32;
    /** One hit of a batch for this many bytes: a small tier would not be what it was when a long batch is full. */
    private static final int BYTES_PER_BATCHED = 1 << 20;

    private static final int BATCHES_MAX = 128;
    /** Full batches that make the policy's thread get up, from and to: waking it takes the core from those who serve. */
    private static final int BATCHES_PER_WAKE_MIN = 8;

    private static final int BATCHES_PER_WAKE_MAX = 32;
    /** Between them, one hit of these for this many entries: where there are few, others would have gone before the policy hears. */
    private static final int ENTRIES_PER_WAITING_HIT = 128;

    /** Of the heap that entries may have, what is kept free when they have all of it: so that few of them have to go often. */
    private static final int HEAP_FREE_SHARE = 32;
    /** The same where who puts in evicts, since housekeeping has not come in time: the rest is left to that. */
    private static final int HEAP_FREE_SHARE_AT_ONCE = 1024;

    /** A tier may be over its limit of now by this part of it, in whole units, until housekeeping comes: evicting is not for who puts in. */
    private static final int OVERDRAFT_SHARE = 1024;

    private static final long OVERDRAFT_UNIT_BYTES = 64 * 1024;

    /** Makes an entry one that was asked for more than once, for the policy's frequency sketch. */
    private static final int WARM_HITS = 2;

    private final long bytesMax;
    private final int batchSize;
    private volatile int batchesPerWake;
    private final MemoryBudget budget;
    private final ReentrantLock resizing = new ReentrantLock();
    /** What it may have now: the budget less what others have. Written under {@link #resizing}. */
    private volatile long bytesLimit;

    private final RamTable table;
    private final EpochReclamation sections = new EpochReclamation();
    private final Cache<RamEntry, RamEntry> policy;
    private final Executor housekeeping;
    private final AtomicLong bytes = new AtomicLong();
    /** Of {@link #bytes}, what is heap. */
    private final AtomicLong heapBytes = new AtomicLong();

    /** Whether the tier ever was. */
    private volatile boolean halfFull;

    private final AtomicLong entries = new AtomicLong();
    private final LongAdder evictions = new LongAdder();
    private final MpmcArrayQueue<RamEntry[]> batches = new MpmcArrayQueue<>(BATCHES_MAX);
    /** Entries that have more of the heap than the policy knows. */
    private final Queue<RamEntry> grown = new ConcurrentLinkedQueue<>();

    private final AtomicBoolean drainQueued = new AtomicBoolean();
    private final Runnable drain = this::drain;

    private volatile HitListener<? super E> onHit = (entry, hits) -> {};
    private final FastThreadLocal<Batch> hits;

    /** Who hears of hits. */
    @FunctionalInterface
    public interface HitListener<E> {
        /**
         * A hit.
         *
         * @param entry borrowed, and perhaps released already
         * @param hits of the entry lately, this one included; a rough figure
         */
        void onHit(E entry, int hits);
    }

    /** A thread keeps this for good, so it leads to nothing: a tier that nobody else has can go, and what its policy runs on with it. */
    private static final class Batches extends FastThreadLocal<Batch> {
        private final int capacity;

        Batches(int capacity) {
            this.capacity = capacity;
        }

        @Override
        protected Batch initialValue() {
            return new Batch(capacity);
        }
    }

    /** Hits of one thread that the policy has not heard of. */
    private static final class Batch {
        private RamEntry[] entries;
        private int size;

        Batch(int capacity) {
            entries = new RamEntry[capacity];
        }
    }

    /**
     * An empty tier with a budget of its own.
     *
     * @param bytesMax the budget; with 0 nothing is kept
     * @param housekeeping runs what the policy has to do
     */
    public RamTier(long bytesMax, Executor housekeeping) {
        this(bytesMax, new MemoryBudget(bytesMax), housekeeping);
    }

    /**
     * An empty tier, which evicts when other parts need the budget.
     *
     * @param bytesMax the most that it has; with 0 nothing is kept
     * @param budget counts its entries, and the others
     * @param housekeeping runs what the policy has to do
     */
    public RamTier(long bytesMax, MemoryBudget budget, Executor housekeeping) {
        this(bytesMax, RamTable.BYTES_PER_CHAIN, budget, housekeeping);
    }

    /**
     * An empty tier beside the one that was made first with this budget: it gives way when that one has nothing left to
     * give, until {@link #grow}.
     *
     * @param bytesMax the most that it has; with 0 nothing is kept
     * @param entryBytes what most entries take
     * @param budget counts its entries, and the others
     * @param housekeeping runs what the policy has to do
     */
    public static <E extends RamEntry> RamTier<E> besideOthers(
            long bytesMax, int entryBytes, MemoryBudget budget, Executor housekeeping) {
        return new RamTier<>(bytesMax, entryBytes, budget, housekeeping);
    }

    private RamTier(long bytesMax, int bytesPerChain, MemoryBudget budget, Executor housekeeping) {
        this.bytesMax = bytesMax;
        this.batchSize = (int) Math.max(1, Math.min(bytesMax / BYTES_PER_BATCHED, BATCH_SIZE_MAX));
        this.hits = new Batches(batchSize);
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

    /** Sets who hears of hits, on the housekeeping's thread or one that reads disks; entries are borrowed and may be released already. */
    public void onHit(HitListener<? super E> listener) {
        onHit = listener;
    }

    /** Whether a body of this many bytes may be kept at all. */
    public boolean isEnabled() {
        return bytesMax > 0;
    }

    /** The entry of the key, retained for the caller; null when it is not here. */
    public @Nullable E get(long hashLow, byte[] keyBytes) {
        E entry = peek(hashLow, keyBytes);
        if (entry == null || !entry.tryRetain()) {
            return null;
        }
        noteHit(entry);
        return entry;
    }

    /**
     * One thread's way of reading entries without holding them, and so without writing to what other threads read. Confined to its
     * thread.
     */
    public final class Reader implements AutoCloseable {
        private final EpochReclamation.Section section = sections.open();

        private Reader() {}

        /** What is found from now on stays until {@link #end}. */
        public void begin() {
            section.begin();
        }

        /** The entry of the key, borrowed until {@link #end}; null when it is not here. */
        public @Nullable E get(long hashLow, byte[] keyBytes) {
            if (!section.isUnderWay()) {
                throw new IllegalStateException("not begun");
            }
            E entry = peek(hashLow, keyBytes);
            // What is linked now is let go after this section at the earliest.
            if (entry == null || !entry.isLinked()) {
                return null;
            }
            noteHit(entry);
            return entry;
        }

        /** What was found and not retained may go. */
        public void end() {
            section.end();
        }

        @Override
        public void close() {
            sections.close(section);
        }
    }

    /** A reader for one thread. */
    public Reader reader() {
        return new Reader();
    }

    /** The entry of the key, not retained and not counted as a hit. */
    @SuppressWarnings("unchecked") // only entries of this kind are put in
    public @Nullable E peek(long hashLow, byte[] keyBytes) {
        return (E) table.find(hashLow, keyBytes);
    }

    private void noteHit(RamEntry entry) {
        Batch batch = hits.get();
        batch.entries[batch.size++] = entry;
        if (batch.size == batchSize) {
            batch.size = 0;
            // A batch that finds no room is forgotten: the policy works on samples.
            if (batches.offer(batch.entries)) {
                batch.entries = new RamEntry[batchSize];
            }
            if (batches.size() >= batchesPerWake && !drainQueued.get() && drainQueued.compareAndSet(false, true)) {
                housekeeping.execute(drain);
            }
        }
    }

    @SuppressWarnings("unchecked") // only entries of this kind are put in
    private void drain() {
        // First of all: a batch offered from here on asks for another run.
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

    /** Caffeine counts no reads before its cache is half full; until then each would only be looked for in its table. */
    private boolean isPolicyListening() {
        if (!halfFull) {
            halfFull = bytes.get() >= bytesLimit / 2;
        }
        return halfFull;
    }

    /**
     * The entry keeps so much more of the heap from now on. Counted at once; the policy hears of it with the hits, so that nobody
     * waits for it.
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
            // Not put: it may have left.
            var unused = policy.asMap().replace(entry, entry);
        }
        budget.keepEntriesWithinHeap();
    }

    /** Lets the policy hear now of this thread's hits and of those that wait, and evict what it has to. */
    public void settle() {
        Batch batch = hits.get();
        if (batch.size > 0 && batches.offer(Arrays.copyOf(batch.entries, batch.size))) {
            Arrays.fill(batch.entries, 0, batch.size, null);
            batch.size = 0;
        }
        drain();
        policy.cleanUp();
    }

    /** Keeps the entry, in place of the one of the same key; borrows the caller's reference and takes its own. */
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
            // It may have grown before the policy had it.
            grown.add(entry);
        }
        if (!entry.isLinked()) {
            // Taken out between the two puts: the policy must not go on counting it.
            policy.invalidate(entry);
        }
        long limit = bytesLimit;
        if (bytes.get() > limit + limit / OVERDRAFT_SHARE / OVERDRAFT_UNIT_BYTES * OVERDRAFT_UNIT_BYTES) {
            policy.cleanUp();
        }
        budget.keepEntriesWithinHeap();
    }

    /** Evicts when other parts need memory; the tier stays that much smaller until {@link #resize}. */
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
                // Another thread may have done it meanwhile.
                if (budget.bytes(MemoryBudget.Part.ENTRIES) > budget.entryBytesMax()) {
                    limit(Math.min(bytesLimit, bytesThatHeapAllows(HEAP_FREE_SHARE_AT_ONCE)));
                }
            } finally {
                resizing.unlock();
            }
        }
    }

    /**
     * Bytes of entries, if others are like those that are here, whose heap is what the budget allows less what is kept free. Any
     * number while they have less than half of it: few entries tell nothing of those to come.
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

    /** Takes what the budget has left, or gives up what others have taken, and hears of the hits that wait; to be called now and then. */
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
            // What leaves needs no room of what stays: else each look would have more of that leave, for as long as
            // somebody reads.
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

    /** May have all it may have at most again, after it gave way. */
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

    /** Tells the policy that the entry was in demand before it came. */
    public void warm(E entry) {
        for (int i = 0; i < WARM_HITS; i++) {
            var unused = policy.getIfPresent(entry);
        }
        entry.hits += WARM_HITS;
    }

    /**
     * At most this many entries, those with the most hits lately first; not retained. Counts hits half from then on. Looks
     * at every entry, without a lock.
     */
    @SuppressWarnings("unchecked") // only entries of this kind are put in
    public List<E> hottest(int max) {
        drain();
        // By powers of two first, so that what is collected is bounded.
        long[] sizes = new long[Integer.SIZE + 1];
        table.forEach(entry -> sizes[magnitude(entry)]++);
        int least = Integer.SIZE;
        long above = sizes[least];
        while (least > 0 && above + sizes[least - 1] <= max) {
            least--;
            above += sizes[least];
        }
        int surely = least;
        List<RamEntry> found = new ArrayList<>();
        List<RamEntry> others = new ArrayList<>();
        table.forEach(entry -> {
            if (magnitude(entry) >= surely) {
                found.add(entry);
            } else if (magnitude(entry) == surely - 1 && others.size() < max) {
                others.add(entry);
            } else {
                entry.hits >>>= 1;
            }
        });
        found.addAll(others);
        long[] order = new long[found.size()];
        for (int i = 0; i < order.length; i++) {
            order[i] = (long) -found.get(i).hits << Integer.SIZE | i;
        }
        Arrays.sort(order);
        List<E> hottest = new ArrayList<>();
        for (int i = 0; i < order.length && i < max; i++) {
            hottest.add((E) found.get((int) order[i]));
        }
        found.forEach(entry -> entry.hits >>>= 1);
        return hottest;
    }

    private static int magnitude(RamEntry entry) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(entry.hits);
    }

    /** Removes what is here under the key; true when there was something. */
    public boolean remove(long hashLow, byte[] keyBytes) {
        RamEntry entry = table.find(hashLow, keyBytes);
        return entry != null && drop(entry);
    }

    /** Removes the entry if it is here; true when it was. */
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

    /** Removes everything. */
    public void clear() {
        for (RamEntry entry : policy.asMap().keySet()) {
            drop(entry);
        }
        policy.cleanUp();
    }

    /** The most that it has now: less than {@link #bytesMax} while others need memory, or its entries have all the heap they may. */
    public long bytesLimit() {
        return bytesLimit;
    }

    /** Bytes in use. */
    public long bytes() {
        return bytes.get();
    }

    /** The budget. */
    public long bytesMax() {
        return bytesMax;
    }

    /** Number of entries. */
    public long entries() {
        return entries.get();
    }

    /** Entries taken out that wait for those who read them. */
    int unlinkedEntries() {
        return sections.waiting();
    }

    /** Entries that the policy put out or did not admit. */
    public long evictions() {
        return evictions.sum();
    }
}
