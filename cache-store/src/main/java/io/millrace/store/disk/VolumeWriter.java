package io.millrace.store.disk;

import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordAppendCallback;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The writer of a volume: appends records to its log, enters them in its index, and keeps the tombstones (records of
 * removals) that could not be appended yet. If the index fails, the volume goes offline and the caller receives an
 * {@link IOException}.
 *
 * <p>Confined to the volume's thread, except {@link #force}.
 */
final class VolumeWriter {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeWriter.class);
    /** Limit of tombstones that could not be appended yet. Above it the volume goes offline. */
    private static final int PENDING_MAX = 1000;

    private static final byte[] NO_KEY = {};

    private final Path directory;
    private final MappedIndex index;
    private final SegmentTable table;
    private final SegmentFile segments;
    private final SegmentLog log;
    private final VolumeHealth health;
    private final OnStored onStored;
    private final GatheredObjects gathered;
    /** Keys whose tombstones must still be appended. */
    private final ArrayDeque<DiskKey> pending = new ArrayDeque<>();

    private final ReentrantLock forcing = new ReentrantLock();
    /** True if records were written since the last force. */
    private volatile boolean dirty;

    /** The callback that receives the location of an object's newest record. */
    interface OnStored {
        /**
         * Called after the index has the record.
         *
         * @param receiver receives the result of the append after this call; null if not known
         * @param head the encoded head, borrowed; null if {@code receiver} is known
         */
        void stored(
                RecordHeader header,
                DiskKey key,
                long location,
                @Nullable RecordAppendCallback receiver,
                @Nullable ByteBuf head);
    }

    VolumeWriter(VolumeParts parts, SegmentFile segments, SegmentLog log, VolumeHealth health, OnStored onStored) {
        this.directory = parts.directory();
        this.index = parts.index();
        this.table = parts.table();
        this.segments = segments;
        this.log = log;
        this.health = health;
        this.onStored = onStored;
        gathered = new GatheredObjects(log, index, new GatheringOwner());
    }

    private final class GatheringOwner implements GatheredObjects.Owner {
        @Override
        public void checkWorking() throws IOException {
            health.checkWorking();
        }

        @Override
        public void succeeded() throws IOException {
            VolumeWriter.this.succeeded();
        }

        @Override
        public void failed(IOException e) {
            health.failed(e);
        }

        @Override
        public IOException indexFailed(Throwable e) {
            return health.indexFailed(e);
        }

        @Override
        public void forget(DiskKey key) {
            VolumeWriter.this.forget(key);
        }

        @Override
        public void stored(RecordBatch.Member member) {
            onStored.stored(member.header(), member.key(), member.location(), member.callback(), null);
        }
    }

    /** Writes the batch of gathered objects. Call before the log is read and before any other append. */
    void writeBatch() {
        gathered.writeBatch();
    }

    /** Appends a whole object, a short one in a batch; {@code callback} receives the result. */
    void appendComplete(RecordHeader header, DiskKey key, ByteBuf head, ByteBuf body, RecordAppendCallback callback) {
        if (SegmentLog.isGathered(header.recordLength())) {
            gathered.add(header, key, head, body, callback);
            return;
        }
        gathered.writeBatch();
        IOException failure = null;
        try {
            appendObject(header, null, key, head, body);
        } catch (IOException e) {
            failure = e;
        }
        callback.appended(failure);
    }

    /** Appends an object's record with {@code head}, followed by {@code body}. */
    void appendObject(RecordHeader header, @Nullable BodyPlace place, DiskKey key, ByteBuf head, ByteBuf body)
            throws IOException {
        try {
            health.checkWorking();
            BodyPlace placeNow = afterPacing(header, place, key);
            long location = log.write(header, placeNow, key.bytes(), head, body);
            // The new head keeps the hit count.
            int hits = index.hits(key.hashHigh(), key.hashLow());
            index.put(key.hashHigh(), key.hashLow(), location, header.expiry(), hits);
            // The inventory learns of the record before a tombstone can begin the next segment.
            onStored.stored(header, key, location, null, head);
            succeeded();
        } catch (IOException e) {
            forget(key);
            throw health.failed(e);
        } catch (RuntimeException | InternalError e) {
            throw health.indexFailed(e);
        }
    }

    /**
     * Copies the records that must be carried forward before this record is appended. If the body of the new head is
     * among them, returns its new place, because the segment with its old place is about to be reclaimed.
     */
    private @Nullable BodyPlace afterPacing(RecordHeader header, @Nullable BodyPlace place, DiskKey key)
            throws IOException {
        long locationBefore = index.find(key.hashHigh(), key.hashLow());
        log.pace(header.recordLength());
        long locationNow = index.find(key.hashHigh(), key.hashLow());
        if (place == null || place.blockBytes() > 0 || locationNow == locationBefore || locationNow == Location.NONE) {
            return place;
        }
        int segment = Location.segment(locationNow);
        return BodyPlace.inRecord(place.bodyLength(), segment, Location.offset(locationNow), table.tag(segment));
    }

    /** Appends one block; returns its location. A block without content removes the earlier one from the index. */
    long appendBlock(long keyHash, long objectId, int number, long pinnedUntil, ByteBuf content) throws IOException {
        try {
            health.checkWorking();
            RecordHeader header = RecordHeader.block(keyHash, objectId, number, content.readableBytes())
                    .pinnedUntil(pinnedUntil);
            long location = log.append(header, null, NO_KEY, Unpooled.EMPTY_BUFFER, content);
            if (header.isRevocation()) {
                index.putTombstone(header.hashHigh(), header.hashLow(), location);
            } else {
                index.putBlock(header.hashHigh(), header.hashLow(), location);
            }
            succeeded();
            return location;
        } catch (IOException e) {
            throw health.failed(e);
        } catch (RuntimeException | InternalError e) {
            throw health.indexFailed(e);
        }
    }

    /** Appends a tombstone. From now on the key holds no object, even if the append fails. */
    void appendTombstone(DiskKey key) throws IOException {
        try {
            health.checkWorking();
            long location = log.append(
                    RecordHeader.tombstone(key), null, key.bytes(), Unpooled.EMPTY_BUFFER, Unpooled.EMPTY_BUFFER);
            if (health.state() == VolumeState.OPENING) {
                index.putTombstone(key.hashHigh(), key.hashLow(), location);
            } else {
                index.remove(key.hashHigh(), key.hashLow());
            }
            succeeded();
        } catch (IOException e) {
            forget(key);
            throw health.failed(e);
        } catch (RuntimeException | InternalError e) {
            throw health.indexFailed(e);
        }
    }

    /** Removes a damaged object, if the key still has that record. */
    void drop(DiskKey key, long location) {
        if (find(key) == location) {
            removeWithRetry(key);
        }
    }

    /** Removes a block from the index. */
    void dropBlock(long hashHigh, long hashLow, long location) {
        try {
            index.removeIf(hashHigh, hashLow, location);
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
        }
    }

    /**
     * Removes the key's object, because it changed while the volume was offline. No effect if the key holds no object.
     */
    void applyMissedChange(DiskKey key) {
        if (health.state() == VolumeState.OPENING || find(key) != Location.NONE || isMissUnreliable(key)) {
            removeWithRetry(key);
        }
    }

    /** Removes the key's object: appends a tombstone now, or later if that fails. */
    void removeWithRetry(DiskKey key) {
        try {
            appendTombstone(key);
        } catch (IOException e) {
            LOG.debug("{}: a tombstone cannot be written now and is written later: {}", directory, e.toString());
        }
    }

    /**
     * Removes the key from the index although no tombstone can be appended now. The tombstone is appended as soon as
     * the log accepts records again, so that a rebuild does not restore the old record.
     */
    void forget(DiskKey key) {
        gathered.writeBatch();
        try {
            if (health.state() == VolumeState.OPENING) {
                index.maskRecords(key.hashHigh(), key.hashLow());
            } else {
                index.remove(key.hashHigh(), key.hashLow());
            }
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
        }
        if (health.isWorking()) {
            pending.add(key);
        }
        if (pending.size() > PENDING_MAX) {
            health.takeOffline(new IOException(
                    "too many tombstones could not be written: actual=" + pending.size() + ", limit=" + PENDING_MAX));
        }
    }

    private long find(DiskKey key) {
        try {
            return index.find(key.hashHigh(), key.hashLow());
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
            return Location.NONE;
        }
    }

    /** Returns true if a damaged slot of the index may have contained the key. */
    private boolean isMissUnreliable(DiskKey key) {
        try {
            return index.isMissUnreliable(key.hashHigh(), key.hashLow());
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
            return true;
        }
    }

    private void appendPendingTombstones() throws IOException {
        while (!pending.isEmpty()) {
            DiskKey key = pending.peek();
            // If the key has a newer object, no tombstone is appended: the record of the newer object already hides the
            // old one.
            if (index.find(key.hashHigh(), key.hashLow()) == Location.NONE) {
                log.append(
                        RecordHeader.tombstone(key), null, key.bytes(), Unpooled.EMPTY_BUFFER, Unpooled.EMPTY_BUFFER);
                log.markIndexCurrent();
            }
            pending.remove();
        }
    }

    private void succeeded() throws IOException {
        log.markIndexCurrent();
        dirty = true;
        appendPendingTombstones();
        health.succeeded();
    }

    /** Forces written bytes to the device, if there are any. Blocks. Any thread. */
    void force() throws IOException {
        // The lock is held during the force. So a thread that finds nothing to force knows that earlier forces are
        // complete.
        forcing.lock();
        try {
            if (dirty) {
                dirty = false;
                segments.force();
            }
        } catch (IOException e) {
            dirty = true;
            throw health.failed(e);
        } finally {
            forcing.unlock();
        }
    }
}
