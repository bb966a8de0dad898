package io.millrace.store.disk;

import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.KeepTimes;
import io.millrace.store.disk.record.RecordAppendCallback;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.segment.RecordReader;
import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.SegmentPins;
import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * An open storage path: its log, index, readers and state.
 *
 * <p>Each use of a segment has a random tag, which its records contain too. So a read detects that a segment was
 * reclaimed and overwritten. A reader <em>pins</em> a segment while it reads from it. This is independent of the
 * <em>pinned records</em>, which the setting {@code pin_in_cache} keeps on disk for a time.
 *
 * <p>All changes are tasks for {@link #execute}. The volume's own thread runs them one after another, and the
 * {@code append…} and {@code drop} methods may be called only there. Therefore the log, the index and the replies to
 * callers have the same order.
 *
 * <p>Thread-safe, except for methods that are confined to the volume's thread.
 */
public final class Volume {
    /** Number of consecutive I/O errors after which the volume goes offline. */
    public static final int ERRORS_IN_A_ROW_MAX = 8;

    private static final int QUEUE_TASKS_MAX = 1 << 16;
    /**
     * Limit of removal tasks that are accepted although the queue is full. Above it the volume goes offline, because it
     * cannot keep up with the removals.
     */
    private static final int REMOVALS_BEYOND_MAX = 1 << 14;

    private static final long FULL_QUEUE_WAIT_NANOS = 100_000;

    private final VolumeParts parts;
    private final MappedIndex index;
    private final SegmentTable table;
    private final SegmentFile segments;
    private final RecordReader reader;
    private final SegmentLog log;
    private final SegmentReclaimer reclaimer;
    private final VolumeThread thread;
    private final VolumeHealth health;
    private final VolumeMembership membership;
    private final VolumeWriter writer;
    private final VolumeEnding ending;
    private final VolumeListener listener;
    private final boolean rebuilt;

    private final AtomicLong queuedBytes = new AtomicLong();
    /**
     * Number of pins taken through this instance; {@link SegmentPins} may be shared with the instance that replaced it.
     */
    private final AtomicLong pinned = new AtomicLong();

    /** Keys that lookups must not find although the index may still contain them. */
    private volatile @Nullable Set<Hash> hidden;

    private record Hash(long high, long low) {}

    /** A task that appends only whole objects, which may be written in one batch with objects of other tasks. */
    public interface GatheringTask extends VolumeThread.Gathering {}

    /**
     * Creates the volume; {@link #start} starts it.
     *
     * @param rebuild the remaining rebuild of the index, null if the index is complete
     */
    public Volume(
            VolumeParts parts,
            ByteBufAllocator allocator,
            VolumeListener listener,
            VolumeUpkeep.@Nullable Rebuild rebuild) {
        this.parts = parts;
        this.listener = listener;
        rebuilt = rebuild != null;
        index = parts.index();
        table = parts.table();
        segments = new SegmentFile(parts.file(), parts.superblock());
        reader = new RecordReader(segments, allocator);
        log = new SegmentLog(segments, parts, () -> listener.forceDue(this));
        health = new VolumeHealth(
                parts.directory(), rebuild == null ? VolumeState.ONLINE : VolumeState.OPENING, this::onOffline);
        membership = new VolumeMembership(parts.file(), parts.superblock(), health);
        VolumeWriter.OnStored onStored =
                (header, key, location, receiver, head) -> listener.stored(this, header, key, location, receiver, head);
        writer = new VolumeWriter(parts, segments, log, health, onStored);
        reclaimer = new SegmentReclaimer(log, parts, segments, reader, writer::writeBatch, onStored);
        log.reclaimer(reclaimer);
        if (rebuild == null) {
            reclaimer.enable();
        }
        VolumeUpkeep upkeep = new VolumeUpkeep(parts, segments, health, membership, writer::writeBatch);
        thread = new VolumeThread(
                "millrace-store-" + parts.directory().getFileName(),
                QUEUE_TASKS_MAX,
                upkeep.works(log, rebuild, this::indexComplete),
                writer::writeBatch);
        ending = new VolumeEnding(parts, thread, health, segments);
    }

    /**
     * Sets the policies that decide which records are kept when their segment is reclaimed. Call before {@link #start}.
     *
     * @param pins decides which pinned records are kept, regardless of {@code policy}
     */
    public void setReclaimPolicies(KeepPolicy policy, PinPolicy pins) {
        reclaimer.policy(policy);
        reclaimer.pinPolicy(pins);
    }

    /** Starts the volume's thread. */
    public void start() {
        thread.start();
    }

    private void indexComplete() {
        reclaimer.enable();
        listener.opened(this);
    }

    /** Returns the storage path. */
    public Path directory() {
        return parts.directory();
    }

    /** Returns the state. */
    public VolumeState state() {
        return health.state();
    }

    /** Returns true if records can be found and written. */
    public boolean isWorking() {
        return health.isWorking();
    }

    /** Returns the volume's current superblock. */
    public Superblock superblock() {
        return membership.superblock();
    }

    /** Returns the pins of readers on its segments. */
    public SegmentPins pins() {
        return parts.pins();
    }

    /** Returns the reader of its records. */
    public RecordReader reader() {
        return reader;
    }

    /** Creates a verification of its records in the background. */
    public VolumeScrub scrub() {
        return new VolumeScrub(this, table, segments);
    }

    /** Returns the length of the longest record that fits. */
    public int recordLengthMax() {
        return SegmentLog.recordLengthMax(segments.segmentBytes());
    }

    /**
     * Returns the location of the hash's newest record; {@link Location#NONE} if there is none or the volume does not
     * work.
     */
    public long find(long hashHigh, long hashLow) {
        Set<Hash> hiddenNow = hidden;
        if (!health.isReadable() || (hiddenNow != null && hiddenNow.contains(new Hash(hashHigh, hashLow)))) {
            return Location.NONE;
        }
        try {
            long location = index.find(hashHigh, hashLow);
            return location != Location.NONE && table.isLive(location) ? location : Location.NONE;
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
            return Location.NONE;
        }
    }

    /**
     * Returns true if the hash may have a record: like {@link #find}, but true for every hash while the index is being
     * rebuilt.
     */
    public boolean mayHold(long hashHigh, long hashLow) {
        return health.state() == VolumeState.OPENING || find(hashHigh, hashLow) != Location.NONE;
    }

    /**
     * Returns true if a rebuild of the index might find a record of the hash in the log. Like {@link #mayHold}, but
     * also true if a damaged slot may have contained the entry.
     */
    public boolean mayBringBack(long hashHigh, long hashLow) {
        if (mayHold(hashHigh, hashLow)) {
            return true;
        }
        try {
            return isWorking() && index.isMissUnreliable(hashHigh, hashLow);
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
            return true;
        }
    }

    /** Counts a hit of the entry in the index. */
    public void hit(long hashHigh, long hashLow) {
        if (!isWorking()) {
            return;
        }
        try {
            index.hit(hashHigh, hashLow);
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
        }
    }

    /**
     * Prevents the overwriting of a segment until {@link #unpin}.
     *
     * @return the segment's tag; 0, without a pin, if the segment is no longer in use or the volume does not work
     */
    public long pin(int segment) {
        if (segment >= table.segments()) {
            return 0;
        }
        parts.pins().add(segment);
        pinned.incrementAndGet();
        // The state is read after the pin is set. A thread that ends the volume's writing (state RELEASED or SUSPENDED)
        // sets the state before it reads the pins. So at least one of the two threads sees the change of the other.
        long tag = health.isReadable() ? table.tag(segment) : 0;
        if (tag == 0) {
            unpin(segment);
        }
        return tag;
    }

    /**
     * Returns the current number of the segment with that tag, whose former number is {@code hint}; -1 if it was
     * reclaimed.
     */
    public int segmentWithTag(int hint, long tag) {
        return table.withTag(hint, tag);
    }

    /**
     * Returns the oldest segment with records that was begun after the segment with that sequence number; null if there
     * is none. Any thread.
     */
    public SegmentTable.@Nullable Begun firstBegunAfter(long sequence) {
        return table.firstBegunAfter(sequence);
    }

    /** Returns the segments with records in the order in which they were begun. Any thread. */
    public List<SegmentTable.Begun> begunSegments() {
        return table.begun();
    }

    /** Returns true if the index was rebuilt from the segments when the volume was opened. */
    public boolean wasRebuilt() {
        return rebuilt;
    }

    /** Returns the sequence number of the newest segment with records; 0 if there is none. Any thread. */
    public long newestSegment() {
        return table.newestBegun();
    }

    /** Returns the number of segments. */
    public int segments() {
        return table.segments();
    }

    /** Releases a {@link #pin}. */
    public void unpin(int segment) {
        parts.pins().remove(segment);
        pinned.decrementAndGet();
    }

    /**
     * Returns true if a previous owner process still reads the volume, according to the last check of its reader list.
     */
    public boolean isReadElsewhere() {
        return parts.readers().pinnedSegments() > 0;
    }

    /**
     * Returns true if no segment is pinned by a reader. Once true in the state SUSPENDED, the result stays true,
     * because {@link #pin} then refuses new readers.
     */
    public boolean isUnread() {
        return pinned.get() == 0;
    }

    /** Queues a task for the volume's thread. Returns false if the task is not accepted; it then never runs. */
    public boolean execute(Runnable task) {
        return isWorking() && thread.execute(task);
    }

    /**
     * Like {@link #execute}, for a task that removes an object. A working volume accepts it even if its queue is full.
     * Above a limit of such tasks the volume goes offline: its objects are then not found any more, including those
     * with missed removals. Returns false if the volume does not work, or has just stopped working.
     */
    public boolean executeRemoval(Runnable task) {
        if (!isWorking()) {
            return false;
        }
        boolean taken = thread.executeBeyond(task, REMOVALS_BEYOND_MAX);
        if (!taken && !thread.isEnding()) {
            health.takeOffline(new IOException(
                    "too many removals wait, because the volume's queue is full: limit=" + REMOVALS_BEYOND_MAX));
        }
        return taken;
    }

    /** Adds to the bytes that wait to be written. */
    public void addQueuedBytes(long bytes) {
        queuedBytes.addAndGet(bytes);
    }

    /** Subtracts bytes that no longer wait to be written. */
    public void subtractQueuedBytes(long bytes) {
        queuedBytes.addAndGet(-bytes);
    }

    /** Returns the bytes that wait to be written. */
    public long queuedBytes() {
        return queuedBytes.get();
    }

    /**
     * Like {@link #execute}, for a task that appends only with {@link #appendComplete}. It may run before the batch of
     * the previous tasks is written.
     */
    public boolean executeGathering(GatheringTask task) {
        return isWorking() && thread.execute(task);
    }

    /**
     * Appends a whole object and stores it under the key. A short object may be written in one batch with objects
     * of the next queued tasks. Called on the volume's thread; borrows the buffers. On failure the key holds no object
     * on this volume.
     *
     * @param callback receives the result
     */
    public void appendComplete(
            DiskKey key, long objectId, KeepTimes times, ByteBuf head, ByteBuf body, RecordAppendCallback callback) {
        RecordHeader header = RecordHeader.complete(
                        key, objectId, head.readableBytes(), times.expiry(), body.readableBytes())
                .pinnedUntil(times.pinnedUntil());
        writer.appendComplete(header, key, head, body, callback);
    }

    /** Like {@link #appendComplete}, for an object whose body was appended before. */
    public void appendHead(DiskKey key, long objectId, KeepTimes times, ByteBuf head, BodyPlace place)
            throws IOException {
        RecordHeader header = RecordHeader.head(key, objectId, head.readableBytes(), times.expiry(), place)
                .pinnedUntil(times.pinnedUntil());
        writer.appendObject(header, place, key, head, Unpooled.EMPTY_BUFFER);
    }

    /**
     * Appends one block; returns its location. A block without content revokes the earlier record of the same block,
     * and is not added to the index. Called on the volume's thread; borrows the buffer.
     *
     * @param keyHash lower half of the hash of the object's key
     * @param pinnedUntil end of the object's pin in seconds since the epoch, as far as known; for statistics
     */
    public long appendBlock(long keyHash, long objectId, int number, long pinnedUntil, ByteBuf content)
            throws IOException {
        return writer.appendBlock(keyHash, objectId, number, pinnedUntil, content);
    }

    /**
     * Appends a tombstone (the record of a removal). From now on the key holds no object, even if the append fails.
     * Called on the volume's thread. Returns true if the key may have held an object before.
     */
    public boolean appendTombstone(DiskKey key) throws IOException {
        boolean present = mayHold(key.hashHigh(), key.hashLow());
        writer.appendTombstone(key);
        return present;
    }

    /** Removes a damaged object, if the key still has that record. Called on the volume's thread. */
    public void drop(DiskKey key, long location) {
        writer.drop(key, location);
    }

    /** Removes a block from the index. Called on the volume's thread. */
    public void dropBlock(long hashHigh, long hashLow, long location) {
        writer.dropBlock(hashHigh, hashLow, location);
    }

    /**
     * Removes the key from the index after an append for it has failed, without a tombstone. The tombstone is appended
     * as soon as the log accepts records again, so that a rebuild does not restore the old record. Called on the
     * volume's thread.
     */
    public void forget(DiskKey key) {
        writer.forget(key);
    }

    /** Counts an I/O error of any thread; returns it. */
    public IOException failed(IOException e) {
        return health.failed(e);
    }

    /** Takes the volume offline, because its files were deleted or replaced. Any thread. */
    public void takeOffline(String fault) {
        health.takeOffline(new IOException(directory() + ": " + fault));
    }

    private void onOffline() {
        // From now on the volume misses removals. Its superblock records this, if it can still be written.
        thread.executeBeyond(membership::leave, Integer.MAX_VALUE);
        listener.offline(this);
    }

    /**
     * Writes the superblock with another list of the store's volumes and another generation (a number that increases
     * when a volume is lost). Called on the volume's thread.
     */
    public void membership(long generation, List<UUID> members) {
        membership.write(generation, members);
    }

    /** Queues the write of a superblock without this volume as a member; {@link #drain} waits for it. */
    public void leaveSoon() {
        thread.executeBeyond(membership::leave, Integer.MAX_VALUE);
    }

    /** Returns true if the volume is not a member of its store. Call after its thread has ended. */
    public boolean hasLeft() {
        return membership.hasLeft();
    }

    /**
     * Applies changes that the volume missed while it was offline: lookups no longer find these keys, and their
     * tombstones are queued. Only one call at a time.
     */
    public void applyMissedChanges(List<DiskKey> keys) throws IOException {
        Set<Hash> out = new HashSet<>();
        for (DiskKey key : keys) {
            out.add(new Hash(key.hashHigh(), key.hashLow()));
        }
        hidden = out;
        boolean taken = execute(() -> {
            for (DiskKey key : keys) {
                writer.applyMissedChange(key);
            }
            hidden = null;
        });
        if (!taken) {
            throw new IOException(directory() + ": volume is " + state() + " or its queue is full");
        }
    }

    /** Removes the key's object: appends a tombstone now, or later if that fails. Called on the volume's thread. */
    public void removeWithRetry(DiskKey key) {
        writer.removeWithRetry(key);
    }

    /** Waits until all tasks queued before are done. Not for the volume's own thread. */
    public void drain() throws IOException {
        CountDownLatch done = new CountDownLatch(1);
        while (!execute(done::countDown)) {
            health.checkWorking();
            // The queue is full: it has room as soon as the thread has run some tasks.
            LockSupport.parkNanos(FULL_QUEUE_WAIT_NANOS);
        }
        try {
            done.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(directory() + ": interrupted", e);
        }
    }

    /** Forces written bytes to the device, if there are any. Blocks. */
    public void force() throws IOException {
        writer.force();
    }

    /**
     * Writes and forces queued records and releases the lease (the lock by which this process owns the volume).
     * Publishes a reader list for the next owner, which must not overwrite any segment in it. The list contains all
     * segments with records, because lookups work until {@link #endReads}. If the list cannot be written, reads fail
     * immediately. A volume with an incomplete index finds no records from now on.
     */
    public void release() throws IOException {
        ending.end(VolumeState.RELEASED, () -> stopping(false));
    }

    /**
     * Ends lookups. From now on the reader list for the next owner contains only the pinned segments. Records in
     * segments that a reader has pinned stay readable until {@link #closeFile}. Call after {@link #release}; blocks on
     * the disk.
     */
    public void endReads() {
        ending.endReads();
    }

    /** Writes and forces queued records, releases the lease and closes the file; reads then fail. */
    public void close() throws IOException {
        try {
            ending.end(VolumeState.CLOSED, () -> stopping(true));
        } finally {
            ending.closeFile();
        }
    }

    private void stopping(boolean closed) {
        try {
            while (log.removeRetiredEntries()) {
                // The index must contain no obsolete entries when it is opened next.
            }
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
        }
        listener.stopping(this, closed);
    }

    /** Closes the file; reads then fail. */
    public void closeFile() throws IOException {
        ending.closeFile();
    }

    /**
     * Removes segments without pins from the reader list for the next owner. Call after {@link #endReads}. Blocks on
     * the disk.
     */
    public void shortenReaderList() {
        ending.shortenReaderList();
    }

    /**
     * Deletes the reader list. Call when another instance in this process owns the path again and has taken over the
     * pins.
     */
    public void deleteReaderList() throws IOException {
        ending.deleteReaderList();
    }

    /**
     * Returns the records of a segment that the caller has pinned, in order: from its summary, or by reading their
     * headers.
     */
    public SegmentSummary records(int segment, long tag) throws IOException {
        // A sealed segment without a valid summary may have damaged records in the middle; the walk skips them. In the
        // active segment, the first invalid record is the end of the log.
        boolean skipsDamage = table.state(segment) == SegmentTable.State.SEALED;
        return segments.records(segment, tag, skipsDamage);
    }

    private long readIndex(LongSupplier figure) {
        try {
            return figure.getAsLong();
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
            return 0;
        }
    }

    /** Returns the sequence number of the last record in the index; 0 if the index has failed. */
    public long appliedSequence() {
        return readIndex(index::appliedSequence);
    }

    /** Returns the number of objects in the index; 0 if the index has failed. */
    public long entries() {
        return readIndex(index::objects);
    }

    /** Returns the number of entries evicted because the index was full and could not grow. */
    public long indexEvictions() {
        return index.evictions();
    }

    /** Returns the bytes up to the end of the records, over all segments. */
    public long usedBytes() {
        return table.usedBytes();
    }

    /** Returns the bytes of all segments. */
    public long bytesMax() {
        return (long) segments.segmentBytes() * table.usable();
    }

    /** Returns the number of I/O errors. */
    public long errors() {
        return health.errors();
    }

    /** Returns the last I/O error. */
    public @Nullable IOException lastError() {
        return health.lastError();
    }

    /** Returns the bytes of records appended. */
    public long bytesWritten() {
        return log.bytesWritten();
    }

    /** Returns the bytes of records carried forward from reclaimed segments, not written for a caller. */
    public long bytesCarried() {
        return reclaimer.bytesCarried();
    }

    /** Returns the bytes of pinned records. Replaced and removed ones count until their segment is reclaimed. */
    public long bytesPinned() {
        return log.pinned().total(System.currentTimeMillis() / 1000);
    }

    /** Returns the number of pinned records that were dropped. */
    public long pinsBroken() {
        return reclaimer.pinsBroken();
    }

    /** Returns the number of reclaimed segments. */
    public long segmentsReclaimed() {
        return log.reclaimed();
    }

    /** Returns the id of the volume. */
    public UUID id() {
        return membership.superblock().volumeId();
    }
}
