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
import org.jspecify.annotations.Nullable;

/**
 * What keys hold that the disk does not know yet.
 *
 * <p>The index of a volume knows a change only when the log has it. Until then the change stands here, where every lookup
 * asks first. All changes of one key are made inside {@link #change}, which orders them, and are queued to the volumes
 * there, so that memory, log and index see them in the same order. A change is taken out when all volumes concerned have
 * it, unless a newer one has taken its place.
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

    /** What the key holds that the disk does not know; null when the disk knows all. */
    @Nullable
    PendingChange<H> get(StoreKey key) {
        return changes.get(key);
    }

    int size() {
        return changes.size();
    }

    /** One step in the order of the key's changes: given what is pending, null for nothing, answers with what is now. */
    interface Step<H> {
        @Nullable
        PendingChange<H> apply(@Nullable PendingChange<H> before);
    }

    /** Makes a change of the key. Steps of other keys may wait for it: it must not block, nor change another key. */
    void change(StoreKey key, Step<H> step) {
        changes.compute(key, (k, before) -> step.apply(before));
    }

    void forEach(BiConsumer<StoreKey, PendingChange<H>> each) {
        changes.forEach(each);
    }

    /** Takes the change out if it still stands. */
    void remove(StoreKey key, PendingChange<H> change) {
        changes.remove(key, change);
    }

    /**
     * What other volumes hold of the key is superseded, also what is only on its way there, which no index tells. The
     * change stays pending until they have it: should the object's own volume go meanwhile, the old one must not show.
     *
     * <p>Inside a change of the key.
     *
     * @return whether any has to
     */
    boolean hideElsewhere(StoreKey key, @Nullable Volume volume, boolean isPending, PendingChange<H> change) {
        boolean[] any = {false};
        VolumeGroup.Slot[] looked = volumes.slots();
        for (VolumeGroup.Slot slot : looked) {
            Volume other = slot.volume();
            if (other == null || other == volume) {
                continue;
            }
            if (isPending || other.mayBringBack(key.hashHigh(), key.hashLow())) {
                any[0] |= hide(other, key, change);
            }
        }
        volumes.missed(key, looked, back -> {
            boolean taken = back == volume || hide(back, key, change);
            any[0] |= taken;
            return taken;
        });
        return any[0];
    }

    /**
     * The change takes the place of one that may be hiding older objects in other volumes still: it stays pending until they are
     * hidden. Inside a change of the key.
     */
    void takeOver(StoreKey key, Volume volume, @Nullable PendingChange<H> before, PendingChange<H> change) {
        if (before != null) {
            hideElsewhere(key, volume, true, change);
        }
    }

    /** Whether the volume works; one that does not is told what it missed if it returns. */
    private boolean hide(Volume volume, StoreKey key, PendingChange<H> change) {
        change.begin();
        boolean taken = volume.executeRemoval(() -> {
            try {
                volume.hideForGood(ObjectAppender.diskKey(key));
            } finally {
                end(key, change);
            }
        });
        if (!taken) {
            change.end();
        }
        return taken;
    }

    /** Part of the change is through. Never inside a change of a key. */
    void end(StoreKey key, PendingChange<H> change) {
        if (change.end()) {
            remove(key, change);
            change.release();
        }
    }

    /** Queues a write that is through when it has run; false when it was not taken. Inside a change of the key. */
    boolean enqueueAtOnce(Volume volume, StoreKey key, PendingChange<H> change, PendingWrite.VolumeWrite write) {
        return enqueue(volume, key, change, new PendingWrite.AtOnce(key, write));
    }

    /** Queues the write that settles the change; false when it was not taken. Inside a change of the key. */
    boolean enqueue(Volume volume, StoreKey key, PendingChange<H> change, PendingWrite write) {
        StoreObject<H> object = change.object();
        long bytes = write.heapBytes() + (object == null ? 0 : Math.max(0, object.length()));
        // What gives something up adds nothing to the queue, and comes just when that is full.
        if (object != null && volume.queuedBytes() > 2 * writeQueueBytesMax) {
            return false;
        }
        volume.queued(bytes);
        change.begin();
        boolean taken = write.queue(volume, failure -> settle(volume, key, change, bytes, failure));
        if (!taken) {
            volume.queued(-bytes);
            change.end();
        }
        return taken;
    }

    /** On the volume's thread: the log and the index know the change, or cannot. */
    private void settle(
            Volume volume, StoreKey key, PendingChange<H> change, long bytes, @Nullable IOException failure) {
        try {
            if (failure != null) {
                counters.writesFailed.increment();
            }
        } finally {
            volume.queued(-bytes);
            end(key, change);
        }
    }
}
