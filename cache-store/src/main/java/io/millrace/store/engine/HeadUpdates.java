package io.millrace.store.engine;

import io.millrace.store.CacheStore;
import io.millrace.store.HeadCodec;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.BodyPlace;
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
 * New heads for objects that stay what they are: a small record on disk, and the same body under the new head in RAM.
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
    private final PendingChanges<H> pending;
    private final BooleanSupplier closed;

    HeadUpdates(
            HeadCodec<H> codec,
            StoreCounters counters,
            RamTier<ResidentObject<H>> ram,
            VolumeGroup volumes,
            ObjectLoader<H> loader,
            ObjectAppender<H> appender,
            PendingChanges<H> pending,
            BooleanSupplier closed) {
        this.codec = codec;
        this.counters = counters;
        this.ram = ram;
        this.volumes = volumes;
        this.loader = loader;
        this.appender = appender;
        this.pending = pending;
        this.closed = closed;
    }

    /** As {@link CacheStore#update}. */
    void update(StoredObject<H> object, H newHead) {
        if (!(object instanceof StoreObject<H> given)) {
            throw new IllegalArgumentException("not an object of this store: " + object);
        }
        StoreKey key = given.key();
        AtomicReference<@Nullable PendingChange<H>> made = new AtomicReference<>();
        pending.change(key, before -> {
            if (closed.getAsBoolean()) {
                return before;
            }
            StoreObject<H> current = before != null ? before.object() : ram.peek(key.hashLow(), key.bytes());
            boolean other = current != null && current.objectId() != given.objectId();
            if (other || (before != null && current == null)) {
                return before;
            }
            counters.updates.increment();
            if (given instanceof FillingObject<H> filling) {
                filling.body().update(newHead);
            }
            PendingChange<H> after = updateCurrent(key, given, before, current, newHead);
            made.set(after == before ? null : after);
            return after;
        });
        PendingChange<H> change = made.get();
        if (change != null) {
            pending.end(key, change);
        }
    }

    /** Answers with what is pending now; a change of its own has one part more, for who has made it to end. */
    private @Nullable PendingChange<H> updateCurrent(
            StoreKey key,
            StoreObject<H> given,
            @Nullable PendingChange<H> before,
            @Nullable StoreObject<H> current,
            H newHead) {
        Volume volume = volumes.working(given.volume());
        StoreObject<H> updated = withHead(key, given, current, volume, newHead);
        if (updated instanceof ResidentObject<H> resident && ram.peek(key.hashLow(), key.bytes()) != null) {
            ram.put(resident);
        }
        if (volume == null) {
            volumes.missed(key, given.volume(), null);
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
            volumes.missed(key, given.volume(), volume);
            change.release();
            return before;
        }
        pending.takeOver(key, volume, before, change);
        return change;
    }

    /** On the volume's thread. Whether the object was still what the key holds there. */
    private boolean appendHead(Volume volume, StoreObject<H> given, H newHead) throws IOException {
        BodyPlace body = loader.bodyPlace(volume, given.key(), given.objectId());
        if (body != null) {
            appender.head(volume, given, newHead, body);
        }
        return body != null;
    }

    /** Takes out of RAM what an open brought there while the new head was under way; the index has the new one now. */
    private void forgetOlderHead(StoreKey key, long objectId) {
        pending.change(key, change -> {
            StoreObject<H> inRam = ram.peek(key.hashLow(), key.bytes());
            if (change == null && inRam != null && inRam.objectId() == objectId) {
                ram.remove(key.hashLow(), key.bytes());
            }
            return change;
        });
    }

    /** What the key holds with the new head, to be released; null when it cannot be told without asking the disk. */
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

    /** An update that shows when it is appended. */
    private void enqueueUpdate(Volume volume, StoreObject<H> given, PendingWrite.VolumeWrite write) {
        boolean taken = volume.execute(() -> {
            try {
                write.apply(volume);
            } catch (IOException e) {
                counters.writesFailed.increment();
                // The older head is superseded all the same.
                volume.forget(ObjectAppender.diskKey(given.key()));
            }
        });
        if (!taken) {
            volumes.missed(given.key(), given.volume(), volume);
        }
    }
}
