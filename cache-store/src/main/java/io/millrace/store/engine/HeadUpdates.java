package io.millrace.store.engine;

import io.millrace.store.CacheStore;
import io.millrace.store.HeadCodec;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.engine.filling.FillRegister;
import io.millrace.store.engine.filling.FillingObject;
import io.millrace.store.engine.object.ObjectAppender;
import io.millrace.store.engine.object.ResidentObject;
import io.millrace.store.engine.object.StoreCounters;
import io.millrace.store.engine.object.StoreObject;
import io.millrace.store.engine.volume.VolumeGroup;
import io.millrace.store.index.Location;
import io.millrace.store.memory.RamTier;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the heads of stored objects; the bodies stay unchanged.
 *
 * <p>An update appends a small head record to the log, which refers to the existing body. An object in RAM is replaced
 * by one with the new head and the same body.
 *
 * <p>Thread-safe.
 */
final class HeadUpdates<H> {
    private final HeadCodec<H> codec;
    private final StoreCounters counters;
    private final RamTier<ResidentObject<H>> ram;
    private final VolumeGroup volumes;
    private final ObjectLoader<H> loader;
    private final ObjectAppender<H> appender;
    private final FillRegister fills;
    private final PendingChanges<H> pending;
    private final BooleanSupplier closed;

    HeadUpdates(
            HeadCodec<H> codec,
            StoreCounters counters,
            RamTier<ResidentObject<H>> ram,
            VolumeGroup volumes,
            ObjectLoader<H> loader,
            ObjectAppender<H> appender,
            FillRegister fills,
            PendingChanges<H> pending,
            BooleanSupplier closed) {
        this.codec = codec;
        this.counters = counters;
        this.ram = ram;
        this.volumes = volumes;
        this.loader = loader;
        this.appender = appender;
        this.fills = fills;
        this.pending = pending;
        this.closed = closed;
    }

    /** Implements {@link CacheStore#update}. */
    void update(StoredObject<H> object, H newHead) {
        if (!(object instanceof StoreObject<H> given)) {
            throw new IllegalArgumentException("not an object of this store: " + object);
        }
        StoreKey key = given.key();
        AtomicReference<@Nullable PendingChange<H>> newChange = new AtomicReference<>();
        pending.change(key, before -> {
            if (closed.getAsBoolean()) {
                return before;
            }
            StoreObject<H> current = before != null ? before.object() : ram.peek(key.hashLow(), key.bytes());
            boolean isOtherObject = current != null && current.objectId() != given.objectId();
            if (isOtherObject || (before != null && current == null)) {
                return before;
            }
            counters.updates.increment();
            if (given instanceof FillingObject<H> filling) {
                filling.body().update(newHead);
            }
            PendingChange<H> after = updateCurrent(key, given, before, current, newHead);
            fills.changed(key, given.objectId());
            newChange.set(after == before ? null : after);
            return after;
        });
        PendingChange<H> change = newChange.get();
        if (change != null) {
            pending.end(key, change);
        }
    }

    /**
     * Applies the update inside a change of the key. Returns the change that is pending afterwards: {@code before}, or
     * a new change. The caller must end one write of a new change with {@link PendingChanges#end}.
     */
    private @Nullable PendingChange<H> updateCurrent(
            StoreKey key,
            StoreObject<H> given,
            @Nullable PendingChange<H> before,
            @Nullable StoreObject<H> current,
            H newHead) {
        Volume volume = volumes.working(given.volume());
        StoreObject<H> updated = withHead(key, given, current, volume, newHead);
        if (updated instanceof ResidentObject<H> resident && ram.contains(key.hashLow(), key.bytes())) {
            ram.put(resident);
        }
        if (volume == null) {
            volumes.recordMissedChange(key, given.volume(), null);
            if (updated != null) {
                updated.release();
            }
            return before;
        }
        if (updated == null) {
            enqueueUpdate(volume, given, working -> {
                if (appendHead(working, given, newHead)) {
                    forgetOlderHead(key, given.objectId());
                }
            });
            return before;
        }
        PendingWrite.VolumeWrite write = working -> appendHead(working, given, newHead);
        PendingChange<H> change = PendingChange.stored(updated);
        change.begin();
        if (!pending.enqueueAtOnce(volume, key, change, write)) {
            volumes.recordMissedChange(key, given.volume(), volume);
            change.release();
            return before;
        }
        pending.takeOver(key, volume, before, change);
        return change;
    }

    /**
     * Appends the new head to the log and returns true. Returns false without effect if the key no longer holds the
     * object on this volume. Runs on the volume's thread.
     */
    private boolean appendHead(Volume volume, StoreObject<H> given, H newHead) throws IOException {
        BodyPlace body = loader.bodyPlace(volume, given.key(), given.objectId());
        if (body != null) {
            appender.head(volume, given, newHead, body);
        }
        return body != null;
    }

    /**
     * Removes the object from RAM. An open may have stored it there with the old head while the update was queued. The
     * next open reads the new head from disk. Also marks conditional fills of the key
     * ({@code ObjectWriter.expectUnchanged}) as overtaken, because their caller may have compared them with the old
     * head.
     */
    private void forgetOlderHead(StoreKey key, long objectId) {
        pending.change(key, change -> {
            StoreObject<H> inRam = ram.peek(key.hashLow(), key.bytes());
            if (change == null && inRam != null && inRam.objectId() == objectId) {
                ram.remove(key.hashLow(), key.bytes());
            }
            fills.changed(key, objectId);
            return change;
        });
    }

    /**
     * Returns the key's current object with the new head; the caller releases it. Returns null if the current object
     * cannot be determined without a disk read.
     */
    private @Nullable StoreObject<H> withHead(
            StoreKey key, StoreObject<H> given, @Nullable StoreObject<H> current, @Nullable Volume volume, H newHead) {
        StoreObject<H> base = current;
        if (base == null) {
            boolean unchanged = volume != null
                    && given.location() != Location.NONE
                    && volume.find(key.hashHigh(), key.hashLow()) == given.location();
            base = unchanged ? given : null;
        }
        if (base == null || !base.tryRetain()) {
            return null;
        }
        StoreObject<H> updated = base.withHead(newHead, codec.heapBytes(newHead));
        base.release();
        return updated;
    }

    /** Queues an update without a pending change. Opens find the new head only after its record is appended. */
    private void enqueueUpdate(Volume volume, StoreObject<H> given, PendingWrite.VolumeWrite write) {
        boolean taken = volume.execute(() -> {
            try {
                write.apply(volume);
            } catch (IOException e) {
                counters.writesFailed.increment();
                // The old head is outdated. The key therefore leaves the index, although the new head could not be
                // written.
                volume.forget(ObjectAppender.diskKey(given.key()));
            }
        });
        if (!taken) {
            volumes.recordMissedChange(given.key(), given.volume(), volume);
        }
    }
}
