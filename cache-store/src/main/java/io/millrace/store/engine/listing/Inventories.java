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
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.MpscBlockingConsumerArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The inventories of a store's volumes, and the one thread that reads and writes them. An inventory is a file with an
 * entry for each stored object of a volume, used for listings. The thread begins its work some time after the store
 * opens, and has the lowest priority.
 *
 * <p>Thread-safe.
 */
public final class Inventories<H> {
    private static final Logger LOG = LoggerFactory.getLogger(Inventories.class);
    /** Limit of queued changes; further changes are read from the segments later. */
    public static final int QUEUE_CHANGES_MAX = 1 << 15;

    /**
     * Limit of heap for the keys and heads of queued changes, as estimated by the codecs. Further changes are queued
     * without key and head, and the thread reads their records from disk.
     */
    public static final long QUEUE_HEAD_BYTES_MAX = 8 << 20;

    private static final int LISTINGS_MAX = 8;
    /** Maximum number of changes that are processed before the thread does other work. */
    private static final int CHANGES_IN_A_ROW_MAX = 256;

    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Interval of work on incomplete inventories: at most 50 records per 10 ms, or 5000 per second. */
    private static final long WORK_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final int RECORDS_PER_INTERVAL = 50;
    /** Number of changes since the last work at which the store counts as busy: 2000 per second. */
    private static final int CHANGES_PER_INTERVAL_BUSY = 20;
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
    /**
     * Pause after some changes. New changes do not wake the thread from it, so that it processes changes in batches.
     */
    private static final long BATCH_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** Timeout for queued changes when a volume is released. */
    private static final long DRAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

    private final FileIo io;
    private final HeadCodec<H> codec;
    /** Reason why the store has no inventory; null if the inventory exists. */
    private final @Nullable String offReason;

    /** Time at which the inventories open, on the scale of {@link System#nanoTime}. */
    private final long opensAtNanos;

    private final long retryNanos;
    private final MpscBlockingConsumerArrayQueue<Change<H>> queue;
    /** Tasks of the thread, which run before the queued changes. */
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

    private final CopyOnWriteArrayList<VolumeInventory<H>> volumes = new CopyOnWriteArrayList<>();
    /** Number of listings that have not ended. */
    private final AtomicInteger listings = new AtomicInteger();
    /** Estimated heap bytes of the queued changes. */
    private final AtomicLong headBytes = new AtomicLong();

    private final Thread thread;
    private final Change<H> wake = new Change<>(null, 0, 0, 0, null);
    /**
     * True while the thread is parked instead of waiting on the queue, so that an offer to the queue does not wake it.
     */
    private volatile boolean awaitingBatch;

    /** True after the first listing: inventories open without the initial delay. */
    private volatile boolean openNow;

    private volatile boolean closed;
    /** The listings in progress. Confined to the thread. */
    private final ArrayDeque<InventoryListing<H>> underWay = new ArrayDeque<>();

    /** Time of the next work on incomplete inventories, on the scale of {@link System#nanoTime}. */
    private long nextWork;

    /** Changes taken from the queue since the last work. */
    private int changesTaken;

    private record Change<H>(
            @Nullable VolumeInventory<H> volume,
            long hashHigh,
            long hashLow,
            long location,
            VolumeInventory.@Nullable Description<H> description) {
        int headBytes() {
            return description == null ? 0 : description.headBytes();
        }
    }

    /**
     * Starts the thread.
     *
     * @param offReason reason why the store has no inventory; null if it has one
     * @param retryNanos time from a failed attempt to enlarge an inventory to the next one
     */
    public Inventories(FileIo io, HeadCodec<H> codec, @Nullable String offReason, long delayNanos, long retryNanos) {
        this(io, codec, offReason, delayNanos, retryNanos, QUEUE_CHANGES_MAX);
    }

    /** Like the other constructor, with another limit of queued changes. */
    @SuppressWarnings("ThreadPriorityCheck") // a hint for the platform; nothing relies on it
    public Inventories(
            FileIo io,
            HeadCodec<H> codec,
            @Nullable String offReason,
            long delayNanos,
            long retryNanos,
            int queueChangesMax) {
        this.retryNanos = retryNanos;
        this.io = io;
        this.codec = codec;
        this.offReason = offReason;
        queue = new MpscBlockingConsumerArrayQueue<>(offReason == null ? queueChangesMax : 2);
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
            volumes.add(new VolumeInventory<>(io, codec, volume, retryNanos));
        }
    }

    /**
     * Records the location of an object's newest record. Called on the volume's thread.
     *
     * @param head the object's head, so that the record need not be read; null if it must be read
     */
    public void stored(Volume volume, RecordHeader header, DiskKey key, long location, @Nullable H head) {
        VolumeInventory<H> inventory = find(volume);
        if (inventory == null) {
            return;
        }
        Change<H> change =
                new Change<>(inventory, key.hashHigh(), key.hashLow(), location, described(header, key, head));
        if (!queue.offer(change)) {
            headBytes.addAndGet(-change.headBytes());
            inventory.countMissedChange();
        }
    }

    /**
     * Returns the description of the object and counts its heap bytes. Returns null if {@code head} is null, or if the
     * heap limit is reached.
     */
    private VolumeInventory.@Nullable Description<H> described(RecordHeader header, DiskKey key, @Nullable H head) {
        // The key counts too. If RAM evicts the object, only this queue holds the key, and clients choose its length.
        int bytes = head == null ? 0 : key.bytes().length + codec.heapBytes(head);
        if (head == null || headBytes.addAndGet(bytes) > QUEUE_HEAD_BYTES_MAX) {
            headBytes.addAndGet(-bytes);
            return null;
        }
        return new VolumeInventory.Description<>(header, key.bytes(), head, bytes);
    }

    /**
     * Closes the volume's inventory. Does not use its file after the return. Blocks.
     *
     * @param forced whether the file is forced to the device
     */
    public void stopping(Volume volume, boolean forced) {
        VolumeInventory<H> inventory = find(volume);
        if (inventory == null || closed) {
            return;
        }
        inventory.stopSoon();
        CountDownLatch done = new CountDownLatch(1);
        runOnThread(() -> {
            try {
                drain();
                inventory.close(forced);
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
        // If the queue is full, the thread is awake anyway.
        queue.offer(wake);
        if (awaitingBatch) {
            LockSupport.unpark(thread);
        }
    }

    /** Implements {@link io.millrace.store.CacheStore#list}. */
    public void list(@Nullable String after, ListVisitor visitor, Executor replyOn, ListCallback reply) {
        long known = queue.currentProducerIndex();
        InventoryListing<H> listing = new InventoryListing<>(ListCursor.parse(after), known, visitor, replyOn, reply);
        if (offReason != null || closed) {
            String why = offReason != null ? offReason : "the store is closed";
            replyOn.execute(() -> reply.listed(new ListResult(null, false, why)));
        } else if (listings.incrementAndGet() > LISTINGS_MAX) {
            listings.decrementAndGet();
            String why = "too many listings at once: limit=" + LISTINGS_MAX;
            replyOn.execute(() -> reply.listed(new ListResult(null, false, why)));
        } else {
            openNow = true;
            runOnThread(() -> underWay.add(listing));
        }
    }

    /** Implements {@link io.millrace.store.CacheStore#summary} for objects on disk. Confined to the thread. */
    public @Nullable HeadSummary summary(StoreKey key) {
        for (VolumeInventory<H> volume : volumes) {
            HeadSummary summary = volume.summary(key);
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
            } catch (InterruptedException e) {
                LOG.error("{}: the inventory's thread was interrupted and continues", thread.getName());
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

    private void step() throws InterruptedException {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
        if (closed) {
            return;
        }
        boolean opened = openWhenDue();
        if (!underWay.isEmpty()) {
            InventoryListing<H> listing = underWay.remove();
            // Changes that were queued before the listing was requested are applied first.
            if (queue.currentConsumerIndex() - listing.changesBefore() < 0 || listing.step(volumes)) {
                underWay.add(listing);
            } else {
                listings.decrementAndGet();
            }
        }
        boolean more = opened && work();
        take(underWay.isEmpty() ? waitNanos(opened, more) : 0);
    }

    private boolean openWhenDue() {
        if (!openNow && System.nanoTime() - opensAtNanos < 0) {
            return false;
        }
        for (VolumeInventory<H> volume : volumes) {
            volume.open();
        }
        return true;
    }

    private boolean work() {
        long now = System.nanoTime();
        boolean more = nextWork - now > 0;
        if (!more) {
            nextWork = now + WORK_INTERVAL_NANOS;
            int records = changesTaken < CHANGES_PER_INTERVAL_BUSY ? RECORDS_PER_INTERVAL : RECORDS_PER_INTERVAL_BUSY;
            changesTaken = 0;
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

    private void take(long waitNanos) throws InterruptedException {
        boolean opened = openNow || System.nanoTime() - opensAtNanos >= 0;
        if (!opened) {
            // Before the inventories are open, changes are dropped. An inventory that opens later lacks them, so it is
            // filled from the segments.
            apply(queue.poll(waitNanos, TimeUnit.NANOSECONDS));
            return;
        }
        Change<H> change = waitNanos == 0 ? queue.poll() : queue.poll(waitNanos, TimeUnit.NANOSECONDS);
        int taken = 0;
        while (change != null) {
            apply(change);
            change = ++taken < CHANGES_IN_A_ROW_MAX ? queue.poll() : null;
        }
        changesTaken += taken;
        if (taken > 0 && taken < CHANGES_IN_A_ROW_MAX && waitNanos > 0) {
            awaitBatch(Math.min(waitNanos, BATCH_DELAY_NANOS));
        }
    }

    private void awaitBatch(long nanos) {
        awaitingBatch = true;
        // The thread must not park if a task was added before "awaitingBatch" was set, because that task did not wake
        // the thread.
        if (tasks.isEmpty()) {
            LockSupport.parkNanos(this, nanos);
        }
        awaitingBatch = false;
    }

    private void apply(@Nullable Change<H> change) {
        if (change != null && change.volume() != null) {
            headBytes.addAndGet(-change.headBytes());
            change.volume().stored(change.hashHigh(), change.hashLow(), change.location(), change.description());
        }
    }

    private void drain() {
        long until = System.nanoTime() + DRAIN_NANOS;
        Change<H> change = queue.poll();
        while (change != null) {
            if (System.nanoTime() - until > 0 && change.volume() != null) {
                headBytes.addAndGet(-change.headBytes());
                change.volume().countMissedChange();
            } else {
                apply(change);
            }
            change = queue.poll();
        }
    }
}
