package io.millrace.store.engine.listing;

import io.millrace.store.HeadCodec;
import io.millrace.store.HeadSummary;
import io.millrace.store.InventoryStatistics;
import io.millrace.store.ListCallback;
import io.millrace.store.ListResult;
import io.millrace.store.ListVisitor;
import io.millrace.store.StoreKey;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.ThreadTimes;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The inventories of a store's volumes, and the one thread that reads and writes them. An inventory has an entry for
 * each stored object of a volume, used for listings. The thread begins its work some time after the store opens, and has
 * the lowest priority.
 *
 * <p>Thread-safe.
 */
public final class Inventories<H> {
    private static final Logger LOG = LoggerFactory.getLogger(Inventories.class);
    private static final int LISTINGS_MAX = 8;
    /** Interval in which new entries are written to the lists. */
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Interval of work on incomplete inventories: at most 50 records per 10 ms, or 5000 per second. */
    private static final long WORK_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** Interval in which new entries are written during a listing or a fill. */
    private static final long DRAIN_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int RECORDS_PER_INTERVAL = 50;
    /** Number of new entries since the last work at which the store counts as busy: 2000 per second. */
    private static final int ENTRIES_PER_INTERVAL_BUSY = 20;
    /**
     * Records per interval while the store is busy. Completing an inventory then takes little CPU time from requests.
     */
    private static final int RECORDS_PER_INTERVAL_BUSY = 10;
    /**
     * Ratio of a pause to the processor time of the work before it, so that work on incomplete inventories uses at most
     * a quarter of a processor.
     */
    private static final long PAUSE_FACTOR = 3;
    /**
     * Weight of the time for which the thread waited for a processor, relative to its processor time. On a busy machine
     * the thread waits about three times as long as it runs. The pause is then so long that the thread uses about 3 %
     * of a processor.
     */
    private static final int WAIT_FACTOR = 3;

    private static final long PAUSE_NANOS_MAX = TimeUnit.SECONDS.toNanos(2);

    private final FileIo io;
    private final HeadCodec<H> codec;
    /** Reason why the store has no inventory; null if the inventory exists. */
    private final @Nullable String offReason;

    /** Time at which the inventories open, on the scale of {@link System#nanoTime}. */
    private final long opensAtNanos;

    private final long retryNanos;
    /** Tasks of the thread, which run before other work. */
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

    private final CopyOnWriteArrayList<VolumeInventory<H>> volumes = new CopyOnWriteArrayList<>();
    /** Number of listings that have not ended. */
    private final AtomicInteger listings = new AtomicInteger();

    private final Thread thread;
    /** True when the inventories are due to be open: after the initial delay, or at the first listing. */
    private volatile boolean openNow;

    private volatile boolean closed;
    /** The listings in progress. Confined to the thread. */
    private final ArrayDeque<InventoryListing<H>> underWay = new ArrayDeque<>();

    /** Time of the next work on incomplete inventories, on the scale of {@link System#nanoTime}. */
    private long nextWork;

    /** Time at which the recent entries are written next, on the scale of {@link System#nanoTime}. */
    private long drainAt = System.nanoTime();

    /** Entries written since the last work. */
    private long entriesWritten;

    /**
     * Starts the thread.
     *
     * @param offReason reason why the store has no inventory; null if it has one
     * @param retryNanos time from an error to the next attempt to write an inventory
     */
    @SuppressWarnings("ThreadPriorityCheck") // a hint for the platform; nothing relies on it
    public Inventories(FileIo io, HeadCodec<H> codec, @Nullable String offReason, long delayNanos, long retryNanos) {
        this.retryNanos = retryNanos;
        this.io = io;
        this.codec = codec;
        this.offReason = offReason;
        opensAtNanos = System.nanoTime() + delayNanos;
        thread = new FastThreadLocalThread(this::run, "millrace-store-inventory");
        thread.setDaemon(true);
        thread.setPriority(Thread.MIN_PRIORITY);
        if (offReason == null) {
            thread.start();
        }
    }

    /** Adds a volume. Call in the order of the configuration. No effect for a volume added before. */
    public void add(Volume volume) {
        if (offReason == null && find(volume) == null) {
            VolumeInventory<H> inventory = new VolumeInventory<>(io, codec, volume, retryNanos);
            volumes.add(inventory);
            inventory.attached();
        }
    }

    /**
     * Reports an object's newest record. Called on the volume's thread.
     *
     * @param head the object's decoded head; null if {@code encodedHead} must be decoded
     * @param encodedHead the encoded head, borrowed; null if {@code head} is known
     */
    public void stored(
            Volume volume,
            RecordHeader header,
            DiskKey key,
            long location,
            @Nullable H head,
            @Nullable ByteBuf encodedHead) {
        VolumeInventory<H> inventory = find(volume);
        if (inventory != null && inventory.stored(header, key, location, head, encodedHead)) {
            LockSupport.unpark(thread);
        }
    }

    /** Closes the volume's inventory. Does not use its files after the return. Blocks. */
    public void stopping(Volume volume) {
        VolumeInventory<H> inventory = find(volume);
        if (inventory == null || closed) {
            return;
        }
        inventory.stopSoon();
        CountDownLatch done = new CountDownLatch(1);
        runOnThread(() -> {
            try {
                inventory.close();
                volumes.remove(inventory);
            } finally {
                done.countDown();
            }
        });
        try {
            done.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            LOG.error("{}: interrupted while closing the inventory", volume.directory());
        }
    }

    private @Nullable VolumeInventory<H> find(Volume volume) {
        for (VolumeInventory<H> inventory : volumes) {
            if (inventory.volume() == volume) {
                return inventory;
            }
        }
        return null;
    }

    /** Queues a task for the thread, and wakes it. */
    private void runOnThread(Runnable task) {
        tasks.add(task);
        LockSupport.unpark(thread);
    }

    /** Implements {@link io.millrace.store.CacheStore#list}. */
    public void list(@Nullable String after, ListVisitor visitor, Executor replyOn, ListCallback reply) {
        InventoryListing<H> listing = new InventoryListing<>(ListCursor.parse(after), visitor, replyOn, reply);
        if (offReason != null || closed) {
            String why = offReason != null ? offReason : "the store is closed";
            replyOn.execute(() -> reply.listed(new ListResult(null, false, why)));
        } else if (listings.incrementAndGet() > LISTINGS_MAX) {
            listings.decrementAndGet();
            String why = "too many listings at once: limit=" + LISTINGS_MAX;
            replyOn.execute(() -> reply.listed(new ListResult(null, false, why)));
        } else {
            openNow = true;
            runOnThread(() -> {
                // A listing finds all objects that were stored before it was requested.
                drainAt = System.nanoTime();
                underWay.add(listing);
            });
        }
    }

    /** Implements {@link io.millrace.store.CacheStore#summary} for objects on disk. Confined to the thread. */
    public @Nullable HeadSummary summary(StoreKey key) {
        for (VolumeInventory<H> volume : volumes) {
            HeadSummary summary = volume.descriptions().summary(key);
            if (summary != null) {
                return summary;
            }
        }
        return null;
    }

    /** Returns the current sizes. */
    public InventoryStatistics statistics() {
        long entries = 0;
        long bytes = 0;
        long dropped = 0;
        boolean whole = offReason == null;
        String obstacle = offReason;
        for (VolumeInventory<H> volume : volumes) {
            entries += volume.entries();
            bytes += volume.fileBytes();
            dropped += volume.dropped();
            whole &= volume.isWhole();
            obstacle = obstacle == null ? volume.obstacle() : obstacle;
        }
        return new InventoryStatistics(entries, bytes, dropped, whole, obstacle);
    }

    /** Ends the thread. Call it when every volume has stopped. Blocks. */
    public void close() {
        if (closed || offReason != null) {
            closed = true;
            return;
        }
        runOnThread(() -> closed = true);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        while (!closed) {
            try {
                step();
            } catch (RuntimeException | Error e) {
                LOG.error("{}: an update of the inventory failed and will be repeated", thread.getName(), e);
            }
        }
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        for (InventoryListing<H> listing : underWay) {
            listing.end("the store is closed");
        }
    }

    private void step() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        if (closed) {
            return;
        }
        boolean opened = openWhenDue();
        if (opened && isDrainDue()) {
            for (VolumeInventory<H> volume : volumes) {
                entriesWritten += volume.drain();
            }
        }
        if (!underWay.isEmpty()) {
            InventoryListing<H> listing = underWay.remove();
            if (listing.step(volumes, volumesHash())) {
                underWay.add(listing);
            } else {
                listings.decrementAndGet();
                volumes.forEach(volume -> volume.descriptions().forgetSummaries());
            }
        }
        boolean more = opened && work();
        if (underWay.isEmpty()) {
            park(waitNanos(opened, more));
        }
    }

    /**
     * Returns true once per interval, or if the recent entries of a volume need much memory. More frequent writes
     * during a listing would produce many small blocks.
     */
    private boolean isDrainDue() {
        long now = System.nanoTime();
        boolean due = now - drainAt >= 0;
        for (VolumeInventory<H> volume : volumes) {
            due |= volume.isDue();
        }
        drainAt = due ? now + DRAIN_INTERVAL_NANOS : drainAt;
        return due;
    }

    private int volumesHash() {
        int hash = 1;
        for (VolumeInventory<H> volume : volumes) {
            hash = 31 * hash + volume.volume().id().hashCode();
        }
        return hash == 0 ? 1 : hash;
    }

    private void park(long nanos) {
        LockSupport.parkNanos(this, nanos);
        if (Thread.interrupted()) {
            LOG.error("{}: the inventory's thread was interrupted and continues", thread.getName());
        }
    }

    private boolean openWhenDue() {
        openNow |= System.nanoTime() - opensAtNanos >= 0;
        for (VolumeInventory<H> volume : volumes) {
            openNow |= volume.isDue();
        }
        if (!openNow) {
            return false;
        }
        for (VolumeInventory<H> volume : volumes) {
            volume.open();
        }
        return true;
    }

    /**
     * Works on the incomplete inventories if the interval since the last work is over. Returns true if work may
     * remain.
     */
    private boolean work() {
        long now = System.nanoTime();
        boolean more = nextWork - now > 0;
        if (!more) {
            nextWork = now + WORK_INTERVAL_NANOS;
            int records = entriesWritten < ENTRIES_PER_INTERVAL_BUSY ? RECORDS_PER_INTERVAL : RECORDS_PER_INTERVAL_BUSY;
            entriesWritten = 0;
            for (VolumeInventory<H> volume : volumes) {
                more |= volume.isPaused(now) || work(volume, records);
            }
        }
        return more;
    }

    private boolean work(VolumeInventory<H> volume, int records) {
        if (!volume.hasWork()) {
            return volume.work(records);
        }
        ThreadTimes before = ThreadTimes.ofCallingThread();
        boolean more = volume.work(records);
        volume.pause(pauseNanos(ThreadTimes.ofCallingThread().since(before), volumesWithWork()));
        return more;
    }

    private int volumesWithWork() {
        int count = 0;
        for (VolumeInventory<H> volume : volumes) {
            count += volume.hasWork() ? 1 : 0;
        }
        return Math.max(1, count);
    }

    /**
     * Returns the length of a volume's pause after work that used these times, in nanoseconds.
     *
     * @param volumes number of volumes with work; the pause is proportional to it, because the thread works for the
     *     other volumes during the pause
     */
    static long pauseNanos(ThreadTimes used, int volumes) {
        return Math.min(PAUSE_NANOS_MAX, PAUSE_FACTOR * volumes * (used.cpuNanos() + WAIT_FACTOR * used.waitNanos()));
    }

    private long waitNanos(boolean opened, boolean more) {
        if (!opened) {
            return Math.max(1, opensAtNanos - System.nanoTime());
        }
        return more ? Math.max(1, nextWork - System.nanoTime()) : IDLE_NANOS;
    }
}
