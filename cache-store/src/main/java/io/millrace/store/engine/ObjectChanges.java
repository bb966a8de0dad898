package io.millrace.store.engine;

import static io.millrace.store.engine.ObjectAppender.diskKey;

import io.millrace.store.CacheStore;
import io.millrace.store.HeadCodec;
import io.millrace.store.RemoveCallback;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.BodyPlace;
import io.millrace.store.disk.DiskRecord;
import io.millrace.store.disk.RecordHeader;
import io.millrace.store.disk.RecordType;
import io.millrace.store.disk.Volume;
import io.millrace.store.index.Location;
import io.millrace.store.memory.MemoryBudget;
import io.millrace.store.memory.RamTier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * All changes of what keys hold: completed objects, new heads, removals, and what is read into RAM.
 *
 * <p>The index of a volume knows a change only when the log has it. Until then the change stands in {@link #pending},
 * which every lookup asks first. All changes of one key are made inside {@code pending.compute(key)}, which orders them,
 * and are queued to the volume there, so that memory, log and index see them in the same order. A pending change is
 * taken out by the task that applied it, unless a newer one has taken its place.
 *
 * <p>Fills in flight have a ticket, which a removal of their key marks inside the same {@code compute}: so they end
 * before it or are not stored.
 *
 * <p>Thread-safe.
 */
final class ObjectChanges<H> {
    /** Removals made while the volumes are handed over, remembered until they are back. */
    private static final int DEFERRED_REMOVALS_MAX = 1 << 16;

    private final StoreConfig config;
    private final HeadCodec<H> codec;
    private final StoreCounters counters;
    private final MemoryBudget budget;
    private final RamTier<ResidentObject<H>> ram;
    private final VolumeGroup volumes;
    private final ObjectLoader<H> loader;
    private final ObjectAppender<H> appender;
    private final ConcurrentHashMap<StoreKey, PendingChange<H>> pending = new ConcurrentHashMap<>();
    private final FillRegister fills;
    private volatile boolean suspended;
    private volatile boolean closed;

    /** What a change does to a volume's log and index, on the volume's thread. */
    @FunctionalInterface
    interface VolumeWrite {
        void apply(Volume volume) throws IOException;
    }

    ObjectChanges(
            StoreConfig config,
            HeadCodec<H> codec,
            StoreCounters counters,
            MemoryBudget budget,
            RamTier<ResidentObject<H>> ram,
            VolumeGroup volumes,
            ObjectLoader<H> loader,
            ObjectAppender<H> appender,
            FillRegister fills) {
        this.config = config;
        this.codec = codec;
        this.counters = counters;
        this.budget = budget;
        this.ram = ram;
        this.volumes = volumes;
        this.loader = loader;
        this.appender = appender;
        this.fills = fills;
    }

    StoreConfig config() {
        return config;
    }

    HeadCodec<H> codec() {
        return codec;
    }

    StoreCounters counters() {
        return counters;
    }

    MemoryBudget budget() {
        return budget;
    }

    ObjectAppender<H> appender() {
        return appender;
    }

    /** Whether the volumes are handed over. */
    boolean isSuspended() {
        return suspended;
    }

    /** Whether nothing is taken any more. */
    boolean isClosed() {
        return closed;
    }

    void suspend() {
        suspended = true;
    }

    void close() {
        closed = true;
    }

    /** The volumes are back: what was removed meanwhile is removed there too. */
    void resume() {
        suspended = false;
        pending.forEach((key, change) -> {
            if (change.object() == null) {
                remove(key, Runnable::run, (present, failure) -> {});
            }
        });
    }

    /** What the key holds that the disk does not know; null when the disk knows all. */
    @Nullable
    PendingChange<H> pending(StoreKey key) {
        return pending.get(key);
    }

    /** The fills in flight. */
    FillRegister fills() {
        return fills;
    }

    /** Whether the volume takes a new object of the key; what the volume knows of the key already is replaced. */
    boolean isAdmitted(FillTarget target, int number) {
        Volume volume = target.volume();
        return volume == null
                || pending.get(target.key()) != null
                || volumes.policies().admits(number, volume, target.key());
    }

    /**
     * Makes the object, which fits one record, what its key holds, unless the key was removed since the fill began. If its
     * volume does not take it, it stays in RAM at most.
     *
     * @return whether it did
     */
    boolean publishResident(FillTarget target, ResidentObject<H> object) {
        return publish(target, object, false, new PendingWrite.Gathering<>(appender, object));
    }

    /**
     * Makes the object, which its volume is known to take, what its key holds, unless the key was removed since the fill
     * began.
     *
     * @return whether it did
     */
    boolean publishInBlocks(FillTarget target, FillingObject<H> object, VolumeWrite write) {
        return publish(target, object, true, new PendingWrite.AtOnce(object.key(), write));
    }

    private boolean publish(FillTarget target, StoreObject<H> object, boolean admitted, PendingWrite write) {
        StoreKey key = target.key();
        object.tryRetain();
        PendingChange<H> change = PendingChange.stored(object);
        change.begin();
        boolean[] done = {false};
        pending.compute(key, (k, before) -> {
            if (target.ticket().isInvalidated() || closed) {
                return before;
            }
            Volume volume = target.volume();
            if (volume != null && !admitted && before == null && !admits(object, volume, key)) {
                volume = null;
            }
            if (volume != null && !enqueue(volume, key, change, write)) {
                return before;
            }
            boolean hides = hideElsewhere(key, volume, before != null, change);
            if (object instanceof ResidentObject<H> resident && resident.length() <= config.ramObjectBytesMax()) {
                ram.put(resident);
            } else {
                ram.remove(key.hashLow(), key.bytes());
            }
            fills.replace(key, object.objectId());
            target.ticket().settle();
            done[0] = true;
            return volume != null || hides ? change : null;
        });
        end(key, change);
        return done[0];
    }

    /**
     * Makes the object, of which some blocks are on their way to disk, what its key holds, if that holds nothing.
     *
     * @return whether it did
     */
    boolean publishPartial(FillTarget target, FillingObject<H> object) {
        StoreKey key = target.key();
        Volume volume = target.volume();
        H head = object.body().head();
        boolean[] done = {false};
        pending.compute(key, (k, before) -> {
            boolean free = before == null && ram.peek(key.hashLow(), key.bytes()) == null && !volumes.mayHold(key);
            if (!free || volume == null || head == null || target.ticket().isInvalidated() || closed) {
                return before;
            }
            PendingChange<H> change = PendingChange.stored(object.withHead(head, 0));
            done[0] = enqueueAtOnce(volume, key, change, working -> {
                BodyPlace place = object.body().place();
                if (place != null) {
                    appender.head(working, object, head, place);
                }
            });
            if (!done[0]) {
                change.release();
                return before;
            }
            volumes.missed(key);
            fills.replace(key, object.objectId());
            return change;
        });
        return done[0];
    }

    /**
     * Has the head record of a partial object say which blocks are on disk, once those queued are. Without effect when
     * the key holds another object.
     *
     * @return whether it will be tried
     */
    boolean refreshHead(FillTarget target, FillingObject<H> object) {
        return onVolume(target, object, volume -> refreshNow(volume, object));
    }

    /**
     * Takes blocks of a partial object back: out of the index and out of the head record. Where that cannot be done the
     * whole object goes.
     */
    void takeBack(FillTarget target, FillingObject<H> object, BitSet blocks) {
        boolean taken = onVolume(target, object, volume -> {
            for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
                object.body().dropBlock(block);
            }
            refreshNow(volume, object);
        });
        if (!taken && !blocks.isEmpty()) {
            object.body().revoke();
            withdraw(target, object, true);
        }
    }

    private boolean onVolume(FillTarget target, FillingObject<H> object, VolumeWrite write) {
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
                volume.appendHead(diskKey(object.key()), header.objectId(), header.expiry(), record.head(), place);
            }
        } finally {
            record.release();
        }
    }

    /**
     * Gives up a new object: its blocks leave the index, and its key holds nothing if it held the partial object.
     *
     * @param published whether the key was given the object
     */
    void withdraw(FillTarget target, FillingObject<H> object, boolean published) {
        StoreKey key = target.key();
        Volume volume = target.volume();
        if (volume == null) {
            return;
        }
        if (published) {
            pending.compute(key, (k, before) -> {
                if (target.ticket().isInvalidated() || target.ticket().isReplaced()) {
                    return before;
                }
                PendingChange<H> change = PendingChange.removed();
                // The volume may have been out and be back, as another one, since the fill began.
                Volume now = volumes.working(object.volume());
                if (now != null && enqueueAtOnce(now, key, change, working -> dropNow(working, object))) {
                    return change;
                }
                volumes.missed(key);
                // As with a removal, at least this process sees it until the volume can be told.
                boolean later = (suspended || now != null) && pending.size() < DEFERRED_REMOVALS_MAX;
                return later ? change : before;
            });
        }
        onVolume(target, object, working -> object.body().dropBlocks());
    }

    private void dropNow(Volume volume, FillingObject<H> object) throws IOException {
        DiskRecord record = loader.currentHead(volume, object.key(), object.objectId());
        if (record != null) {
            record.release();
            volume.appendTombstone(diskKey(object.key()));
        }
    }

    private boolean admits(StoreObject<H> object, Volume volume, StoreKey key) {
        return volumes.policies().admits(object.volume(), volume, key);
    }

    /**
     * What other volumes hold of the key is superseded, also what is only on its way there, which no index tells. The
     * change stays pending until they have it: should the object's own volume go meanwhile, the old one must not show.
     *
     * @return whether any has to
     */
    private boolean hideElsewhere(StoreKey key, @Nullable Volume volume, boolean isPending, PendingChange<H> change) {
        boolean[] any = {false};
        for (VolumeGroup.Slot slot : volumes.slots()) {
            Volume other = slot.volume();
            if (other == null || other == volume) {
                continue;
            }
            if (isPending || other.mayHold(key.hashHigh(), key.hashLow())) {
                any[0] |= hide(other, key, change);
            }
        }
        volumes.missed(key, back -> {
            boolean taken = back == volume || hide(back, key, change);
            any[0] |= taken;
            return taken;
        });
        return any[0];
    }

    /** Whether the volume works; one that does not is told what it missed if it returns. */
    private boolean hide(Volume volume, StoreKey key, PendingChange<H> change) {
        change.begin();
        boolean taken = volume.executeRemoval(() -> {
            try {
                volume.hideForGood(diskKey(key));
            } finally {
                end(key, change);
            }
        });
        if (!taken) {
            change.end();
        }
        return taken;
    }

    /** Part of the change is through. Not inside a change of the pending map. */
    private void end(StoreKey key, PendingChange<H> change) {
        if (change.end()) {
            pending.remove(key, change);
            change.release();
        }
    }

    private boolean enqueueAtOnce(Volume volume, StoreKey key, PendingChange<H> change, VolumeWrite write) {
        return enqueue(volume, key, change, new PendingWrite.AtOnce(key, write));
    }

    /** Queues the write that settles the change; false when it was not taken. */
    private boolean enqueue(Volume volume, StoreKey key, PendingChange<H> change, PendingWrite write) {
        StoreObject<H> object = change.object();
        long bytes = object == null ? 0 : Math.max(0, object.length());
        // What gives something up adds nothing to the queue, and comes just when that is full.
        if (object != null && volume.queuedBytes() > 2 * config.writeQueueBytesMax()) {
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

    /** As {@link CacheStore#update}. */
    void update(StoredObject<H> object, H newHead) {
        if (!(object instanceof StoreObject<H> given)) {
            throw new IllegalArgumentException("not an object of this store: " + object);
        }
        StoreKey key = given.key();
        pending.compute(key, (k, before) -> {
            if (closed) {
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
            return updateCurrent(key, given, before, current, newHead);
        });
    }

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
            volumes.missed(key);
            if (updated != null) {
                updated.release();
            }
            return before;
        }
        if (updated == null) {
            enqueueUpdate(volume, key, working -> {
                if (appendHead(working, given, newHead)) {
                    forgetOlderHead(key, given.objectId());
                }
            });
            return before;
        }
        VolumeWrite write = working -> appendHead(working, given, newHead);
        PendingChange<H> change = PendingChange.stored(updated);
        if (!enqueueAtOnce(volume, key, change, write)) {
            volumes.missed(key);
            change.release();
            return before;
        }
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
        pending.compute(key, (k, change) -> {
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
    private void enqueueUpdate(Volume volume, StoreKey key, VolumeWrite write) {
        boolean taken = volume.execute(() -> {
            try {
                write.apply(volume);
            } catch (IOException e) {
                counters.writesFailed.increment();
            }
        });
        if (!taken) {
            volumes.missed(key);
        }
    }

    /** As {@link CacheStore#remove}. */
    void remove(StoreKey key, Executor replyOn, RemoveCallback reply) {
        counters.removals.increment();
        Removal<H> removal = new Removal<>(pending, key, replyOn, reply);
        pending.compute(key, (k, before) -> removeNow(key, removal, before));
        removal.done();
    }

    /** As {@link CacheStore#discard}. */
    void discard(StoredObject<H> object) {
        if (!(object instanceof StoreObject<H> given)) {
            throw new IllegalArgumentException("not an object of this store: " + object);
        }
        StoreKey key = given.key();
        Removal<H> removal = new Removal<>(pending, key, Runnable::run, (present, failure) -> {});
        pending.compute(key, (k, before) -> {
            if (isSuperseded(given, before)) {
                return before;
            }
            counters.removals.increment();
            return removeNow(key, removal, before);
        });
        removal.done();
    }

    /** Whether the key is known to hold another object, or none. Inside a change of the key. */
    private boolean isSuperseded(StoreObject<H> given, @Nullable PendingChange<H> before) {
        if (given instanceof FillingObject<H> filling) {
            FillRegister.Ticket ticket = filling.body().ticket();
            return ticket.isInvalidated() || ticket.isReplaced();
        }
        StoreKey key = given.key();
        StoreObject<H> current = before != null ? before.object() : ram.peek(key.hashLow(), key.bytes());
        return current == null ? before != null : current.objectId() != given.objectId();
    }

    private @Nullable PendingChange<H> removeNow(StoreKey key, Removal<H> removal, @Nullable PendingChange<H> before) {
        fills.invalidate(key);
        boolean inRam = ram.remove(key.hashLow(), key.bytes());
        if (inRam || (before != null && before.object() != null)) {
            removal.wasPresent();
        }
        if (volumes.isConfigured() && (suspended || closed)) {
            removal.refuse(new IOException("the volumes are handed over"));
            if (pending.size() < DEFERRED_REMOVALS_MAX) {
                return removal.change();
            }
            counters.removalsRefused.increment();
            return before;
        }
        boolean needed = false;
        for (VolumeGroup.Slot slot : volumes.slots()) {
            Volume volume = slot.volume();
            if (volume != null
                    && volume.isWorking()
                    && (before != null || volume.mayHold(key.hashHigh(), key.hashLow()))) {
                needed = true;
                if (!removal.appendTo(volume, diskKey(key)) && !volumes.isOut(volume)) {
                    removal.failed(volume);
                }
            }
        }
        volumes.missed(key, back -> removal.appendTo(back, diskKey(key)));
        return needed || removal.isUnderWay() ? removal.change() : null;
    }

    /** The change's object, retained; null when it has none any more. */
    @Nullable
    StoreObject<H> retained(PendingChange<H> change) {
        StoreObject<H> object = change.object();
        return object != null && object.tryRetain() ? object : null;
    }

    /**
     * Keeps in RAM what was read, unless it is no longer what the key holds; answers with what the key holds. Null for a
     * partial object that was read from a record which is not the newest any more: that may know less than is stored.
     */
    @Nullable
    StoreObject<H> promote(Volume volume, long location, StoreObject<H> object) {
        StoreKey key = object.key();
        List<@Nullable StoreObject<H>> result = new ArrayList<>(1);
        pending.compute(key, (k, change) -> {
            if (change != null) {
                result.add(retained(change));
            } else {
                boolean current = volume.find(key.hashHigh(), key.hashLow()) == location;
                if (current
                        && object instanceof ResidentObject<H> resident
                        && resident.length() <= config.ramObjectBytesMax()
                        && ram.peek(key.hashLow(), key.bytes()) == null) {
                    ram.put(resident);
                }
                boolean outdated = !current && object instanceof FillingObject<H>;
                result.add(outdated || !object.tryRetain() ? null : object);
            }
            return change;
        });
        object.release();
        volume.hit(key.hashHigh(), key.hashLow());
        return result.get(0);
    }
}
