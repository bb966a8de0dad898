package io.millrace.store.memory;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How much memory the store has, and who has it.
 *
 * <pre>
 *   0                                                                   bytesMax
 *   ├── RESIDENT + ENTRIES ──────────────┤ kept free ├─ READING ─┼─ FILLING ─┤
 *       what the RAM tier holds;             1/32      at most     at most
 *       gives way to the others                          1/4         1/4
 * </pre>
 *
 * Chunks of the pool that are not full take a share of it too, at most half: see {@link IdleShare}.
 *
 *
 * Every buffer is counted from its allocation to its release, whoever holds it, by the part that it is of. Who wants
 * memory has it {@link #reserve set aside} first; a no means that the body is passed on without being stored, or that a
 * read waits. However many ask at the same time, those who are told yes stay within the limits together.
 *
 * <p>A hit in RAM touches none of this.
 *
 * <p>Thread-safe.
 */
public final class MemoryBudget {
    /** Less than this would leave nothing to fill and read with, however small the RAM tier is. */
    private static final long PART_BYTES_MIN = 16L << 20;

    private static final int PART_SHARE = 4;
    private static final int FREE_SHARE = 32;
    private static final int GIVE_WAY_TRIES = 4;
    /** Of a part's limit, that many fourths make it tight. */
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
    /** Set while somebody waits for a release. */
    private final AtomicBoolean shortage = new AtomicBoolean();

    /** In the order in which they give way. */
    private volatile Tenant[] tenants = {};
    /** Bytes of what tenants took in since {@link #countIdle} last looked. */
    private final LongAdder replaced = new LongAdder();

    private volatile @Nullable Runnable onRoom;

    /** What memory is used for. */
    public enum Part {
        /** Bodies in the RAM tier, with the encoded heads behind them. */
        RESIDENT,
        /** Heap of the RAM tier's entries: keys, heads that are decoded, links. The only part that is not off the heap. */
        ENTRIES,
        /** Bodies being received or waiting for the disk; also those that left the RAM tier and are still being sent. */
        FILLING,
        /** What was read from disk, the same way. */
        READING,
        /** Heads on their way to the disk: one for each volume's thread, so never refused. */
        WRITING
    }

    /** Who gives memory back when others need it. */
    interface Tenant {
        /** Frees about this many bytes at once; false when there is nothing left to give. */
        boolean giveWay(long bytes);

        /** Bytes that it gave up and that still are in use, once those that are not have been freed. */
        long leavingBytes();

        /** Evicts entries until {@link Part#ENTRIES} keeps within its limit, as far as they are this one's. */
        void giveWayOnHeap();
    }

    /**
     * Everything is free.
     *
     * @param ramBytes what is configured for the RAM tier; where that is below 64 MiB, bodies in flight have up to 32 MiB
     *     beside it
     */
    public MemoryBudget(long ramBytes) {
        this(ramBytes, Long.MAX_VALUE);
    }

    /**
     * Everything is free.
     *
     * @param ramBytes as above
     * @param entryBytesMax the most that {@link Part#ENTRIES} may have of it: the heap has other uses
     */
    public MemoryBudget(long ramBytes, long entryBytesMax) {
        this.entryBytesMax = entryBytesMax;
        partBytesMax = Math.max(PART_BYTES_MIN, ramBytes / PART_SHARE);
        bytesMax = Math.max(ramBytes, Math.min(ramBytes + 2 * PART_BYTES_MIN, PART_SHARE * PART_BYTES_MIN));
        idleShare = new IdleShare(bytesMax);
    }

    /** Says what tells the bytes of all chunks that buffers are cut from. */
    public void chunks(LongSupplier bytes) {
        chunkBytes = bytes;
    }

    /** Looks how much of the chunks is idle; to be called now and then by one tenant, on one thread at a time. */
    void countIdle() {
        long replacedBytes = replaced.sumThenReset();
        long chunks = chunkBytes.getAsLong();
        if (chunks > 0) {
            idle = idleShare.next(chunks + entries.get(), replacedBytes);
        }
    }

    /** The most that all parts may have, less what is kept for idle chunks. */
    long bytesNow() {
        return bytesMax - idle;
    }

    /** A tenant took in buffers of this many bytes. */
    void replaced(long bytes) {
        replaced.add(bytes);
    }

    /** Adds one that gives way when those before it have nothing left to give. Before the budget is used. */
    void tenant(Tenant newTenant) {
        Tenant[] more = Arrays.copyOf(tenants, tenants.length + 1);
        more[tenants.length] = newTenant;
        tenants = more;
    }

    private boolean giveWay(long bytes) {
        for (Tenant giving : tenants) {
            if (giving.giveWay(bytes)) {
                return true;
            }
        }
        return false;
    }

    private long leavingBytes() {
        long bytes = 0;
        for (Tenant giving : tenants) {
            bytes += giving.leavingBytes();
        }
        return bytes;
    }

    /** Has tenants evict entries where these have more of the heap than they may. */
    void keepEntriesWithinHeap() {
        for (Tenant giving : tenants) {
            if (entries.get() <= entryBytesMax) {
                return;
            }
            giving.giveWayOnHeap();
        }
    }

    /** The most heap that {@link Part#ENTRIES} may have. */
    public long entryBytesMax() {
        return entryBytesMax;
    }

    /** Calls back once after each {@link #awaitRoom}, when memory was released; on the thread that did. Never blocks. */
    public void onRoom(Runnable callback) {
        onRoom = callback;
    }

    /**
     * Sets this many bytes more aside for the part, to be given back by {@link #release}; false when there are none. Makes
     * the RAM tier give way when that is needed; does not block beyond that. A no is not counted.
     */
    public boolean reserve(Part part, long bytes) {
        AtomicLong used = of(part);
        if (!addWithin(used, bytes, partBytesMax)) {
            // What nobody uses any more may count for it only because nobody has looked.
            var unused = leavingBytes();
            if (!addWithin(used, bytes, partBytesMax)) {
                return false;
            }
        }
        makeRoom(bytes);
        boolean room = addWithin(total, bytes, bytesNow());
        if (!room) {
            // Nobody is called back: nothing was there that another could have.
            used.addAndGet(-bytes);
        }
        return room;
    }

    /** Adds the bytes if that keeps within the limit. Never exceeds it for a moment: others would be refused for it. */
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

    /** Has the RAM tier give way until the bytes fit and half of what is kept free stays so, as far as it can. */
    private void makeRoom(long bytes) {
        for (int tries = 0; tries < GIVE_WAY_TRIES && missingBytes(bytes) > 0; tries++) {
            // Not once more what others before have made leave, and what cannot be freed yet.
            long leaving = leavingBytes();
            long missing = missingBytes(bytes) - leaving;
            if (missing <= 0 || !giveWay(missing + freeBytes() / 2)) {
                return;
            }
        }
    }

    private long missingBytes(long wanted) {
        return total.get() + wanted - bytesNow() + freeBytes() / 2;
    }

    /** Counts a no. */
    public void refused(Part part) {
        (part == Part.FILLING ? refusedFills : refusedReads).increment();
    }

    /** Counts bytes that are used from now on; without asking. */
    public void add(Part part, long bytes) {
        of(part).addAndGet(bytes);
        total.addAndGet(bytes);
    }

    /** Ends what {@link #add} or {@link #reserve} began. */
    public void release(Part part, long bytes) {
        of(part).addAndGet(-bytes);
        total.addAndGet(-bytes);
        Runnable callback = onRoom;
        if (callback != null && shortage.get() && shortage.compareAndSet(true, false)) {
            callback.run();
        }
    }

    /** Makes the next release call back; to be followed by another try, since one may just have passed. */
    public void awaitRoom() {
        shortage.set(true);
    }

    /** Bytes become another part's. */
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

    /** Bytes that a part has now. */
    public long bytes(Part part) {
        return of(part).get();
    }

    /** Bytes of all parts. */
    public long totalBytes() {
        return total.get();
    }

    /** The most that all parts together may have. */
    public long bytesMax() {
        return bytesMax;
    }

    /** The most that {@link Part#FILLING} may have, and {@link Part#READING}. */
    public long partBytesMax() {
        return partBytesMax;
    }

    /** Bytes that the RAM tier leaves free for what comes next. */
    long freeBytes() {
        return bytesMax / FREE_SHARE;
    }

    /** Whether the part has most of what it may have: time to slow down. */
    public boolean isTight(Part part) {
        return bytes(part) > partBytesMax / 4 * TIGHT_FOURTHS;
    }

    /** Fills that were told no. */
    public long refusedFills() {
        return refusedFills.sum();
    }

    /** Reads and opens that were told no; a read that waited and went on counts too. */
    public long refusedReads() {
        return refusedReads.sum();
    }
}
