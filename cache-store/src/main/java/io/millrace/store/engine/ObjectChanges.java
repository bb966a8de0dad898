package io.millrace.store.engine;

import static io.millrace.store.engine.object.ObjectAppender.diskKey;

import io.millrace.store.CacheStore;
import io.millrace.store.HeadCodec;
import io.millrace.store.RemoveCallback;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.Successor;
import io.millrace.store.disk.Volume;
import io.millrace.store.engine.filling.FillRegister;
import io.millrace.store.engine.filling.FillTarget;
import io.millrace.store.engine.filling.FillingObject;
import io.millrace.store.engine.object.EncodedHeads;
import io.millrace.store.engine.object.ObjectAppender;
import io.millrace.store.engine.object.Replies;
import io.millrace.store.engine.object.ResidentObject;
import io.millrace.store.engine.object.StoreCounters;
import io.millrace.store.engine.object.StoreObject;
import io.millrace.store.engine.volume.VolumeGroup;
import io.millrace.store.memory.MemoryBudget;
import io.millrace.store.memory.RamTier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * All changes of what keys hold: completed objects, new heads, removals, and what is read into RAM.
 *
 * <p>What orders them is in {@link PendingChanges}.
 *
 * <p>Fills in flight have a ticket, which a removal of their key marks inside the same step: so they end
 * before it or are not stored.
 *
 * <p>Thread-safe.
 */
final class ObjectChanges<H> {
    /** Removals made while the volumes are handed over, remembered until they are back. */
    static final int DEFERRED_REMOVALS_MAX = 1 << 16;

    private final StoreConfig config;
    private final HeadCodec<H> codec;
    private final StoreCounters counters;
    private final MemoryBudget budget;
    private final RamTier<ResidentObject<H>> ram;
    private final EncodedHeads<H> encodedHeads;
    private final VolumeGroup volumes;
    private final ObjectAppender<H> appender;
    private final PendingChanges<H> pending;
    private final FillRegister fills;
    private final HeadUpdates<H> heads;
    private final PartialChanges<H> partials;
    private volatile boolean suspended;
    private volatile @Nullable Successor successor;
    private volatile CompletionStage<?> repliesAfter = CompletableFuture.completedStage(null);
    private volatile boolean closed;

    ObjectChanges(
            StoreConfig config,
            HeadCodec<H> codec,
            StoreCounters counters,
            MemoryBudget budget,
            RamTier<ResidentObject<H>> ram,
            EncodedHeads<H> encodedHeads,
            VolumeGroup volumes,
            ObjectLoader<H> loader,
            ObjectAppender<H> appender,
            FillRegister fills) {
        this.config = config;
        this.codec = codec;
        this.counters = counters;
        this.budget = budget;
        this.ram = ram;
        this.encodedHeads = encodedHeads;
        this.volumes = volumes;
        this.appender = appender;
        this.fills = fills;
        this.pending = new PendingChanges<>(counters, volumes, config.writeQueueBytesMax());
        this.heads = new HeadUpdates<>(codec, counters, ram, volumes, loader, appender, pending, this::isClosed);
        this.partials = new PartialChanges<>(counters, ram, volumes, loader, appender, fills, pending, this);
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

    /** @param passedOn who takes the removals from now on */
    void suspend(Successor passedOn) {
        successor = passedOn;
        suspended = true;
    }

    /** Replies to removals wait for {@code stage}. */
    void replyAfter(CompletionStage<?> stage) {
        repliesAfter = stage;
    }

    void close() {
        closed = true;
    }

    /** The volumes are back: what was removed meanwhile is removed there too. */
    void resume() {
        suspended = false;
        successor = null;
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

    /** New heads. */
    HeadUpdates<H> heads() {
        return heads;
    }

    /** Heads of what is in RAM. */
    EncodedHeads<H> encodedHeads() {
        return encodedHeads;
    }

    /** What becomes of objects that are not whole. */
    PartialChanges<H> partials() {
        return partials;
    }

    /** The fills in flight. */
    FillRegister fills() {
        return fills;
    }

    /** Whether the volume takes a new object of the key; what the volume knows of the key already is replaced. */
    boolean isAdmitted(FillTarget target, int number, @Nullable H head) {
        Volume volume = target.volume();
        return volume == null
                || pending.get(target.key()) != null
                || volumes.policies().admits(number, volume, target.key(), pinnedUntil(head));
    }

    /**
     * Makes the object, which fits one record, what its key holds, unless the key was removed since the fill began. If its
     * volume does not take it, it stays in RAM at most.
     *
     * @param head the object's, which it may have as bytes only
     * @return whether it did
     */
    boolean publishResident(FillTarget target, ResidentObject<H> object, H head) {
        int heapBytes = codec.heapBytes(head);
        PendingWrite write = new PendingWrite.Gathering<>(appender, object, head, heapBytes);
        return publish(target, object, head, write);
    }

    /**
     * Makes the object, which its volume is known to take, what its key holds, unless the key was removed since the fill
     * began.
     *
     * @return whether it did
     */
    boolean publishInBlocks(FillTarget target, FillingObject<H> object, PendingWrite.VolumeWrite write) {
        return publish(target, object, null, new PendingWrite.AtOnce(object.key(), write));
    }

    /**
     * As both say.
     *
     * @param toAdmit head of an object of which the volume is to be asked whether it takes it; null when it does
     */
    private boolean publish(FillTarget target, StoreObject<H> object, @Nullable H toAdmit, PendingWrite write) {
        StoreKey key = target.key();
        object.tryRetain();
        PendingChange<H> change = PendingChange.stored(object);
        change.begin();
        boolean[] done = {false};
        pending.change(key, before -> {
            if (target.ticket().isInvalidated() || closed || (suspended && volumes.isConfigured())) {
                return before;
            }
            Volume volume = target.volume();
            if (volume != null && toAdmit != null && before == null && !admits(object, toAdmit, volume, key)) {
                volume = null;
            }
            if (volume != null && !pending.enqueue(volume, key, change, write)) {
                return before;
            }
            boolean hides = pending.hideElsewhere(key, volume, before != null, change);
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
        pending.end(key, change);
        return done[0];
    }

    private boolean admits(StoreObject<H> object, H head, Volume volume, StoreKey key) {
        return volumes.policies().admits(object.volume(), volume, key, pinnedUntil(head));
    }

    /** Until when an object of that head is pinned, in seconds since the epoch; 0 when it is not or has none yet. */
    long pinnedUntil(@Nullable H head) {
        return head == null ? 0 : codec.pinnedUntilSeconds(head);
    }

    /** As {@link CacheStore#remove}. */
    void remove(StoreKey key, Executor replyOn, RemoveCallback reply) {
        CompletionStage<?> after = repliesAfter;
        removeAtOnce(
                key,
                (present, failure) -> after.whenComplete(
                        (nothing, failed) -> Replies.deliver(replyOn, () -> reply.onRemove(present, failure))));
    }

    /** As {@link #remove}; the reply comes on any thread, as soon as the removal is durable. */
    void removeAtOnce(StoreKey key, RemoveCallback reply) {
        counters.removals.increment();
        Removal<H> removal = new Removal<>(pending, key, Runnable::run, reply);
        pending.change(key, before -> removeNow(key, removal, before));
        end(removal);
    }

    private void end(Removal<H> removal) {
        if (removal.isPassedOn()) {
            Successor next = successor;
            // Without one the volumes came back just now, and may have missed it.
            removal.tell(next == null ? StoreEngine::refuse : next);
        }
        removal.done();
    }

    /** As {@link CacheStore#discard}. */
    void discard(StoredObject<H> object) {
        if (!(object instanceof StoreObject<H> given)) {
            throw new IllegalArgumentException("not an object of this store: " + object);
        }
        StoreKey key = given.key();
        Removal<H> removal = new Removal<>(pending, key, Runnable::run, (present, failure) -> {});
        pending.change(key, before -> {
            if (isSuperseded(given, before)) {
                return before;
            }
            counters.removals.increment();
            if (before == null && !(suspended && volumes.isConfigured()) && !isKnown(given)) {
                dropIfHeld(given);
                return null;
            }
            return removeNow(key, removal, before);
        });
        end(removal);
    }

    /** Whether RAM or the index tells that the key holds the object. */
    private boolean isKnown(StoreObject<H> given) {
        StoreKey key = given.key();
        Volume volume = volumes.working(given.volume());
        return given instanceof FillingObject<H>
                || ram.peek(key.hashLow(), key.bytes()) != null
                || (volume != null && volume.find(key.hashHigh(), key.hashLow()) == given.location());
    }

    /** Has the volume look whether the object is still what the key holds, before it is removed there. */
    private void dropIfHeld(StoreObject<H> given) {
        Volume volume = volumes.working(given.volume());
        boolean taken = volume != null
                && volume.executeRemoval(() -> {
                    try {
                        partials.dropNow(volume, given);
                    } catch (IOException e) {
                        counters.writesFailed.increment();
                        volume.forget(diskKey(given.key()));
                    }
                });
        if (!taken) {
            volumes.missed(given.key(), given.volume(), volume);
        }
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
            if (pending.size() < DEFERRED_REMOVALS_MAX) {
                if (closed || successor == null) {
                    removal.refuse(new IOException("the volumes are handed over"));
                } else {
                    removal.passOn();
                }
                return removal.change();
            }
            removal.refuse(
                    new IOException("the volumes are handed over, and removals wait: limit=" + DEFERRED_REMOVALS_MAX));
            counters.removalsRefused.increment();
            return before;
        }
        boolean needed = false;
        VolumeGroup.Slot[] looked = volumes.slots();
        for (VolumeGroup.Slot slot : looked) {
            Volume volume = slot.volume();
            if (volume != null
                    && volume.isWorking()
                    && (before != null || volume.mayBringBack(key.hashHigh(), key.hashLow()))) {
                needed = true;
                if (!removal.appendTo(volume, diskKey(key)) && !volumes.isOut(volume)) {
                    removal.failed(volume);
                }
            }
        }
        volumes.missed(key, looked, back -> {
            boolean taken = removal.appendTo(back, diskKey(key));
            if (!taken && !volumes.isOut(back)) {
                removal.failed(back);
            }
            return taken;
        });
        return needed || removal.isUnderWay() ? removal.change() : null;
    }

    /** The change's object, retained, with its head decoded; null when it has none any more. */
    @Nullable
    StoreObject<H> retained(PendingChange<H> change) {
        StoreObject<H> object = change.object();
        if (object == null || !object.tryRetain()) {
            return null;
        }
        if (object instanceof ResidentObject<H> resident && !encodedHeads.isDecoded(resident)) {
            object.release();
            return null;
        }
        return object;
    }

    /**
     * Keeps in RAM what was read, unless it is no longer what the key holds; answers with what the key holds. Null for a
     * partial object that was read from a record which is not the newest any more: that may know less than is stored.
     */
    @Nullable
    StoreObject<H> promote(Volume volume, long location, StoreObject<H> object) {
        StoreKey key = object.key();
        List<@Nullable StoreObject<H>> result = new ArrayList<>(1);
        pending.change(key, change -> {
            if (change != null) {
                result.add(retained(change));
            } else {
                // A volume that leaves answers until it is closed, but is told of no change any more.
                boolean current = volume.find(key.hashHigh(), key.hashLow()) == location && !volumes.isOut(volume);
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
