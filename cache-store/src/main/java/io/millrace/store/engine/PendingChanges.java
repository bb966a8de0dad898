package io.millrace.store.engine;

import io.millrace.store.StoreKey;
import io.millrace.store.disk.Volume;
import io.millrace.store.engine.object.ObjectAppender;
import io.millrace.store.engine.object.StoreCounters;
import io.millrace.store.engine.object.StoreObject;
import io.millrace.store.engine.volume.VolumeGroup;
import java.io.IOException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The changes of all keys that the volumes' indexes do not contain yet.
 *
 * <p>The index of a volume contains a change only after the log does. Until then this class keeps the change, and
 * every lookup searches this class first.
 *
 * <p>All changes of one key run inside {@link #change}, which serializes them. The step also queues their writes to the
 * volumes. RAM, log and index therefore apply the changes of a key in the same order.
 *
 * <p>A change is removed from this class when all volumes concerned have applied it, unless a newer change has replaced
 * it.
 *
 * <p>Thread-safe.
 *
 * @param <H> the decoded head
 */
final class PendingChanges<H> {
    private final ConcurrentHashMap<StoreKey, PendingChange<H>> changes = new ConcurrentHashMap<>();
    private final StoreCounters counters;
    private final VolumeGroup volumes;
    private final long writeQueueBytesMax;

    PendingChanges(StoreCounters counters, VolumeGroup volumes, long writeQueueBytesMax) {
        this.counters = counters;
        this.volumes = volumes;
        this.writeQueueBytesMax = writeQueueBytesMax;
    }

    /** Returns the pending change of the key; null if there is none. */
    @Nullable
    PendingChange<H> get(StoreKey key) {
        return changes.get(key);
    }

    int size() {
        return changes.size();
    }

    /**
     * One step in the sequence of a key's changes. It receives the pending change, or null for none, and returns the
     * new one.
     */
    interface Step<H> extends BiFunction<StoreKey, @Nullable PendingChange<H>, @Nullable PendingChange<H>> {
        @Nullable
        PendingChange<H> apply(@Nullable PendingChange<H> before);

        @Override
        default @Nullable PendingChange<H> apply(StoreKey key, @Nullable PendingChange<H> before) {
            return apply(before);
        }
    }

    /**
     * Runs a step that changes the key. No other step of the key runs at the same time. The step must not block or
     * change another key, because steps of other keys may wait for it.
     */
    void change(StoreKey key, Step<H> step) {
        changes.compute(key, step);
    }

    void forEach(BiConsumer<StoreKey, PendingChange<H>> each) {
        changes.forEach(each);
    }

    /** Removes the change if it is still the current one. */
    void remove(StoreKey key, PendingChange<H> change) {
        changes.remove(key, change);
    }

    /**
     * Removes older objects of the key from all other volumes. The change stays pending until these volumes have
     * applied the removal. Otherwise an old object would reappear if the new object's volume went offline.
     *
     * <p>Call inside a change of the key.
     *
     * @param volume volume of the new object; null if the object is only in RAM
     * @param isPending whether the key already had a pending change. Its object may be queued for any volume and is in
     *     no index yet, so all other volumes receive the removal.
     * @return whether any volume has to remove an object
     */
    boolean removeFromOtherVolumes(StoreKey key, @Nullable Volume volume, boolean isPending, PendingChange<H> change) {
        boolean queued = false;
        VolumeGroup.Slot[] slotsSeen = volumes.slots();
        for (VolumeGroup.Slot slot : slotsSeen) {
            Volume other = slot.volume();
            if (other == null || other == volume) {
                continue;
            }
            if (isPending || other.mayBringBack(key.hashHigh(), key.hashLow())) {
                queued |= queueRemoval(other, key, change);
            }
        }
        if (volumes.isUnchanged(slotsSeen)) {
            return queued;
        }
        boolean[] any = {queued};
        volumes.recordMissedChange(key, slotsSeen, returned -> {
            boolean taken = returned == volume || queueRemoval(returned, key, change);
            any[0] |= taken;
            return taken;
        });
        return any[0];
    }

    /**
     * Lets {@code change} replace {@code before}, which may still be removing older objects from other volumes. The new
     * change stays pending until these objects are removed. Call inside a change of the key.
     */
    void takeOver(StoreKey key, Volume volume, @Nullable PendingChange<H> before, PendingChange<H> change) {
        if (before != null) {
            removeFromOtherVolumes(key, volume, true, change);
        }
    }

    /**
     * Queues the removal of the key's object from one volume. Returns true if the volume accepted the task. A volume
     * that does not work receives the missed changes when it returns.
     */
    private boolean queueRemoval(Volume volume, StoreKey key, PendingChange<H> change) {
        change.begin();
        boolean taken = volume.executeRemoval(() -> {
            try {
                volume.removeWithRetry(ObjectAppender.diskKey(key));
            } finally {
                end(key, change);
            }
        });
        if (!taken) {
            change.end();
        }
        return taken;
    }

    /**
     * Ends one write of the change. After the last write, removes the change and releases its object. Never call inside
     * a change of a key.
     */
    void end(StoreKey key, PendingChange<H> change) {
        if (change.end()) {
            remove(key, change);
            change.release();
        }
    }

    /**
     * Queues a write that ends when its task has run. Returns false if the volume did not accept it. Call inside a
     * change of the key.
     */
    boolean enqueueAtOnce(Volume volume, StoreKey key, PendingChange<H> change, PendingWrite.VolumeWrite write) {
        return enqueue(volume, key, change, new PendingWrite.AtOnce(key, write));
    }

    /**
     * Queues one write of the change. Returns false if the volume did not accept it. Call inside a change of the key.
     */
    boolean enqueue(Volume volume, StoreKey key, PendingChange<H> change, PendingWrite write) {
        StoreObject<H> object = change.object();
        long bytes = object == null ? 0 : Math.max(0, object.length());
        // A removal adds no bytes to the queue, and is needed especially when the queue is full.
        if (object != null && isFull(volume)) {
            return false;
        }
        volume.addQueuedBytes(bytes);
        change.begin();
        boolean taken = write.queue(volume, failure -> completeWrite(volume, key, change, bytes, failure));
        if (!taken) {
            volume.subtractQueuedBytes(bytes);
            change.end();
        }
        return taken;
    }

    /**
     * Returns true if the queue of the volume's thread has no space for a further object. The limit is twice the number
     * of queued bytes at which writers already have to wait.
     */
    boolean isFull(Volume volume) {
        return volume.queuedBytes() > 2 * writeQueueBytesMax;
    }

    /** Ends a write on the volume's thread. The log and the index were updated, or the update failed. */
    void completeWrite(
            Volume volume, StoreKey key, PendingChange<H> change, long bytes, @Nullable IOException failure) {
        try {
            if (failure != null) {
                counters.writesFailed.increment();
            }
        } finally {
            volume.subtractQueuedBytes(bytes);
            end(key, change);
        }
    }
}
