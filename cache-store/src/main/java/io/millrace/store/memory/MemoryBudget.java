package io.millrace.store.memory;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory budget of a store: limits and usage by {@link Part}.
 *
 * <pre>
 *   0                                                                   bytesMax
 *   ├── RESIDENT + ENTRIES ──────────────┤ kept free ├─ READING ─┼─ FILLING ─┤
 *       content of the RAM tier;             1/32      at most     at most
 *       evicted for other parts                          1/4         1/4
 * </pre>
 *
 * <p>Partly used chunks of the pool also reserve a share of the budget, at most half: see {@link IdleShare}. Every
 * buffer is counted in one part from its allocation to its release. Memory must be {@link #reserve reserved} before it
 * is used. If a reservation is refused, the body is forwarded without being stored, or the read waits. Concurrent
 * reservations never exceed the limits together.
 *
 * <p>A hit in RAM does not use the budget.
 *
 * <p>Thread-safe.
 */
public final class MemoryBudget {
    /** Minimum limit of FILLING and of READING, so that a store with a small RAM tier can still read and write. */
    private static final long PART_BYTES_MIN = 16L << 20;

    private static final int PART_SHARE = 4;
    private static final int FREE_SHARE = 32;
    private static final int RELEASE_TRIES = 4;
    /** A part is tight above this many fourths of its limit. */
    private static final int TIGHT_FOURTHS = 3;

    private final long bytesMax;
    private final long partBytesMax;
    private final long entryBytesMax;
    private final AtomicLong total = new AtomicLong();
    private final AtomicLong resident = new AtomicLong();
    private final AtomicLong entries = new AtomicLong();
    private final AtomicLong filling = new AtomicLong();
    private final AtomicLong reading = new AtomicLong();
    private final AtomicLong writing = new AtomicLong();
    private final IdleShare idleShare;
    private volatile long idle;
    private volatile LongSupplier chunkBytes = () -> 0;
    private final LongAdder refusedFills = new LongAdder();
    private final LongAdder refusedReads = new LongAdder();
    /** Set while a caller waits for a release. */
    private final AtomicBoolean shortage = new AtomicBoolean();

    /** Consumers that can release memory, in the order in which they are asked. */
    private volatile MemoryConsumer[] consumers = {};
    /** Bytes of buffers that consumers added since the last {@link #countIdle}. */
    private final LongAdder replaced = new LongAdder();

    private volatile @Nullable Runnable onRoom;

    /** The uses of memory. */
    public enum Part {
        /** Bodies in the RAM tier, with the encoded heads after them. */
        RESIDENT,
        /** Heap of the RAM tier's entries: keys, decoded heads, links. The only part on the heap. */
        ENTRIES,
        /**
         * Bodies being received or waiting for the disk; also those that left the RAM tier and are still being sent.
         */
        FILLING,
        /**
         * Bodies read from disk, until they are sent or enter the RAM tier. Also evicted bodies that are still being
         * sent.
         */
        READING,
        /** Encoded heads being written to disk: at most one per volume, so never refused. */
        WRITING
    }

    /** A consumer that can release memory when other parts need it. */
    interface MemoryConsumer {
        /** Releases about this many bytes immediately; false when no more can be released. */
        boolean releaseBytes(long bytes);

        /** Frees evicted buffers that are no longer in use, and returns the bytes of those that still are. */
        long freeUnused();

        /** Evicts its own entries until {@link Part#ENTRIES} is within its limit. */
        void evictOverHeapLimit();
    }

    /**
     * Creates an unused budget without a limit of {@link Part#ENTRIES}.
     *
     * @param ramBytes configured size of the RAM tier; if below 64 MiB, bodies in flight may use up to 32 MiB in
     *     addition
     */
    public MemoryBudget(long ramBytes) {
        this(ramBytes, Long.MAX_VALUE);
    }

    /**
     * Creates an unused budget.
     *
     * @param ramBytes as for the other constructor
     * @param entryBytesMax limit of {@link Part#ENTRIES}, because the heap has other uses
     */
    public MemoryBudget(long ramBytes, long entryBytesMax) {
        this.entryBytesMax = entryBytesMax;
        partBytesMax = Math.max(PART_BYTES_MIN, ramBytes / PART_SHARE);
        bytesMax = Math.max(ramBytes, Math.min(ramBytes + 2 * PART_BYTES_MIN, PART_SHARE * PART_BYTES_MIN));
        idleShare = new IdleShare(bytesMax);
    }

    /** Sets the supplier of the total bytes of all chunks that buffers are allocated from. */
    public void chunks(LongSupplier bytes) {
        chunkBytes = bytes;
    }

    /** Updates the idle bytes of the chunks. Called periodically by one consumer, on one thread at a time. */
    void countIdle() {
        long replacedBytes = replaced.sumThenReset();
        long chunks = chunkBytes.getAsLong();
        if (chunks > 0) {
            idle = idleShare.next(chunks + entries.get(), replacedBytes);
        }
    }

    /** Returns the current limit of all parts together: {@link #bytesMax} minus the bytes reserved for idle chunks. */
    long bytesNow() {
        return bytesMax - idle;
    }

    /** Counts bytes of buffers that a consumer added. */
    void replaced(long bytes) {
        replaced.add(bytes);
    }

    /**
     * Adds a consumer. It is asked to release memory when the consumers before it cannot release more. Call before the
     * budget is used.
     */
    void addConsumer(MemoryConsumer added) {
        MemoryConsumer[] more = Arrays.copyOf(consumers, consumers.length + 1);
        more[consumers.length] = added;
        consumers = more;
    }

    private boolean releaseBytes(long bytes) {
        for (MemoryConsumer consumer : consumers) {
            if (consumer.releaseBytes(bytes)) {
                return true;
            }
        }
        return false;
    }

    private long freeUnused() {
        long bytes = 0;
        for (MemoryConsumer consumer : consumers) {
            bytes += consumer.freeUnused();
        }
        return bytes;
    }

    /** Makes consumers evict entries while {@link Part#ENTRIES} is over its limit. */
    void keepEntriesWithinHeap() {
        for (MemoryConsumer consumer : consumers) {
            if (entries.get() <= entryBytesMax) {
                return;
            }
            consumer.evictOverHeapLimit();
        }
    }

    /** Returns the limit of {@link Part#ENTRIES}. */
    public long entryBytesMax() {
        return entryBytesMax;
    }

    /**
     * Sets the callback for released memory. It is called once after each {@link #awaitRoom}, on the releasing thread.
     * It must not block.
     */
    public void onRoom(Runnable callback) {
        onRoom = callback;
    }

    /**
     * Reserves bytes for the part until {@link #release}; false if a limit would be exceeded. Evicts from the RAM tier
     * if needed, and does not block otherwise. Does not count a refusal.
     */
    public boolean reserve(Part part, long bytes) {
        AtomicLong used = of(part);
        if (!addWithin(used, bytes, partBytesMax)) {
            // Evicted buffers may be unused but not freed yet: the call frees them.
            var unused = freeUnused();
            if (!addWithin(used, bytes, partBytesMax)) {
                return false;
            }
        }
        makeRoom(bytes);
        boolean room = addWithin(total, bytes, bytesNow());
        if (!room) {
            // No callback: no memory was released that a waiting reader could use.
            used.addAndGet(-bytes);
        }
        return room;
    }

    /**
     * Adds the bytes if the limit allows. Never exceeds the limit even briefly, because concurrent reservations would
     * be refused.
     */
    private static boolean addWithin(AtomicLong counter, long bytes, long limit) {
        long now = counter.get();
        while (now + bytes <= limit) {
            if (counter.compareAndSet(now, now + bytes)) {
                return true;
            }
            now = counter.get();
        }
        return false;
    }

    /** Evicts from the RAM tier until the bytes fit and half of the free reserve remains, if possible. */
    private void makeRoom(long bytes) {
        for (int tries = 0; tries < RELEASE_TRIES && missingBytes(bytes) > 0; tries++) {
            // Do not evict again for bytes that were already evicted but cannot be freed yet.
            long leaving = freeUnused();
            long missing = missingBytes(bytes) - leaving;
            if (missing <= 0 || !releaseBytes(missing + freeBytes() / 2)) {
                return;
            }
        }
    }

    private long missingBytes(long wanted) {
        return total.get() + wanted - bytesNow() + freeBytes() / 2;
    }

    /** Counts a refused reservation. */
    public void refused(Part part) {
        (part == Part.FILLING ? refusedFills : refusedReads).increment();
    }

    /** Adds bytes without checking a limit. */
    public void add(Part part, long bytes) {
        of(part).addAndGet(bytes);
        total.addAndGet(bytes);
    }

    /** Subtracts bytes that {@link #add} or {@link #reserve} added. */
    public void release(Part part, long bytes) {
        of(part).addAndGet(-bytes);
        total.addAndGet(-bytes);
        Runnable callback = onRoom;
        if (callback != null && shortage.get() && shortage.compareAndSet(true, false)) {
            callback.run();
        }
    }

    /**
     * Requests a callback at the next release. Try again after this call, because a release may have happened just
     * before it.
     */
    public void awaitRoom() {
        shortage.set(true);
    }

    /** Moves bytes from one part to another. */
    void move(Part from, Part to, long bytes) {
        of(from).addAndGet(-bytes);
        of(to).addAndGet(bytes);
    }

    private AtomicLong of(Part part) {
        return switch (part) {
            case RESIDENT -> resident;
            case ENTRIES -> entries;
            case FILLING -> filling;
            case READING -> reading;
            case WRITING -> writing;
        };
    }

    /** Returns the current bytes of a part. */
    public long bytes(Part part) {
        return of(part).get();
    }

    /** Returns the current bytes of all parts. */
    public long totalBytes() {
        return total.get();
    }

    /** Returns the limit of all parts together. */
    public long bytesMax() {
        return bytesMax;
    }

    /** Returns the limit of {@link Part#FILLING}, and of {@link Part#READING}. */
    public long partBytesMax() {
        return partBytesMax;
    }

    /** Returns the reserve that the RAM tier leaves free for new bodies. */
    long freeBytes() {
        return bytesMax / FREE_SHARE;
    }

    /** Returns true if the part is close to its limit, so that callers should slow down. */
    public boolean isTight(Part part) {
        return bytes(part) > partBytesMax / 4 * TIGHT_FOURTHS;
    }

    /** Returns the number of refused reservations for fills. */
    public long refusedFills() {
        return refusedFills.sum();
    }

    /** Returns the number of refused reservations for reads and opens, including reads that later succeeded. */
    public long refusedReads() {
        return refusedReads.sum();
    }
}
