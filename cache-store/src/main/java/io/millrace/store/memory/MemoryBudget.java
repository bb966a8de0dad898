package io.millrace.store.memory;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory budget of a store: usage and limits for each {@link Part}.
 *
 * <pre>
 *   0                                                                   bytesMax
 *   ├── RESIDENT + ENTRIES ──────────────┤ kept free ├─ READING ─┼─ FILLING ─┤
 *       content of the RAM tier;             1/32      at most     at most
 *       evicted for other parts                          1/4         1/4
 * </pre>
 *
 * <p>Unused space in the chunks of the pool also takes a share of the budget, at most half (see {@link IdleShare}).
 * Every buffer is counted in one part from its allocation to its release. Callers {@link #reserve} memory before they
 * use it. If a reservation is refused, the caller forwards the body without storing it, or the read waits. Concurrent
 * reservations together never exceed the limits. {@link #add} counts memory without a limit.
 *
 * <p>A hit in RAM does not use the budget.
 *
 * <p>Thread-safe.
 */
public final class MemoryBudget {
    /** Minimum limit of FILLING and of READING. It lets a store with a small RAM tier read and write. */
    private static final long PART_BYTES_MIN = 16L << 20;

    /** Divisor of the RAM budget: the result is the limit of FILLING, and of READING, unless the minimum applies. */
    private static final int PART_DIVISOR = 4;
    /** Divisor of the limit of all parts: the RAM tier keeps the result free for new bodies. */
    private static final int FREE_DIVISOR = 32;

    private static final int RELEASE_TRIES = 4;
    /** A part is tight if its usage exceeds this many fourths of its limit. */
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
    /** Share of the budget for unused space in chunks, in bytes. */
    private volatile long idle;

    private volatile LongSupplier chunkBytes = () -> 0;
    private final LongAdder refusedFills = new LongAdder();
    private final LongAdder refusedReads = new LongAdder();
    /** True while a caller waits for released memory. */
    private final AtomicBoolean shortage = new AtomicBoolean();

    /** The consumers that can release memory, in the order in which {@link #reserve} asks them. */
    private volatile MemoryConsumer[] consumers = {};
    /** Bytes of buffers that consumers added since the last {@link #countIdle}. */
    private final LongAdder addedBytes = new LongAdder();

    private volatile @Nullable Runnable onRoom;

    /** The uses of memory that the budget counts separately. */
    public enum Part {
        /** Bodies in the RAM tier, with the encoded heads after them. */
        RESIDENT,
        /** Heap of the RAM tier's entries: keys, decoded heads, links. The only part on the heap. */
        ENTRIES,
        /**
         * Bodies being received or waiting for the disk. Also received bodies that have left the RAM tier and are still
         * being sent.
         */
        FILLING,
        /**
         * Bodies read from disk, until they are sent or enter the RAM tier. Also bodies read from disk that were
         * evicted from the RAM tier and are still being sent.
         */
        READING,
        /** Encoded heads being written to disk. Never refused, because each volume has at most one at a time. */
        WRITING
    }

    /** A consumer that can release memory when other parts need it. */
    interface MemoryConsumer {
        /** Releases about this many bytes immediately. Returns false if the consumer has nothing more to release. */
        boolean releaseBytes(long bytes);

        /**
         * Frees evicted buffers that nobody reads any more. Returns the bytes of evicted buffers that are still being
         * read.
         */
        long freeUnused();

        /** Evicts entries of the consumer until {@link Part#ENTRIES} is within its limit. */
        void evictOverHeapLimit();
    }

    /**
     * Creates an unused budget without a limit of {@link Part#ENTRIES}.
     *
     * @param ramBytes configured size of the RAM tier in bytes; if below 64 MiB, bodies in flight may use up to 32 MiB
     *     in addition
     */
    public MemoryBudget(long ramBytes) {
        this(ramBytes, Long.MAX_VALUE);
    }

    /**
     * Creates an unused budget.
     *
     * @param ramBytes configured size of the RAM tier in bytes; if below 64 MiB, bodies in flight may use up to 32 MiB
     *     in addition
     * @param entryBytesMax limit of {@link Part#ENTRIES} in bytes, which leaves heap for other uses
     */
    public MemoryBudget(long ramBytes, long entryBytesMax) {
        this.entryBytesMax = entryBytesMax;
        partBytesMax = Math.max(PART_BYTES_MIN, ramBytes / PART_DIVISOR);
        bytesMax = Math.max(ramBytes, Math.min(ramBytes + 2 * PART_BYTES_MIN, PART_DIVISOR * PART_BYTES_MIN));
        idleShare = new IdleShare(bytesMax);
    }

    /**
     * Sets the supplier of the total bytes of all chunks. A chunk is a large block of memory from which the pool takes
     * buffers.
     */
    public void chunks(LongSupplier bytes) {
        chunkBytes = bytes;
    }

    /**
     * Updates the share of the budget for unused space in chunks. Called periodically by one consumer, on one thread at
     * a time.
     */
    void countIdle() {
        long added = addedBytes.sumThenReset();
        long chunks = chunkBytes.getAsLong();
        if (chunks > 0) {
            idle = idleShare.update(chunks + entries.get(), added);
        }
    }

    /**
     * Returns the current limit of all parts together: {@link #bytesMax} minus the share for unused space in chunks.
     */
    long bytesMaxNow() {
        return bytesMax - idle;
    }

    /**
     * Counts bytes of entries that a consumer added. This count limits how fast the share for unused space in chunks
     * changes.
     */
    void countAdded(long bytes) {
        addedBytes.add(bytes);
    }

    /**
     * Adds a consumer that can release memory. The budget asks it when the consumers added before cannot release more.
     * Call before the budget is used.
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
     * Sets the callback for released memory. After {@link #awaitRoom}, the next {@link #release} calls it once, on the
     * releasing thread. The callback must not block.
     */
    public void onRoom(Runnable callback) {
        onRoom = callback;
    }

    /**
     * Reserves bytes for the part until {@link #release}. Returns false if a limit would be exceeded. Evicts from the
     * RAM tier on the calling thread if needed. Does not count a refusal.
     */
    public boolean reserve(Part part, long bytes) {
        AtomicLong used = counterOf(part);
        if (!addWithin(used, bytes, partBytesMax)) {
            // Some evicted buffers may be unused but not freed yet; this call frees them.
            var unused = freeUnused();
            if (!addWithin(used, bytes, partBytesMax)) {
                return false;
            }
        }
        makeRoom(bytes);
        boolean room = addWithin(total, bytes, bytesMaxNow());
        if (!room) {
            // The callback for released memory is not called, because the bytes were never available to a waiting
            // reader.
            used.addAndGet(-bytes);
        }
        return room;
    }

    /**
     * Adds the bytes if the sum stays within the limit. The counter never exceeds the limit, even briefly, because that
     * would refuse concurrent reservations.
     */
    private static boolean addWithin(AtomicLong counter, long bytes, long limit) {
        long current = counter.get();
        while (current + bytes <= limit) {
            if (counter.compareAndSet(current, current + bytes)) {
                return true;
            }
            current = counter.get();
        }
        return false;
    }

    /** Evicts from the RAM tier, if possible, until the bytes fit and half of {@link #freeBytes} remains free. */
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

    private long missingBytes(long needed) {
        return total.get() + needed - bytesMaxNow() + freeBytes() / 2;
    }

    /** Counts a refused reservation of the part. */
    public void countRefusal(Part part) {
        (part == Part.FILLING ? refusedFills : refusedReads).increment();
    }

    /** Adds bytes without checking a limit. */
    public void add(Part part, long bytes) {
        counterOf(part).addAndGet(bytes);
        total.addAndGet(bytes);
    }

    /**
     * Subtracts bytes that {@link #add} or {@link #reserve} added. Runs the callback of {@link #onRoom} if a caller
     * waits.
     */
    public void release(Part part, long bytes) {
        counterOf(part).addAndGet(-bytes);
        total.addAndGet(-bytes);
        Runnable callback = onRoom;
        if (callback != null && shortage.get() && shortage.compareAndSet(true, false)) {
            callback.run();
        }
    }

    /**
     * Requests a call of the {@link #onRoom} callback at the next release. After this method, try the reservation
     * again, because memory may have been released just before.
     */
    public void awaitRoom() {
        shortage.set(true);
    }

    /** Moves bytes from one part to another. */
    void move(Part from, Part to, long bytes) {
        counterOf(from).addAndGet(-bytes);
        counterOf(to).addAndGet(bytes);
    }

    private AtomicLong counterOf(Part part) {
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
        return counterOf(part).get();
    }

    /** Returns the current bytes of all parts together. */
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

    /** Returns the bytes that the RAM tier leaves free for new bodies. */
    long freeBytes() {
        return bytesMax / FREE_DIVISOR;
    }

    /** Returns true if the part is close to its limit, so that callers should slow down. */
    public boolean isTight(Part part) {
        return bytes(part) > partBytesMax / 4 * TIGHT_FOURTHS;
    }

    /** Returns the number of refused reservations of {@link Part#FILLING}. */
    public long refusedFills() {
        return refusedFills.sum();
    }

    /**
     * Returns the number of refused reservations of other parts, including reservations for reads that later succeeded.
     */
    public long refusedReads() {
        return refusedReads.sum();
    }
}
