package io.millrace.store.disk;

import io.millrace.store.disk.record.Appended;
import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.DiskKey;
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
 * Appends records to a volume's log, enters them in its index, and remembers which tombstones could not be appended.
 * When the index fails the volume is given up, and the caller is told so by an {@link IOException}.
 *
 * <p>Confined to the volume's thread, but for {@link #force}.
 */
final class VolumeWriter {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeWriter.class);
    private static final int OWED_MAX = 1000;
    private static final byte[] NO_KEY = {};

    private final Path directory;
    private final MappedIndex index;
    private final SegmentTable table;
    private final SegmentFile segments;
    private final SegmentLog log;
    private final VolumeHealth health;
    private final OnStored onStored;
    private final GatheredObjects gathered;
    /** Keys whose tombstones could not be appended. */
    private final ArrayDeque<DiskKey> owed = new ArrayDeque<>();

    private final ReentrantLock forcing = new ReentrantLock();
    /** Whether anything was written since the last force. */
    private volatile boolean dirty;

    /** Is told where an object's newest record lies. */
    interface OnStored {
        void stored(RecordHeader header, DiskKey key, long location, @Nullable Appended told);
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
            onStored.stored(member.header(), member.key(), member.location(), member.then());
        }
    }

    /** Writes what was gathered: before anything else looks at the log or is appended. */
    void settle() {
        gathered.settle();
    }

    /** Appends a whole object, a short one with others; {@code then} is told when it counts or why it does not. */
    void appendComplete(RecordHeader header, DiskKey key, ByteBuf head, ByteBuf body, Appended then) {
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

    /** Appends an object's record, its head being {@code head} and what follows it {@code body}. */
    void appendObject(RecordHeader header, @Nullable BodyPlace place, DiskKey key, ByteBuf head, ByteBuf body)
            throws IOException {
        try {
            health.checkWorking();
            BodyPlace placeNow = afterPacing(header, place, key);
            long location = log.write(header, placeNow, key.bytes(), head, body);
            // What was asked for often stays so under a new head.
            int hits = index.hits(key.hashHigh(), key.hashLow());
            index.put(key.hashHigh(), key.hashLow(), location, header.expiry(), hits);
            succeeded();
            onStored.stored(header, key, location, null);
        } catch (IOException e) {
            forget(key);
            throw health.failed(e);
        } catch (RuntimeException | InternalError e) {
            throw health.indexFailed(e);
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

    /** Appends one block; returns where it lies. */
    long appendBlock(long keyHash, long objectId, int number, long pinnedUntil, ByteBuf content) throws IOException {
        try {
            health.checkWorking();
            RecordHeader header = RecordHeader.block(keyHash, objectId, number, content.readableBytes())
                    .pinnedUntil(pinnedUntil);
            long location = log.append(header, null, NO_KEY, Unpooled.EMPTY_BUFFER, content);
            index.putBlock(header.hashHigh(), header.hashLow(), location);
            succeeded();
            return location;
        } catch (IOException e) {
            throw health.failed(e);
        } catch (RuntimeException | InternalError e) {
            throw health.indexFailed(e);
        }
    }

    /** Appends a tombstone; from here on the key holds nothing, come what may. */
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

    /** Removes an object found damaged, if the key still has that record. */
    void drop(DiskKey key, long location) {
        if (find(key) == location) {
            hideForGood(key);
        }
    }

    /** Takes a block out of the index. */
    void dropBlock(long hashHigh, long hashLow, long location) {
        try {
            index.removeIf(hashHigh, hashLow, location);
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
        }
    }

    /** The key changed while the volume was away: it holds nothing, if it does not hold nothing already. */
    void changedMeanwhile(DiskKey key) {
        if (health.state() == VolumeState.OPENING || find(key) != Location.NONE || isDoubtful(key)) {
            hideForGood(key);
        }
    }

    /** Appends the key's tombstone, or owes it. */
    void hideForGood(DiskKey key) {
        try {
            appendTombstone(key);
        } catch (IOException e) {
            LOG.debug("{}: tombstone is owed: {}", directory, e.toString());
        }
    }

    /**
     * The key holds nothing here any more although the log cannot say so now: the index says it, and the log as soon as
     * it takes records again, so that no rebuild brings the key's old record back.
     */
    void forget(DiskKey key) {
        gathered.settle();
        try {
            if (health.state() == VolumeState.OPENING) {
                index.hide(key.hashHigh(), key.hashLow());
            } else {
                index.remove(key.hashHigh(), key.hashLow());
            }
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
        }
        if (health.isWorking()) {
            owed.add(key);
        }
        if (owed.size() > OWED_MAX) {
            health.giveUp(new IOException("tombstones owed: " + owed.size()));
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

    private boolean isDoubtful(DiskKey key) {
        try {
            return index.isDoubtful(key.hashHigh(), key.hashLow());
        } catch (RuntimeException | InternalError e) {
            health.indexFailed(e);
            return true;
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

    private void succeeded() throws IOException {
        log.applied();
        dirty = true;
        payOwed();
        health.succeeded();
    }

    /** Forces what was written to the device, if anything was. Blocks. Any thread. */
    void force() throws IOException {
        // Held over the device's work: who finds nothing to do may rely on it being done.
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
