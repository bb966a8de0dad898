package io.millrace.store.engine;

import io.millrace.store.OpenCallback;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.DamagedRecordException;
import io.millrace.store.engine.object.ObjectAppender;
import io.millrace.store.engine.object.ReadPool;
import io.millrace.store.engine.object.Replies;
import io.millrace.store.engine.object.ResidentObject;
import io.millrace.store.engine.object.StoreCounters;
import io.millrace.store.engine.object.StoreObject;
import io.millrace.store.engine.volume.VolumeGroup;
import io.millrace.store.index.Location;
import io.millrace.store.memory.MemoryBudget;
import io.millrace.store.memory.RamTier;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens objects from disk on I/O threads, with memory reserved for the content.
 *
 * <p>Thread-safe.
 */
final class ObjectOpening<H> {
    /** Maximum number of attempts to load an object that changes its location. */
    private static final int LOAD_TRIES = 3;
    /** Maximum number of lookups for a partial object whose head record is being replaced. */
    private static final int LOOKUPS_MAX = 3;

    private static final Logger LOG = LoggerFactory.getLogger(ObjectOpening.class);

    private final StoreCounters counters;
    private final MemoryBudget budget;
    private final RamTier<ResidentObject<H>> ram;
    private final VolumeGroup volumes;
    private final ObjectLoader<H> loader;
    private final ObjectChanges<H> changes;
    private final ReadPool reads;
    private final WaitingOpens waiting;
    /**
     * Returns the object of a key in RAM, retained; null if there is none. Another open of the key may have loaded it
     * while this one was queued.
     */
    private final Function<StoreKey, @Nullable StoreObject<H>> loadedMeanwhile;

    /** Bytes reserved for each open while it runs. */
    private final long admittedBytes;

    ObjectOpening(
            StoreConfig config,
            StoreCounters counters,
            MemoryBudget budget,
            RamTier<ResidentObject<H>> ram,
            VolumeGroup volumes,
            ObjectLoader<H> loader,
            ObjectChanges<H> changes,
            ReadPool reads,
            WaitingOpens waiting,
            Function<StoreKey, @Nullable StoreObject<H>> loadedMeanwhile) {
        this.counters = counters;
        this.budget = budget;
        this.ram = ram;
        this.volumes = volumes;
        this.loader = loader;
        this.changes = changes;
        this.reads = reads;
        this.waiting = waiting;
        this.loadedMeanwhile = loadedMeanwhile;
        admittedBytes = config.ramObjectBytesMax();
    }

    /** Queues an open of a key that has no object in RAM. Replies on {@code replyOn}, with an object or null. */
    void start(StoreKey key, Executor replyOn, OpenCallback<H> reply) {
        if (!reads.execute(new Opening(key, replyOn, reply, waiting.deadlineNanos()))) {
            counters.opensRefused.increment();
            Replies.opened(replyOn, reply, null);
        }
    }

    /**
     * One open of a key, which runs on an I/O thread and replies exactly once. If a page of a memory-mapped file cannot
     * be read, the JVM throws InternalError in the reading thread, possibly some instructions later. Such an open
     * counts as a miss.
     */
    private final class Opening implements Runnable {
        private final StoreKey key;
        private final Executor replyOn;
        private final OpenCallback<H> reply;
        private final long deadlineNanos;
        private boolean answered;

        Opening(StoreKey key, Executor replyOn, OpenCallback<H> reply, long deadlineNanos) {
            this.key = key;
            this.replyOn = replyOn;
            this.reply = reply;
            this.deadlineNanos = deadlineNanos;
        }

        @Override
        public void run() {
            volumes.recordRequest(key);
            StoreObject<H> loaded = loadedMeanwhile.apply(key);
            if (loaded == null) {
                lookUp();
            } else {
                answer(loaded);
            }
        }

        /** Performs the lookup: initially, and again when an index that was being rebuilt is complete. */
        private void lookUp() {
            try {
                lookUpWithMemory();
            } catch (InternalError e) {
                LOG.warn("a lookup failed, because a memory-mapped file cannot be read: {}", e.toString());
            } finally {
                if (!answered) {
                    answer(null);
                }
            }
        }

        /** Looks up the key, or refuses the open if memory for the content is missing. */
        private void lookUpWithMemory() {
            if (!budget.reserve(MemoryBudget.Part.READING, admittedBytes)) {
                budget.countRefusal(MemoryBudget.Part.READING);
                refuse();
                return;
            }
            try {
                lookUpOnVolumes();
            } finally {
                // The reservation ends here, because the content that was read has a reservation of its own.
                budget.release(MemoryBudget.Part.READING, admittedBytes);
            }
        }

        private void lookUpOnVolumes() {
            long indexChanges = waiting.indexChanges();
            int opening = volumes.openingCount();
            Found<H> found = newest(key);
            if (mustWait(found) && addToWaiting(indexChanges)) {
                release(found);
                if (!volumes.isOpening()) {
                    // A volume may end its opening without a change of its index, for example when it is
                    // released to another process.
                    waiting.retry();
                }
                return;
            }
            if (opening != volumes.openingCount()) {
                // An index became complete during the lookup, which may have missed entries of that index.
                release(found);
                found = newest(key);
            }
            answer(found == null ? null : promoted(key, found, true));
        }

        private void release(@Nullable Found<H> found) {
            if (found != null) {
                found.object().release();
            }
        }

        /**
         * Returns true if a volume with an incomplete index may hold the object. Also true if that volume may hold a
         * newer version than {@code found}.
         */
        private boolean mustWait(@Nullable Found<H> found) {
            return volumes.isOpening()
                    && !changes.isSuspended()
                    && (found == null || volumes.isTargetRebuilding(key, found.volume()));
        }

        /** Adds this open to the waiting ones. Returns false if it cannot wait, and must reply now. */
        private boolean addToWaiting(long changesAtBegin) {
            // From here on, the waiting entry sends the reply: the entry itself, or the new Opening that it creates.
            answered = true;
            boolean taken = waiting.add(
                    deadlineNanos,
                    changesAtBegin,
                    () -> {
                        if (!reads.execute(new Opening(key, replyOn, reply, deadlineNanos)::lookUp)) {
                            answer(null);
                        }
                    },
                    () -> {
                        counters.opensRefused.increment();
                        answer(null);
                    });
            answered = taken;
            return taken;
        }

        private void refuse() {
            answered = true;
            counters.opensRefused.increment();
            Replies.opened(replyOn, reply, null);
        }

        private void answer(@Nullable StoreObject<H> found) {
            answered = true;
            (found == null ? counters.diskMisses : counters.diskHits).increment();
            Replies.opened(replyOn, reply, found);
        }
    }

    /** An object that a volume holds for the key, retained. */
    private record Found<H>(Volume volume, long location, StoreObject<H> object) {}

    /**
     * Loads the key's object from disk into RAM. Returns the object, retained. Returns null if it is in RAM already, is
     * not found, or memory is not available. Blocks on the disk.
     */
    @Nullable
    StoreObject<H> loadForRam(StoreKey key) {
        boolean mayLoad = !changes.isClosed()
                && !changes.isSuspended()
                && !ram.contains(key.hashLow(), key.bytes())
                && budget.reserve(MemoryBudget.Part.READING, admittedBytes);
        if (!mayLoad) {
            return null;
        }
        try {
            Found<H> found = newest(key);
            return found == null ? null : promoted(key, found, false);
        } finally {
            budget.release(MemoryBudget.Part.READING, admittedBytes);
        }
    }

    /**
     * Promotes the found object to RAM, and returns the key's current object, retained. If the head record of a partial
     * object was replaced since the lookup, repeats the lookup, because the newer head record lists more blocks.
     *
     * @param requested true if a caller opened the object; false if it is only loaded into RAM
     */
    private @Nullable StoreObject<H> promoted(StoreKey key, Found<H> first, boolean requested) {
        Found<H> found = first;
        for (int lookups = 1; found != null; lookups++) {
            StoreObject<H> object = changes.promote(found.volume(), found.location(), found.object(), requested);
            if (object != null || lookups == LOOKUPS_MAX) {
                return object;
            }
            PendingChange<H> pending = changes.pending(key);
            found = pending != null && pending.object() == null ? null : newest(key);
        }
        return null;
    }

    /**
     * Looks up the key on all readable volumes. Returns the newest object, which has the greatest id; null if there is
     * none.
     */
    private @Nullable Found<H> newest(StoreKey key) {
        Found<H> newest = null;
        int count = volumes.slots().length;
        for (int number = 0; number < count; number++) {
            Volume volume = volumes.readable(number);
            Found<H> found = volume == null ? null : load(volume, number, key);
            if (found == null) {
                continue;
            }
            boolean newer = newest == null
                    || found.object().objectId() > newest.object().objectId();
            Found<H> other = newer ? newest : found;
            newest = newer ? found : newest;
            if (other != null) {
                supersede(other, key);
            }
        }
        return newest;
    }

    /**
     * Removes an object because another volume holds a newer object of the key. The tombstone (record of the removal)
     * of the older object is still queued, or it was lost when the process ended. Without this removal, a lookup would
     * find the older object after the newer one is evicted.
     */
    private void supersede(Found<H> older, StoreKey key) {
        older.object().release();
        older.volume().execute(() -> older.volume().drop(ObjectAppender.diskKey(key), older.location()));
    }

    private @Nullable Found<H> load(Volume volume, int number, StoreKey key) {
        long location = volume.find(key.hashHigh(), key.hashLow());
        for (int tries = 0; location != Location.NONE && tries < LOAD_TRIES; tries++) {
            StoreObject<H> found = load(volume, number, location, key);
            if (found != null) {
                return new Found<>(volume, location, found);
            }
            // Since the lookup, a new head may have been appended, and the segment of the old head may have been
            // reclaimed.
            long currentLocation = volume.find(key.hashHigh(), key.hashLow());
            location = currentLocation == location ? Location.NONE : currentLocation;
        }
        return null;
    }

    private @Nullable StoreObject<H> load(Volume volume, int number, long location, StoreKey key) {
        try {
            return loader.load(volume, number, location, key);
        } catch (DamagedRecordException e) {
            counters.recordsDamaged.increment();
            volume.execute(() -> volume.drop(ObjectAppender.diskKey(key), location));
        } catch (IOException e) {
            volume.failed(e);
        }
        return null;
    }
}
