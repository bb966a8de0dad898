package io.millrace.store.disk;

import io.millrace.store.disk.record.Appended;
import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.KeepTimes;
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
 * One storage path at work: its log, its index, its readers, and whether it still can be trusted to work.
 *
 * <p>All changes are tasks given to {@link #execute}; they run one after the other on the volume's own thread, and only
 * there may the {@code append…} and {@code drop} methods be called. So the order of the log, of the index and of what
 * callers were told is the same.
 *
 * <p>Thread-safe, but for what is said to be confined to the volume's thread.
 */
public final class Volume {
    /** I/O errors in a row after which the volume is given up. */
    public static final int ERRORS_IN_A_ROW_MAX = 8;

    private static final int QUEUE_TASKS_MAX = 1 << 16;
    /** Tasks beyond a full queue that give something up; with more of them the volume cannot be trusted to catch up. */
    private static final int REMOVALS_BEYOND_MAX = 1 << 14;

    private static final long FULL_QUEUE_WAIT_NANOS = 100_000;

    private final VolumeParts parts;
    private final MappedIndex index;
    private final SegmentTable table;
    private final SegmentFile segments;
    private final RecordReader reader;
    private final SegmentLog log;
    private final SegmentReclaimer carry;
    private final VolumeThread thread;
    private final VolumeHealth health;
    private final VolumeMembership membership;
    private final VolumeWriter writer;
    private final VolumeEnding ending;
    private final VolumeListener listener;

    private final AtomicLong queuedBytes = new AtomicLong();
    /** Pins taken through this volume; {@link SegmentPins} may be shared with the volume that took its place. */
    private final AtomicLong pinned = new AtomicLong();

    /** Keys that are not found although the index may still have them. */
    private volatile @Nullable Set<Hash> hidden;

    private record Hash(long high, long low) {}

    /**
     * Makes the volume; {@link #start} sets it going.
     *
     * @param rebuild what is still to be done for the index, null when it is whole
     */
    public Volume(
            VolumeParts parts,
            ByteBufAllocator allocator,
            VolumeListener listener,
            VolumeUpkeep.@Nullable Rebuild rebuild) {
        this.parts = parts;
        this.listener = listener;
        index = parts.index();
        table = parts.table();
        segments = new SegmentFile(parts.file(), parts.superblock());
        reader = new RecordReader(segments, allocator);
        log = new SegmentLog(segments, parts, () -> listener.segmentSealed(this));
        health = new VolumeHealth(
                parts.directory(), rebuild == null ? VolumeState.ONLINE : VolumeState.OPENING, this::givenUp);
        membership = new VolumeMembership(parts.file(), parts.superblock(), health);
        writer = new VolumeWriter(
                parts,
                segments,
                log,
                health,
                (header, key, location, told) -> listener.stored(this, header, key, location, told));
        carry = new SegmentReclaimer(log, parts, segments, reader, writer::settle);
        log.carry(carry);
        if (rebuild == null) {
            carry.enable();
        }
        VolumeUpkeep upkeep = new VolumeUpkeep(parts, segments, health, membership, writer::settle);
        thread = new VolumeThread(
                "millrace-store-" + parts.directory().getFileName(),
                QUEUE_TASKS_MAX,
                upkeep.works(log, rebuild, this::whole),
                writer::settle);
        ending = new VolumeEnding(parts, thread, health, segments);
    }

    /**
     * Sets what says which records are kept when their segment is given up. Before {@link #start}.
     *
     * @param pins which pinned ones are, whatever the policy says
     */
    public void keep(KeepPolicy policy, PinPolicy pins) {
        carry.policy(policy);
        carry.pinPolicy(pins);
    }

    /** Starts the volume's thread. */
    public void start() {
        thread.start();
    }

    private void whole() {
        carry.enable();
        listener.opened(this);
    }

    /** The storage path. */
    public Path directory() {
        return parts.directory();
    }

    /** Whether it works. */
    public VolumeState state() {
        return health.state();
    }

    /** Whether records can be found and written. */
    public boolean isWorking() {
        return health.isWorking();
    }

    /** What the volume is. */
    public Superblock superblock() {
        return membership.superblock();
    }

    /** Who reads its segments. */
    public SegmentPins pins() {
        return parts.pins();
    }

    /** Reads its records. */
    public RecordReader reader() {
        return reader;
    }

    /** Verifies its records in the background. */
    public VolumeScrub scrub() {
        return new VolumeScrub(this, table, segments);
    }

    /** Longest record that it can take. */
    public int recordLengthMax() {
        return SegmentLog.recordLengthMax(segments.segmentBytes());
    }

    /** Where the hash's newest record lies, {@link Location#NONE} when it has none or the volume does not work. */
    public long find(long hashHigh, long hashLow) {
        Set<Hash> out = hidden;
        if (!health.isReadable() || (out != null && out.contains(new Hash(hashHigh, hashLow)))) {
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

    /** Whether the hash may have a record: as {@link #find}, but true for all while the index is being rebuilt. */
    public boolean mayHold(long hashHigh, long hashLow) {
        return health.state() == VolumeState.OPENING || find(hashHigh, hashLow) != Location.NONE;
    }

    /**
     * Whether the log may hold a record of the hash that a rebuild of the index would find: as {@link #mayHold}, but true
     * too where a damaged slot may have had the entry.
     */
    public boolean mayBringBack(long hashHigh, long hashLow) {
        if (mayHold(hashHigh, hashLow)) {
            return true;
        }
        try {
            return isWorking() && index.isDoubtful(hashHigh, hashLow);
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
            return true;
        }
    }

    /** Notes in the index that the entry was used. */
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
     * Keeps a segment from being written over until {@link #unpin}.
     *
     * @return the segment's tag; 0 when it is not in use any more, or the volume does not work (it is then not pinned)
     */
    public long pin(int segment) {
        if (segment >= table.segments()) {
            return 0;
        }
        parts.pins().add(segment);
        pinned.incrementAndGet();
        // Looked at after the pin was set: who suspends sets the state first and then looks at the pins.
        long tag = health.isReadable() ? table.tag(segment) : 0;
        if (tag == 0) {
            unpin(segment);
        }
        return tag;
    }

    /** Where the segment of that tag lies now, {@code hint} being where it once lay; -1 when it was given up. */
    public int segmentWithTag(int hint, long tag) {
        return table.withTag(hint, tag);
    }

    /**
     * Of the segments that hold records the one begun first of those begun after that sequence, -1 when there is none. Any thread.
     */
    public int segmentBegunAfter(long sequence) {
        return table.begunAfter(sequence);
    }

    /** When a segment that the caller has pinned was begun: later ones have a higher sequence. Any thread. */
    public long sequence(int segment) {
        return table.sequence(segment);
    }

    /** Ends a {@link #pin}. */
    public void unpin(int segment) {
        parts.pins().remove(segment);
        pinned.decrementAndGet();
    }

    /** Whether a process that had the volume before still reads it, as of the last look at its list. */
    public boolean isReadElsewhere() {
        return parts.readers().pinnedSegments() > 0;
    }

    /** Whether nobody reads through this volume: once it is suspended, nobody will. */
    public boolean isUnread() {
        return pinned.get() == 0;
    }

    /** Queues a task for the volume's thread; false, and it will never run, when it cannot be taken. */
    public boolean execute(Runnable task) {
        return isWorking() && thread.execute(task);
    }

    /**
     * As {@link #execute}, for a task that takes away what a key holds: a working volume takes it also when its queue is
     * full. Beyond a limit of those the volume is given up: what it holds is then not found any more, and what it missed
     * not brought back. False when the volume does not work, or not any more.
     */
    public boolean executeRemoval(Runnable task) {
        if (!isWorking()) {
            return false;
        }
        boolean taken = thread.executeBeyond(task, REMOVALS_BEYOND_MAX);
        if (!taken && !thread.isEnding()) {
            health.giveUp(new IOException("removals waiting behind a full queue: limit=" + REMOVALS_BEYOND_MAX));
        }
        return taken;
    }

    /** Counts bytes that wait to be written (negative: that no longer wait). */
    public void queued(long bytes) {
        queuedBytes.addAndGet(bytes);
    }

    /** Bytes that wait to be written. */
    public long queuedBytes() {
        return queuedBytes.get();
    }

    /**
     * As {@link #execute}, for a task that appends nothing but by {@link #appendComplete}: it need not wait until what
     * the tasks before it gave to that is written.
     */
    public boolean executeGathering(Runnable task) {
        VolumeThread.Gathering gathering = task::run;
        return isWorking() && thread.execute(gathering);
    }

    /**
     * Appends a whole object and makes it what the key holds; a short one together with those that the tasks queued next
     * bring, if there are any. On the volume's thread; borrows the buffers. If it cannot be done the key holds nothing
     * here.
     *
     * @param then is told when the object counts, or why it does not
     */
    public void appendComplete(DiskKey key, long objectId, KeepTimes times, ByteBuf head, ByteBuf body, Appended then) {
        RecordHeader header = RecordHeader.complete(
                        key, objectId, head.readableBytes(), times.expiry(), body.readableBytes())
                .pinnedUntil(times.pinnedUntil());
        writer.appendComplete(header, key, head, body, then);
    }

    /** As {@link #appendComplete}, for an object whose body was appended before. */
    public void appendHead(DiskKey key, long objectId, KeepTimes times, ByteBuf head, BodyPlace place)
            throws IOException {
        RecordHeader header = RecordHeader.head(key, objectId, head.readableBytes(), times.expiry(), place)
                .pinnedUntil(times.pinnedUntil());
        writer.appendObject(header, place, key, head, Unpooled.EMPTY_BUFFER);
    }

    /**
     * Appends one block; returns where it lies. On the volume's thread; borrows the buffer.
     *
     * @param keyHash lower half of the hash of the object's key
     * @param pinnedUntil until when the object is pinned, as far as known; for statistics
     */
    public long appendBlock(long keyHash, long objectId, int number, long pinnedUntil, ByteBuf content)
            throws IOException {
        return writer.appendBlock(keyHash, objectId, number, pinnedUntil, content);
    }

    /** Appends a tombstone; from here on the key holds nothing, come what may. On the volume's thread. */
    public boolean appendTombstone(DiskKey key) throws IOException {
        boolean present = mayHold(key.hashHigh(), key.hashLow());
        writer.appendTombstone(key);
        return present;
    }

    /** Removes an object found damaged, if the key still has that record. On the volume's thread. */
    public void drop(DiskKey key, long location) {
        writer.drop(key, location);
    }

    /** Takes a block out of the index. On the volume's thread. */
    public void dropBlock(long hashHigh, long hashLow, long location) {
        writer.dropBlock(hashHigh, hashLow, location);
    }

    /**
     * The key holds nothing here any more although the log cannot say so now: the index says it, and the log as soon as
     * it takes records again, so that no rebuild brings the key's old record back. On the volume's thread.
     */
    public void forget(DiskKey key) {
        writer.forget(key);
    }

    /** Counts an I/O error of any thread; returns it. */
    public IOException failed(IOException e) {
        return health.failed(e);
    }

    /** Takes the volume out: its files are not at its path any more. Any thread. */
    public void removed(String fault) {
        health.giveUp(new IOException(directory() + ": " + fault));
    }

    private void givenUp() {
        // It misses removals from now on. That is written down, if it can be.
        thread.executeBeyond(membership::leave, Integer.MAX_VALUE);
        listener.offline(this);
    }

    /** Writes the superblock with another generation and other members. On the volume's thread. */
    public void membership(long generation, List<UUID> members) {
        membership.write(generation, members);
    }

    /** Queues what makes the volume leave its store; to be drained. */
    public void leaveSoon() {
        thread.executeBeyond(membership::leave, Integer.MAX_VALUE);
    }

    /** Whether it is not, or no longer, a member of its store. To be asked by who ended its thread. */
    public boolean hasLeft() {
        return membership.hasLeft();
    }

    /**
     * What the keys hold changed while the volume was away: they are not found from now on, and their tombstones are
     * queued. One call at a time is under way.
     */
    public void changedMeanwhile(List<DiskKey> keys) throws IOException {
        Set<Hash> out = new HashSet<>();
        for (DiskKey key : keys) {
            out.add(new Hash(key.hashHigh(), key.hashLow()));
        }
        hidden = out;
        boolean taken = execute(() -> {
            for (DiskKey key : keys) {
                writer.changedMeanwhile(key);
            }
            hidden = null;
        });
        if (!taken) {
            throw new IOException(directory() + ": volume is " + state() + " or its queue is full");
        }
    }

    /** Appends the key's tombstone, or owes it. On the volume's thread. */
    public void hideForGood(DiskKey key) {
        writer.hideForGood(key);
    }

    /** Waits until what was queued before has been done. Not for the volume's own thread. */
    public void drain() throws IOException {
        CountDownLatch done = new CountDownLatch(1);
        while (!execute(done::countDown)) {
            health.checkWorking();
            // The queue is full: there is room as soon as the thread has done some of it.
            LockSupport.parkNanos(FULL_QUEUE_WAIT_NANOS);
        }
        try {
            done.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(directory() + ": interrupted", e);
        }
    }

    /** Forces what was written to the device, if anything was. Blocks. */
    public void force() throws IOException {
        writer.force();
    }

    /**
     * Writes what is queued, forces it, tells the next owner that all segments are read, and gives the lease back. Records
     * are found until {@link #endReads}; if the next owner could not be told, reads fail at once. A volume whose index is
     * not whole finds nothing from here on.
     */
    public void release() throws IOException {
        ending.end(VolumeState.RELEASED, () -> stopping(false));
    }

    /**
     * Finds no record from here on, and tells the next owner which segments are pinned. Pinned records stay readable until
     * {@link #closeFile}. Only after {@link #release}; blocks on the disk.
     */
    public void endReads() {
        ending.endReads();
    }

    /** Writes what is queued, forces it, gives the lease back and closes the file: reads fail from here on. */
    public void close() throws IOException {
        try {
            ending.end(VolumeState.CLOSED, () -> stopping(true));
        } finally {
            ending.closeFile();
        }
    }

    private void stopping(boolean forGood) {
        try {
            while (log.tendRetired()) {
                // The next one to open the index is to find no more in it than there is.
            }
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
        }
        listener.stopping(this, forGood);
    }

    /** Closes the file: reads fail from here on. */
    public void closeFile() throws IOException {
        ending.closeFile();
    }

    /** Tells the next owner which pins have gone since {@link #endReads}. Blocks on the disk. */
    public void shortenReaderList() {
        ending.shortenReaderList();
    }

    /** The pins are another volume's of this process now, which owns the path again. */
    public void passOnReaders() throws IOException {
        ending.passOnReaders();
    }

    /**
     * The records of a segment that the caller has pinned, in their order: from its summary, else by reading their
     * headers.
     */
    public SegmentSummary records(int segment, long tag) throws IOException {
        boolean mayHaveHoles = table.state(segment) == SegmentTable.State.SEALED;
        return segments.records(segment, tag, mayHaveHoles);
    }

    private long ofIndex(LongSupplier figure) {
        try {
            return figure.getAsLong();
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
            return 0;
        }
    }

    /** Sequence of the last record in the index; 0 when the index has failed. */
    public long applied() {
        return ofIndex(index::applied);
    }

    /** Objects in the index; 0 when it has failed. */
    public long entries() {
        return ofIndex(index::objects);
    }

    /** Index entries that had to go because the index was full and could not grow. */
    public long indexEvictions() {
        return index.evictions();
    }

    /** Bytes of segments that hold records. */
    public long usedBytes() {
        return table.usedBytes();
    }

    /** Bytes of all segments. */
    public long bytesMax() {
        return (long) segments.segmentBytes() * table.usable();
    }

    /** I/O errors so far. */
    public long errors() {
        return health.errors();
    }

    /** The last I/O error. */
    public @Nullable IOException lastError() {
        return health.lastError();
    }

    /** Bytes of records appended so far. */
    public long bytesWritten() {
        return log.bytesWritten();
    }

    /** Bytes of records that were carried from segments given up, and not for any caller, so far. */
    public long bytesCarried() {
        return carry.bytesCarried();
    }

    /** Bytes of pinned records, those that were replaced or removed since included until their segment is given up. */
    public long bytesPinned() {
        return log.pinned().total(System.currentTimeMillis() / 1000);
    }

    /** Records given up although they were pinned, so far. */
    public long pinsBroken() {
        return carry.pinsBroken();
    }

    /** Segments given up so far. */
    public long segmentsReclaimed() {
        return log.reclaimed();
    }

    /** Id of the volume. */
    public UUID id() {
        return membership.superblock().volumeId();
    }
}
