package io.millrace.store.engine;

import static io.millrace.store.engine.object.ObjectAppender.diskKey;

import io.millrace.store.StoreKey;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.DiskRecord;
import io.millrace.store.disk.record.KeepTimes;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.engine.filling.FillRegister;
import io.millrace.store.engine.filling.FillTarget;
import io.millrace.store.engine.filling.FillingObject;
import io.millrace.store.engine.object.ObjectAppender;
import io.millrace.store.engine.object.ResidentObject;
import io.millrace.store.engine.object.StoreCounters;
import io.millrace.store.engine.object.StoreObject;
import io.millrace.store.engine.volume.VolumeGroup;
import io.millrace.store.memory.RamTier;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.BitSet;

/**
 * Applies the changes of partial objects, of which only some blocks are stored.
 *
 * <p>Publishes partial objects while they grow, rewrites the head record after more blocks are on disk, and removes
 * objects that cannot be kept. Each fill (an object being written) has a ticket in {@link FillRegister}, which shows
 * whether its key was removed or changed in the meantime.
 *
 * <p>Thread-safe.
 */
final class PartialChanges<H> {
    private final StoreCounters counters;
    private final RamTier<ResidentObject<H>> ram;
    private final VolumeGroup volumes;
    private final ObjectLoader<H> loader;
    private final ObjectAppender<H> appender;
    private final FillRegister fills;
    private final PendingChanges<H> pending;
    /** The changes of all objects. It delegates the changes of partial objects to this class. */
    private final ObjectChanges<H> allChanges;

    PartialChanges(
            StoreCounters counters,
            RamTier<ResidentObject<H>> ram,
            VolumeGroup volumes,
            ObjectLoader<H> loader,
            ObjectAppender<H> appender,
            FillRegister fills,
            PendingChanges<H> pending,
            ObjectChanges<H> allChanges) {
        this.counters = counters;
        this.ram = ram;
        this.volumes = volumes;
        this.loader = loader;
        this.appender = appender;
        this.fills = fills;
        this.pending = pending;
        this.allChanges = allChanges;
    }

    /**
     * Stores an object, whose first blocks are queued, under its key. No effect if the key holds an object.
     *
     * @return whether the object was stored
     */
    boolean publishPartial(FillTarget target, FillingObject<H> object) {
        StoreKey key = target.key();
        Volume volume = target.volume();
        H head = object.body().head();
        boolean[] done = {false};
        pending.change(key, before -> {
            VolumeGroup.Slot[] slotsSeen = volumes.slots();
            boolean isKeyFree = before == null && !ram.contains(key.hashLow(), key.bytes()) && !volumes.mayHold(key);
            if (!isKeyFree || volume == null || head == null || isEnded(target)) {
                return before;
            }
            PendingChange<H> change = PendingChange.stored(object.withHead(head, 0));
            done[0] = pending.enqueueAtOnce(volume, key, change, working -> {
                BodyPlace place = object.body().place();
                if (place != null) {
                    appender.head(working, object, head, place);
                }
            });
            if (!done[0]) {
                change.release();
                return before;
            }
            volumes.recordMissedChange(key, slotsSeen);
            fills.replace(key, object.objectId());
            return change;
        });
        return done[0];
    }

    private boolean isEnded(FillTarget target) {
        return target.ticket().isInvalidated() || target.ticket().isOvertaken() || allChanges.isClosed();
    }

    /**
     * Rewrites the head record of a partial object with the list of blocks on disk. The rewrite is queued after the
     * blocks that are already queued. No effect if the key holds another object.
     *
     * @return whether the rewrite was queued
     */
    boolean refreshHead(FillTarget target, FillingObject<H> object) {
        return onVolume(target, object, volume -> refreshNow(volume, object));
    }

    /**
     * Removes blocks of a partial object from the index and from the head record. If the blocks cannot be removed,
     * removes the whole object.
     *
     * <p>For each removed block, an empty block is appended to the log. Example: the block is later stored again, and a
     * head record lists it. A power failure then loses the new block but not that head record. Without the empty block,
     * a rebuild of the index would use the old, removed block. The protection begins when the volume is synced.
     *
     * <p>Empty blocks are not added to the index. A reader that opens the object before the new head record is written
     * still sees the old list of blocks, and would read an empty block as content.
     */
    void removeBlocks(FillTarget target, FillingObject<H> object, BitSet blocks) {
        boolean taken = onVolume(target, object, volume -> {
            // All blocks are dropped before the first empty block is appended. None stays readable if an append fails.
            for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
                object.body().dropBlock(block);
            }
            for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
                volume.appendBlock(object.key().hashLow(), object.objectId(), block, 0, Unpooled.EMPTY_BUFFER);
            }
            refreshNow(volume, object);
        });
        if (!taken && !blocks.isEmpty()) {
            object.body().revoke();
            withdraw(target, object, true);
        }
    }

    private boolean onVolume(FillTarget target, FillingObject<H> object, PendingWrite.VolumeWrite write) {
        Volume volume = target.volume();
        if (volume == null) {
            return false;
        }
        object.retain();
        boolean taken = volume.execute(() -> {
            try {
                write.apply(volume);
            } catch (IOException e) {
                counters.writesFailed.increment();
            } finally {
                object.release();
            }
        });
        if (!taken) {
            object.release();
        }
        return taken;
    }

    private void refreshNow(Volume volume, FillingObject<H> object) throws IOException {
        BodyPlace place = object.body().place();
        if (place == null) {
            return;
        }
        DiskRecord record = loader.currentHead(volume, object.key(), object.objectId());
        if (record == null) {
            return;
        }
        try {
            RecordHeader header = record.header();
            if (header.type() == RecordType.HEAD && !record.place().equals(place)) {
                volume.appendHead(diskKey(object.key()), header.objectId(), KeepTimes.of(header), record.head(), place);
            }
        } finally {
            record.release();
        }
    }

    /**
     * Withdraws a new object, which could not be completed. Removes its blocks from the index, and the partial object
     * from its key if it was stored there.
     *
     * @param published whether the partial object was stored under the key
     */
    void withdraw(FillTarget target, FillingObject<H> object, boolean published) {
        if (target.volume() == null) {
            return;
        }
        if (published) {
            drop(target, object);
        }
        onVolume(target, object, working -> object.body().dropBlocks());
    }

    /** Removes a published partial object from its key. No effect if the key holds another object by now. */
    private void drop(FillTarget target, FillingObject<H> object) {
        StoreKey key = target.key();
        PendingChange<H> change = PendingChange.removed();
        change.begin();
        boolean[] queued = {false};
        pending.change(key, before -> {
            if (target.ticket().isInvalidated() || target.ticket().isReplaced()) {
                return before;
            }
            // Since the fill began, the volume may have gone offline and returned as another Volume instance.
            Volume volumeNow = volumes.working(object.volume());
            if (volumeNow != null
                    && pending.enqueueAtOnce(volumeNow, key, change, working -> dropNow(working, object))) {
                pending.takeOver(key, volumeNow, before, change);
                queued[0] = true;
                return change;
            }
            volumes.recordMissedChange(key, object.volume(), volumeNow);
            // The volume has not accepted the tombstone (the record of the removal). As with a removal, the pending
            // change hides the object at least in this process.
            boolean staysPending = (allChanges.isSuspended() || volumeNow != null)
                    && pending.size() < ObjectChanges.DEFERRED_REMOVALS_MAX;
            return staysPending ? change : before;
        });
        if (queued[0]) {
            pending.end(key, change);
        }
    }

    /** Removes the object from its key on this volume, if the key still holds it. Called on the volume's thread. */
    void dropNow(Volume volume, StoreObject<H> object) throws IOException {
        DiskRecord record = loader.currentHead(volume, object.key(), object.objectId());
        if (record != null) {
            record.release();
            volume.appendTombstone(diskKey(object.key()));
        }
    }
}
