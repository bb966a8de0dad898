package io.millrace.store.engine;

import static io.millrace.store.engine.object.ObjectAppender.diskKey;

import io.millrace.store.CacheStore;
import io.millrace.store.HeadCodec;
import io.millrace.store.HeadSummary;
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
import io.millrace.store.engine.volume.PassedChange;
import io.millrace.store.engine.volume.VolumeGroup;
import io.millrace.store.memory.MemoryBudget;
import io.millrace.store.memory.RamTier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Applies all changes of stored objects: completion, new heads, removal, promotion into RAM.
 *
 * <p>{@link PendingChanges} serializes the changes of one key.
 *
 * <p>Each fill in flight, which is an object being written, has a ticket in {@link FillRegister}. A removal invalidates
 * the tickets of its key in the same atomic step. A fill therefore completes before the removal or is not stored.
 *
 * <p>Thread-safe.
 */
final class ObjectChanges<H> {
    /**
     * Limit of pending changes while the volumes are released to another store. Removals up to this limit are kept, and
     * applied when the volumes are taken back. Further removals are refused.
     */
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
    /** True while the volumes are released to another store. */
    private volatile boolean suspended;
    /**
     * Receives the removals while the volumes are released: the store that takes the volumes over, or a placeholder
     * that refuses each change. Null while this store owns the volumes.
     */
    private volatile @Nullable Successor successor;
    /**
     * The store that released the volumes to this one, and still answers requests. It also receives each removal. Null
     * if there is no such store.
     */
    private volatile CacheStore.@Nullable Predecessor predecessor;

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
        this.heads = new HeadUpdates<>(codec, counters, ram, volumes, loader, appender, fills, pending, this::isClosed);
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

    /** Returns true while the volumes are released to another store. */
    boolean isSuspended() {
        return suspended;
    }

    /** Returns true after {@link #close}: no more changes are accepted. */
    boolean isClosed() {
        return closed;
    }

    /**
     * Stops changes of the volumes, because they are released to another store.
     *
     * @param newSuccessor receives the removals from now on
     */
    void suspend(Successor newSuccessor) {
        successor = newSuccessor;
        suspended = true;
    }

    /** Passes each removal to the predecessor of this store too; null for none. */
    void predecessor(CacheStore.@Nullable Predecessor answering) {
        predecessor = answering;
    }

    void close() {
        closed = true;
    }

    /** Applies the removals that were kept while the volumes were released. Call after the volumes were taken back. */
    void resume() {
        suspended = false;
        successor = null;
        pending.forEach((key, change) -> {
            if (change.object() == null) {
                remove(key, Runnable::run, (present, failure) -> {});
            }
        });
    }

    /** Returns the change of the key that is not on disk yet; null if there is none. */
    @Nullable
    PendingChange<H> pending(StoreKey key) {
        return pending.get(key);
    }

    /** Implements {@link CacheStore#abortWriters}. */
    void abortWriters(StoreKey key) {
        pending.change(key, before -> {
            fills.invalidateUnstored(key);
            return before;
        });
    }

    /**
     * Makes a fill conditional on the present object of its key. Runs as a change of the key, so that a later lookup
     * finds every object that was stored before.
     */
    void expectUnchanged(FillTarget target) {
        pending.change(target.key(), before -> {
            target.ticket().expectUnchanged();
            return before;
        });
    }

    /**
     * Passes the keys of pending changes to the consumer. These are all keys whose change is pending during the whole
     * call, and possibly other keys.
     */
    void forEachPendingKey(Consumer<StoreKey> consumer) {
        pending.forEach((key, change) -> consumer.accept(key));
    }

    /** Returns the part of the engine that replaces heads. */
    HeadUpdates<H> heads() {
        return heads;
    }

    /** Returns the part of the engine that encodes heads of objects in RAM. */
    EncodedHeads<H> encodedHeads() {
        return encodedHeads;
    }

    /** Returns the part of the engine that changes partial objects. */
    PartialChanges<H> partials() {
        return partials;
    }

    /** Returns the register of the fills in flight. */
    FillRegister fills() {
        return fills;
    }

    /**
     * Returns true if the volume's policy admits a new object of the key. A key with a pending change is always
     * admitted, because the new object replaces the pending one.
     *
     * @param number number of the target's volume
     */
    boolean isAdmitted(FillTarget target, int number, @Nullable H head) {
        Volume volume = target.volume();
        return volume == null
                || pending.get(target.key()) != null
                || volumes.policies().admits(number, volume, target.key(), pinnedUntil(head));
    }

    /**
     * Stores an object that fits in one record under its key. No effect if the key was removed since the fill began. If
     * the volume does not admit the object, it is stored in RAM only.
     *
     * @param head the decoded head; the object itself may hold it in encoded form only
     * @return whether the object was stored
     */
    boolean publishResident(FillTarget target, ResidentObject<H> object, H head) {
        object.retain();
        return publish(new ObjectStoring.Whole<>(this, target, object, head));
    }

    /**
     * Stores an object with its body in blocks under its key. No effect if the key was removed since the fill began.
     * The volume must have admitted the object.
     *
     * @param write appends the object's head record
     * @return whether the object was stored
     */
    boolean publishInBlocks(FillTarget target, FillingObject<H> object, PendingWrite.VolumeWrite write) {
        object.retain();
        return publish(new ObjectStoring.InBlocks<>(this, target, object, write));
    }

    private boolean publish(ObjectStoring<H> change) {
        StoreKey key = change.target().key();
        change.begin();
        pending.change(key, change);
        pending.end(key, change);
        return change.isDone();
    }

    /**
     * Stores the change's object, as a step of the key's changes.
     *
     * @param before the pending change of the key; null for none
     * @return the change that is pending afterwards; {@code before} if the object was not stored
     */
    @Nullable
    PendingChange<H> store(ObjectStoring<H> change, StoreObject<H> object, @Nullable PendingChange<H> before) {
        FillTarget target = change.target();
        StoreKey key = target.key();
        if (target.ticket().isInvalidated()
                || target.ticket().isOvertaken()
                || closed
                || (suspended && volumes.isConfigured())) {
            return before;
        }
        Volume volume = target.volume();
        H toAdmit = change.head();
        if (volume != null && toAdmit != null && before == null && !admits(object, toAdmit, volume, key)) {
            volume = null;
        }
        if (volume != null && !change.enqueue(pending, volume)) {
            return before;
        }
        boolean isRemovingOthers = pending.removeFromOtherVolumes(key, volume, before != null, change);
        if (object instanceof ResidentObject<H> resident && resident.length() <= config.ramObjectBytesMax()) {
            ram.put(resident);
        } else {
            ram.remove(key.hashLow(), key.bytes());
        }
        fills.replace(key, object.objectId());
        target.ticket().markStored();
        change.markDone();
        return volume != null || isRemovingOthers ? change : null;
    }

    /** Ends the write of a whole object. Runs on the volume's thread. */
    void completeWrite(Volume volume, ObjectStoring<H> change, long bytes, @Nullable IOException failure) {
        pending.completeWrite(volume, change.target().key(), change, bytes, failure);
    }

    private boolean admits(StoreObject<H> object, H head, Volume volume, StoreKey key) {
        return volumes.policies().admits(object.volume(), volume, key, pinnedUntil(head));
    }

    /**
     * Returns the end of the pin of an object with this head, in seconds since the epoch; 0 for no pin or a null head.
     * The volume keeps a pinned object until then.
     */
    long pinnedUntil(@Nullable H head) {
        return head == null ? 0 : codec.pinnedUntilSeconds(head);
    }

    /** Implements {@link CacheStore#remove}. */
    void remove(StoreKey key, Executor replyOn, RemoveCallback reply) {
        RemoveCallback delivered =
                (present, failure) -> Replies.deliver(replyOn, () -> reply.onRemove(present, failure));
        CacheStore.Predecessor answering = predecessor;
        if (answering == null) {
            removeHere(key, delivered);
        } else {
            CompletionStage<?> applied = answering.apply(PassedChange.removal(key.bytes()));
            removeHere(
                    key,
                    (present, failure) ->
                            applied.whenComplete((nothing, failed) -> delivered.onRemove(present, failure)));
        }
    }

    /**
     * Like {@link #remove}, but does not pass the removal to the predecessor. Replies on any thread.
     */
    void removeHere(StoreKey key, RemoveCallback reply) {
        counters.removals.increment();
        Removal<H> removal = new Removal<>(pending, key, Runnable::run, reply);
        pending.change(key, before -> removeNow(key, removal, before));
        end(removal);
    }

    private void end(Removal<H> removal) {
        if (removal.isForSuccessor()) {
            Successor next = successor;
            // The successor is null if the volumes were taken back in the meantime. The removal is then refused,
            // because the volumes may have missed it.
            removal.sendToSuccessor(next == null ? StoreEngine::refuse : next);
        }
        removal.endOne();
    }

    /** Implements {@link CacheStore#discard}. */
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

    /**
     * Returns true if RAM or the index shows that the key holds the object. Call after {@link #isSuperseded}, which
     * detects another object in RAM and a replaced partial object.
     */
    private boolean isKnown(StoreObject<H> given) {
        StoreKey key = given.key();
        Volume volume = volumes.working(given.volume());
        return given instanceof FillingObject<H>
                || ram.contains(key.hashLow(), key.bytes())
                || (volume != null && volume.find(key.hashHigh(), key.hashLow()) == given.location());
    }

    /**
     * Queues the removal of the object from its volume. The volume's thread first checks that the key still holds the
     * object, because the check reads from disk.
     */
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
            volumes.recordMissedChange(given.key(), given.volume(), volume);
        }
    }

    /** Returns true if the key is known to hold another object or no object. Called inside a change of the key. */
    private boolean isSuperseded(StoreObject<H> given, @Nullable PendingChange<H> before) {
        if (given instanceof FillingObject<H> filling) {
            FillRegister.Ticket ticket = filling.body().ticket();
            return ticket.isInvalidated() || ticket.isReplaced();
        }
        StoreKey key = given.key();
        StoreObject<H> current = before != null ? before.object() : ram.peek(key.hashLow(), key.bytes());
        return current == null ? before != null : current.objectId() != given.objectId();
    }

    /**
     * Removes the key's object inside a change of the key. Fails the fills, removes the object from RAM, and queues
     * tombstones (records of the removal). Returns the change that is pending afterwards; null for none.
     */
    private @Nullable PendingChange<H> removeNow(StoreKey key, Removal<H> removal, @Nullable PendingChange<H> before) {
        fills.invalidate(key);
        boolean inRam = ram.remove(key.hashLow(), key.bytes());
        if (inRam || (before != null && before.object() != null)) {
            removal.markPresent();
        }
        if (volumes.isConfigured() && (suspended || closed)) {
            if (pending.size() < DEFERRED_REMOVALS_MAX) {
                if (closed || successor == null) {
                    removal.refuse(new IOException("the volumes are being handed over to another worker; try again"));
                } else {
                    removal.markForSuccessor();
                }
                return removal.change();
            }
            removal.refuse(new IOException(
                    "the volumes are being handed over to another worker, and too many removals wait: limit="
                            + DEFERRED_REMOVALS_MAX));
            counters.removalsRefused.increment();
            return before;
        }
        boolean needed = false;
        VolumeGroup.Slot[] slotsSeen = volumes.slots();
        for (VolumeGroup.Slot slot : slotsSeen) {
            Volume volume = slot.volume();
            if (volume != null
                    && volume.isWorking()
                    && (before != null || volume.mayBringBack(key.hashHigh(), key.hashLow()))) {
                needed = true;
                if (!removal.appendTo(volume, diskKey(key)) && !volumes.hasLeft(volume)) {
                    removal.failed(volume);
                }
            }
        }
        volumes.recordMissedChange(key, slotsSeen, returned -> {
            boolean taken = removal.appendTo(returned, diskKey(key));
            if (!taken && !volumes.hasLeft(returned)) {
                removal.failed(returned);
            }
            return taken;
        });
        return needed || removal.isUnderWay() ? removal.change() : null;
    }

    /**
     * Returns the summary of the key's object if it is in RAM or is being written to disk; null if not. Does not
     * count as a request.
     */
    @Nullable
    HeadSummary residentSummary(StoreKey key) {
        PendingChange<H> change = pending(key);
        StoreObject<H> object;
        if (change != null) {
            object = retained(change);
        } else {
            ResidentObject<H> resident = ram.copy(key.hashLow(), key.bytes());
            if (resident == null) {
                return null;
            }
            object = resident;
            if (!encodedHeads.ensureDecoded(resident)) {
                resident.release();
                return null;
            }
        }
        if (object == null) {
            return null;
        }
        try {
            return codec.summary(object.head());
        } finally {
            object.release();
        }
    }

    /**
     * Returns the change's object, retained and with a decoded head. Returns null for a removal, if the object has been
     * released, or if its head cannot be decoded.
     */
    @Nullable
    StoreObject<H> retained(PendingChange<H> change) {
        StoreObject<H> object = change.object();
        if (object == null || !object.tryRetain()) {
            return null;
        }
        if (object instanceof ResidentObject<H> resident && !encodedHeads.ensureDecoded(resident)) {
            object.release();
            return null;
        }
        return object;
    }

    /**
     * Puts an object that was read from disk into RAM, if the object is current. Takes over a reference to the object.
     *
     * @param requested whether the object was opened, for a request or for example for an export
     * @return the key's current object, retained. Null if the key was removed. Also null for a partial object whose
     *     record is no longer the newest, because that record may lack blocks stored later.
     */
    @Nullable
    StoreObject<H> promote(Volume volume, long location, StoreObject<H> object, boolean requested) {
        StoreKey key = object.key();
        List<@Nullable StoreObject<H>> result = new ArrayList<>(1);
        pending.change(key, change -> {
            if (change != null) {
                result.add(retained(change));
            } else {
                // A volume that is going offline answers lookups until it is closed. It receives no more changes, so
                // the answers may be outdated.
                boolean current = volume.find(key.hashHigh(), key.hashLow()) == location && !volumes.hasLeft(volume);
                if (current
                        && object instanceof ResidentObject<H> resident
                        && resident.length() <= config.ramObjectBytesMax()
                        && !ram.contains(key.hashLow(), key.bytes())) {
                    if (requested) {
                        resident.markRequestedAgain();
                    }
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
