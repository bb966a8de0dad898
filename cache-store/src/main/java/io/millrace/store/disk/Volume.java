package io.millrace.store.disk;

import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import io.millrace.store.io.FileFaults;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

    private static final Logger LOG = LoggerFactory.getLogger(Volume.class);
    private static final int QUEUE_TASKS_MAX = 1 << 16;
    private static final int OWED_MAX = 1000;
    private static final long FULL_QUEUE_WAIT_NANOS = 100_000;
    private static final byte[] NO_KEY = {};

    private final VolumeParts parts;
    private final MappedIndex index;
    private final SegmentTable table;
    private final SegmentFile segments;
    private final RecordReader reader;
    private final SegmentLog log;
    private final CarryForward carry;
    private final GatheredObjects gathered;
    private final VolumeThread thread;
    private final Listener listener;
    /** Keys whose tombstones could not be appended. Confined to the volume's thread. */
    private final ArrayDeque<DiskKey> owed = new ArrayDeque<>();

    private final AtomicLong queuedBytes = new AtomicLong();
    private final AtomicLong errors = new AtomicLong();
    private final AtomicInteger errorsInARow = new AtomicInteger();
    private volatile Superblock superblock;
    private volatile State state;
    /** Whether anything was written since the last force. */
    private volatile boolean dirty;

    private final ReentrantLock forcing = new ReentrantLock();

    private volatile @Nullable IOException lastError;
    /** Keys that are not found although the index may still have them. */
    private volatile @Nullable Set<Hash> hidden;

    private record Hash(long high, long low) {}

    /** Whether a volume works. */
    public enum State {
        /** Its index is being rebuilt: what it does not find may be there all the same. */
        OPENING,
        /** It reads and writes. */
        ONLINE,
        /** Its lease was given back; pinned records can still be read. */
        SUSPENDED,
        /** Given up after errors. */
        OFFLINE,
        /** Closed. */
        CLOSED
    }

    /** Is told of changes; called on any thread of the store. */
    public interface Listener {
        /** A segment was filled: time to force the file. */
        void segmentSealed(Volume volume);

        /** The index is whole from now on. */
        void opened(Volume volume);

        /** The volume was given up. */
        void offline(Volume volume);

        /** An object's newest record lies at {@code location} from now on. On the volume's thread. */
        void stored(Volume volume, long hashHigh, long hashLow, long location);

        /**
         * Nothing is appended any more; reads still work, and the lease is held until this returns. On the volume's
         * thread.
         *
         * @param forGood whether the volume is closed, not handed over
         */
        void stopping(Volume volume, boolean forGood);
    }

    /** Work that makes the index whole while the volume already runs. */
    @FunctionalInterface
    public interface Rebuild {
        /** Does a little on the volume's thread; false when the index is whole and marked so. */
        boolean step() throws IOException;
    }

    /**
     * Makes the volume; {@link #start} sets it going.
     *
     * @param rebuild what is still to be done for the index, null when it is whole
     */
    public Volume(VolumeParts parts, ByteBufAllocator allocator, Listener listener, @Nullable Rebuild rebuild) {
        this.parts = parts;
        this.listener = listener;
        superblock = parts.superblock();
        index = parts.index();
        table = parts.table();
        segments = new SegmentFile(parts.file(), superblock);
        reader = new RecordReader(segments, allocator);
        log = new SegmentLog(segments, parts, () -> listener.segmentSealed(this));
        gathered = new GatheredObjects(log, index, new GatheringOwner());
        carry = new CarryForward(log, parts, segments, reader, gathered::settle);
        log.carry(carry);
        state = rebuild == null ? State.ONLINE : State.OPENING;
        if (rebuild == null) {
            carry.enable();
        }
        List<VolumeThread.BackgroundWork> works = new ArrayList<>();
        if (rebuild != null) {
            works.add(settled(
                    () -> step(rebuild) ? VolumeThread.BackgroundWork.AT_ONCE : VolumeThread.BackgroundWork.IDLE));
        }
        works.add(this::tendIndex);
        if (table.usable() < table.segments()) {
            works.add(settled(new Shrinking(parts, segments, log, new ShrinkingOwner())));
        }
        thread = new VolumeThread(
                "millrace-store-" + parts.directory().getFileName(), QUEUE_TASKS_MAX, works, gathered::settle);
    }

    /** Work that looks at the log: what was gathered is to be there. */
    private VolumeThread.BackgroundWork settled(VolumeThread.BackgroundWork work) {
        return () -> {
            gathered.settle();
            return work.step();
        };
    }

    private final class GatheringOwner implements GatheredObjects.Owner {
        @Override
        public void checkWorking() throws IOException {
            Volume.this.checkWorking();
        }

        @Override
        public void succeeded() throws IOException {
            Volume.this.succeeded();
        }

        @Override
        public void failed(IOException e) {
            Volume.this.failed(e);
        }

        @Override
        public void forget(DiskKey key) {
            Volume.this.forget(key);
        }

        @Override
        public void stored(DiskKey key, long location) {
            listener.stored(Volume.this, key.hashHigh(), key.hashLow(), location);
        }
    }

    private final class ShrinkingOwner implements Shrinking.Owner {
        @Override
        public State state() {
            return state;
        }

        @Override
        public void cutOff(int segmentCount) throws IOException {
            superblock = superblock.withSegments(segmentCount).write(parts.file());
            parts.file().resize(superblock.fileBytes());
        }

        @Override
        public IOException failed(IOException e) {
            return Volume.this.failed(e);
        }
    }

    /** Sets what says which records are kept when their segment is given up. Before {@link #start}. */
    public void keep(KeepPolicy policy) {
        carry.policy(policy);
    }

    /** Starts the volume's thread. */
    public void start() {
        thread.start();
    }

    private boolean step(Rebuild rebuild) {
        if (state != State.OPENING) {
            return false;
        }
        try {
            if (rebuild.step()) {
                return true;
            }
            state = State.ONLINE;
            carry.enable();
            listener.opened(this);
        } catch (IOException e) {
            failed(e);
            giveUp(e);
        } catch (RuntimeException | InternalError e) {
            giveUp(new IOException("rebuild of the index failed", e));
        }
        return false;
    }

    /** Makes the index larger and cleans it up. */
    private long tendIndex() {
        try {
            return isWorking() && index.step() ? VolumeThread.BackgroundWork.AT_ONCE : VolumeThread.BackgroundWork.IDLE;
        } catch (RuntimeException | InternalError e) {
            giveUp(new IOException("index failed", e));
            return VolumeThread.BackgroundWork.IDLE;
        }
    }

    /** The storage path. */
    public Path directory() {
        return parts.directory();
    }

    /** Whether it works. */
    public State state() {
        return state;
    }

    /** Whether records can be found and written. */
    public boolean isWorking() {
        State now = state;
        return now == State.ONLINE || now == State.OPENING;
    }

    /** What the volume is. */
    public Superblock superblock() {
        return superblock;
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
        return SegmentLog.recordLengthMax(superblock.segmentBytes());
    }

    /** Where the hash's newest record lies, {@link Location#NONE} when it has none or the volume does not work. */
    public long find(long hashHigh, long hashLow) {
        Set<Hash> out = hidden;
        if (!isWorking() || (out != null && out.contains(new Hash(hashHigh, hashLow)))) {
            return Location.NONE;
        }
        long location = index.find(hashHigh, hashLow);
        return location != Location.NONE && table.isLive(location) ? location : Location.NONE;
    }

    /** Whether the hash may have a record: as {@link #find}, but true for all while the index is being rebuilt. */
    public boolean mayHold(long hashHigh, long hashLow) {
        return state == State.OPENING || find(hashHigh, hashLow) != Location.NONE;
    }

    /** Notes in the index that the entry was used. */
    public void hit(long hashHigh, long hashLow) {
        index.hit(hashHigh, hashLow);
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
        // Looked at after the pin was set: who suspends sets the state first and then looks at the pins.
        long tag = isWorking() ? table.tag(segment) : 0;
        if (tag == 0) {
            parts.pins().remove(segment);
        }
        return tag;
    }

    /** Where the segment of that tag lies now, {@code hint} being where it once lay; -1 when it was given up. */
    public int segmentWithTag(int hint, long tag) {
        return table.withTag(hint, tag);
    }

    /** Ends a {@link #pin}. */
    public void unpin(int segment) {
        parts.pins().remove(segment);
    }

    /** Queues a task for the volume's thread; false, and it will never run, when it cannot be taken. */
    public boolean execute(Runnable task) {
        return isWorking() && thread.execute(task);
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
    public void appendComplete(DiskKey key, long objectId, int expiry, ByteBuf head, ByteBuf body, Appended then) {
        RecordHeader header = RecordHeader.complete(key, objectId, head.readableBytes(), expiry, body.readableBytes());
        if (SegmentLog.isGathered(header.recordLength())) {
            gathered.add(header, key, head, body, then);
            return;
        }
        gathered.settle();
        IOException failure = null;
        try {
            appendObject(header, null, key, head, body);
        } catch (IOException e) {
            failure = e;
        }
        then.appended(failure);
    }

    /** As {@link #appendComplete}, for an object whose body was appended before. */
    public void appendHead(DiskKey key, long objectId, int expiry, ByteBuf head, BodyPlace place) throws IOException {
        RecordHeader header = RecordHeader.head(key, objectId, head.readableBytes(), expiry, place);
        appendObject(header, place, key, head, Unpooled.EMPTY_BUFFER);
    }

    private void appendObject(RecordHeader header, @Nullable BodyPlace place, DiskKey key, ByteBuf head, ByteBuf body)
            throws IOException {
        try {
            checkWorking();
            BodyPlace placeNow = afterPacing(header, place, key);
            long location = log.write(header, placeNow, key.bytes(), head, body);
            // What was asked for often stays so under a new head.
            int hits = index.hits(key.hashHigh(), key.hashLow());
            index.put(key.hashHigh(), key.hashLow(), location, header.expiry(), hits);
            succeeded();
            listener.stored(this, key.hashHigh(), key.hashLow(), location);
        } catch (IOException e) {
            forget(key);
            throw failed(e);
        }
    }

    /**
     * Has carried what is due before the record. Should the body of the new head be among that, it lies from now on where
     * the key's newest record does; its old place is about to be given up.
     */
    private @Nullable BodyPlace afterPacing(RecordHeader header, @Nullable BodyPlace place, DiskKey key)
            throws IOException {
        long before = index.find(key.hashHigh(), key.hashLow());
        log.pace(header.recordLength());
        long now = index.find(key.hashHigh(), key.hashLow());
        if (place == null || place.blockBytes() > 0 || now == before || now == Location.NONE) {
            return place;
        }
        int segment = Location.segment(now);
        return BodyPlace.inRecord(place.bodyLength(), segment, Location.offset(now), table.tag(segment));
    }

    /**
     * Appends one block; returns where it lies. On the volume's thread; borrows the buffer.
     *
     * @param keyHash lower half of the hash of the object's key
     */
    public long appendBlock(long keyHash, long objectId, int number, ByteBuf content) throws IOException {
        try {
            checkWorking();
            RecordHeader header = RecordHeader.block(keyHash, objectId, number, content.readableBytes());
            long location = log.append(header, null, NO_KEY, Unpooled.EMPTY_BUFFER, content);
            index.putBlock(header.hashHigh(), header.hashLow(), location);
            succeeded();
            return location;
        } catch (IOException e) {
            throw failed(e);
        }
    }

    /** Appends a tombstone; from here on the key holds nothing, come what may. On the volume's thread. */
    public boolean appendTombstone(DiskKey key) throws IOException {
        boolean present = mayHold(key.hashHigh(), key.hashLow());
        try {
            checkWorking();
            long location = log.append(
                    RecordHeader.tombstone(key), null, key.bytes(), Unpooled.EMPTY_BUFFER, Unpooled.EMPTY_BUFFER);
            if (state == State.OPENING) {
                index.putTombstone(key.hashHigh(), key.hashLow(), location);
            } else {
                index.remove(key.hashHigh(), key.hashLow());
            }
            succeeded();
            return present;
        } catch (IOException e) {
            forget(key);
            throw failed(e);
        }
    }

    /** Removes an object found damaged, if the key still has that record. On the volume's thread. */
    public void drop(DiskKey key, long location) {
        if (index.find(key.hashHigh(), key.hashLow()) == location) {
            try {
                appendTombstone(key);
            } catch (IOException e) {
                LOG.debug("{}: tombstone of a damaged object is owed", directory());
            }
        }
    }

    /** Takes a block out of the index. On the volume's thread. */
    public void dropBlock(long hashHigh, long hashLow, long location) {
        index.removeIf(hashHigh, hashLow, location);
    }

    /**
     * The key holds nothing here any more although the log cannot say so now: the index says it, and the log as soon as
     * it takes records again, so that no rebuild brings the key's old record back. On the volume's thread.
     */
    public void forget(DiskKey key) {
        gathered.settle();
        if (state == State.OPENING) {
            index.hide(key.hashHigh(), key.hashLow());
        } else {
            index.remove(key.hashHigh(), key.hashLow());
        }
        if (isWorking()) {
            owed.add(key);
        }
        if (owed.size() > OWED_MAX) {
            giveUp(new IOException("tombstones owed: " + owed.size()));
        }
    }

    private void payOwed() throws IOException {
        while (!owed.isEmpty()) {
            DiskKey key = owed.peek();
            // A newer object of the key is not to be hidden: its own record hides the old one.
            if (index.find(key.hashHigh(), key.hashLow()) == Location.NONE) {
                log.append(
                        RecordHeader.tombstone(key), null, key.bytes(), Unpooled.EMPTY_BUFFER, Unpooled.EMPTY_BUFFER);
                log.applied();
            }
            owed.remove();
        }
    }

    private void checkWorking() throws IOException {
        if (!isWorking()) {
            throw new IOException(directory() + ": volume is " + state);
        }
    }

    private void succeeded() throws IOException {
        log.applied();
        dirty = true;
        payOwed();
        errorsInARow.set(0);
    }

    /** Counts an I/O error of any thread; returns it. */
    public IOException failed(IOException e) {
        if (e instanceof AppendRefusedException || e instanceof DamagedRecordException || !isWorking()) {
            return e;
        }
        errors.incrementAndGet();
        lastError = e;
        if (errorsInARow.incrementAndGet() >= ERRORS_IN_A_ROW_MAX) {
            giveUp(e);
        } else {
            LOG.warn("{}: {}", directory(), e.toString());
        }
        return e;
    }

    private void giveUp(IOException cause) {
        if (isWorking()) {
            state = State.OFFLINE;
            IOException said = FileFaults.explain(directory(), cause);
            lastError = said;
            LOG.error("{}: volume taken out after I/O errors: {}", directory(), FileFaults.words(said));
            // It misses removals from now on. That is written down, if it can be.
            thread.execute(this::leave);
            listener.offline(this);
        }
    }

    /** Writes the superblock with another generation and other members. On the volume's thread. */
    public void membership(long generation, List<UUID> members) {
        try {
            Superblock next = superblock.with(superblock.storeId(), generation, superblock.openCount(), members);
            superblock = next.write(parts.file());
        } catch (IOException e) {
            failed(e);
        }
    }

    /** Writes the superblock as of one that is no member any more: opened as one it starts empty. */
    private void leave() {
        List<UUID> others = new ArrayList<>(superblock.members());
        others.remove(id());
        membership(superblock.generation(), others);
    }

    /** Queues what makes the volume leave its store; to be drained. */
    public void leaveSoon() {
        execute(this::leave);
    }

    /** Whether it is not, or no longer, a member of its store. To be asked by who ended its thread. */
    public boolean hasLeft() {
        return !superblock.members().contains(id());
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
                if (state == State.OPENING || index.find(key.hashHigh(), key.hashLow()) != Location.NONE) {
                    hideForGood(key);
                }
            }
            hidden = null;
        });
        if (!taken) {
            throw new IOException(directory() + ": volume is " + state + " or its queue is full");
        }
    }

    /** Appends the key's tombstone, or owes it. On the volume's thread. */
    public void hideForGood(DiskKey key) {
        try {
            appendTombstone(key);
        } catch (IOException e) {
            LOG.debug("{}: tombstone of a key that changed meanwhile is owed", directory());
        }
    }

    /** Waits until what was queued before has been done. Not for the volume's own thread. */
    public void drain() throws IOException {
        CountDownLatch done = new CountDownLatch(1);
        while (!execute(done::countDown)) {
            checkWorking();
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
        // Held over the device's work: who finds nothing to do may rely on it being done.
        forcing.lock();
        try {
            if (dirty) {
                dirty = false;
                segments.force();
            }
        } catch (IOException e) {
            dirty = true;
            throw failed(e);
        } finally {
            forcing.unlock();
        }
    }

    /**
     * Writes what is queued, forces it, tells the next owner which segments are pinned, and gives the lease back. Pinned
     * records stay readable until {@link #closeFile}; if the next owner could not be told, reads fail at once.
     */
    public void suspend() throws IOException {
        end(State.SUSPENDED);
    }

    /** As {@link #suspend}, and closes the file: reads fail from here on. */
    public void close() throws IOException {
        try {
            end(State.CLOSED);
        } finally {
            closeFile();
        }
    }

    /** Closes the file: reads fail from here on. */
    public void closeFile() throws IOException {
        try {
            parts.file().close();
        } finally {
            parts.readers().untell();
        }
    }

    /** Tells the next owner which pins have gone since {@link #suspend}. Blocks on the disk. */
    public void shortenReaderList() {
        try {
            parts.readers().shorten(parts.pins(), table);
        } catch (IOException e) {
            LOG.warn("{}: list of segments still read: {}", directory(), e.toString());
        }
    }

    /** The pins are another volume's of this process now, which owns the path again. */
    public void passOnReaders() throws IOException {
        parts.readers().untell();
    }

    private void end(State last) throws IOException {
        IOException[] failure = {null};
        try {
            thread.stop(() -> {
                try {
                    listener.stopping(this, last == State.CLOSED);
                } finally {
                    State before = state;
                    state = last;
                    failure[0] = finish(before);
                }
            });
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(directory() + ": interrupted while closing", e);
        } finally {
            parts.lease().close();
        }
        if (failure[0] != null) {
            throw failure[0];
        }
    }

    private @Nullable IOException finish(State before) {
        try {
            if (before == State.ONLINE) {
                segments.force();
                if (state == State.CLOSED) {
                    index.close();
                }
            }
            return null;
        } catch (IOException e) {
            return e;
        } finally {
            if (state == State.SUSPENDED) {
                tellReaders();
            }
        }
    }

    private void tellReaders() {
        try {
            parts.readers().tell(parts.pins(), table);
        } catch (IOException e) {
            lastError = e;
            LOG.error("{}: list of segments still read: {}; what is being read is cut off", directory(), e.toString());
            try {
                parts.file().close();
            } catch (IOException closing) {
                LOG.warn("{}: {}", directory(), closing.toString());
            }
        }
    }

    /**
     * The records of a segment that the caller has pinned, in their order: from its summary, else by reading their
     * headers.
     */
    public SegmentSummary records(int segment, long tag) throws IOException {
        boolean mayHaveHoles = table.state(segment) == SegmentTable.State.SEALED;
        return segments.records(segment, tag, mayHaveHoles);
    }

    /** Sequence of the last record in the index. */
    public long applied() {
        return index.applied();
    }

    /** Objects in the index. */
    public long entries() {
        return index.objects();
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
        return (long) superblock.segmentBytes() * table.usable();
    }

    /** I/O errors so far. */
    public long errors() {
        return errors.get();
    }

    /** The last I/O error. */
    public @Nullable IOException lastError() {
        return lastError;
    }

    /** Bytes of records appended so far. */
    public long bytesWritten() {
        return log.bytesWritten();
    }

    /** Bytes of records that were carried from segments given up, and not for any caller, so far. */
    public long bytesCarried() {
        return carry.bytesCarried();
    }

    /** Segments given up so far. */
    public long segmentsReclaimed() {
        return log.reclaimed();
    }

    /** Id of the volume. */
    public UUID id() {
        return superblock.volumeId();
    }
}
