package io.millrace.store.engine;

import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.RecordAppendCallback;
import io.millrace.store.engine.filling.FillTarget;
import io.millrace.store.engine.filling.FillingObject;
import io.millrace.store.engine.object.ResidentObject;
import io.millrace.store.engine.object.StoreObject;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The change that stores a new object under its key.
 *
 * <p>An instance of this class is at once the pending change and the {@link PendingChanges.Step} that makes the change.
 * An instance of {@link Whole} is also the task that writes to the volume; {@link InBlocks} creates a separate task.
 * One instance for these roles keeps the heap per stored object small.
 *
 * <p>Thread-safe like its superclass. The fields change only in the step, which runs once.
 *
 * @param <H> the decoded head
 */
abstract class ObjectStoring<H> extends PendingChange<H> implements PendingChanges.Step<H> {
    private final ObjectChanges<H> changes;
    private final FillTarget target;
    private final StoreObject<H> stored;
    private boolean done;

    /** Creates the change, which takes over a reference to the object. */
    ObjectStoring(ObjectChanges<H> changes, FillTarget target, StoreObject<H> object) {
        super(object);
        this.changes = changes;
        this.target = target;
        this.stored = object;
    }

    final ObjectChanges<H> changes() {
        return changes;
    }

    final FillTarget target() {
        return target;
    }

    /** Returns the decoded head of an object that the volume must still admit; null if it is admitted already. */
    abstract @Nullable H head();

    /** Queues the write of the object. Returns false if the volume did not accept it. */
    abstract boolean enqueue(PendingChanges<H> pending, Volume volume);

    @Override
    public final @Nullable PendingChange<H> apply(@Nullable PendingChange<H> before) {
        return changes.store(this, stored, before);
    }

    /** Records that the object is stored under the key. */
    final void markDone() {
        done = true;
    }

    /** Returns true if the object was stored. Call on the thread that ran the step. */
    final boolean isDone() {
        return done;
    }

    /**
     * Stores an object that fits in one record. The volume may write it in one batch with the next queued objects.
     * Retains the decoded head until the write has ended.
     */
    static final class Whole<H> extends ObjectStoring<H> implements Volume.GatheringTask, RecordAppendCallback {
        private final ResidentObject<H> object;
        private final H head;
        /** The volume that receives the object; set before the write is queued. */
        private @Nullable Volume volume;
        /** Bytes counted in the volume's queue: the body, and the heap memory of the decoded head. */
        private long bytes;

        Whole(ObjectChanges<H> changes, FillTarget target, ResidentObject<H> object, H head) {
            super(changes, target, object);
            this.object = object;
            this.head = head;
        }

        @Override
        H head() {
            return head;
        }

        @Override
        boolean enqueue(PendingChanges<H> pending, Volume to) {
            if (pending.isFull(to)) {
                return false;
            }
            volume = to;
            bytes = object.length() + changes().codec().heapBytes(head);
            to.addQueuedBytes(bytes);
            begin();
            boolean taken = to.executeGathering(this);
            if (!taken) {
                to.subtractQueuedBytes(bytes);
                end();
            }
            return taken;
        }

        /** Appends the object. Runs on the volume's thread. */
        @Override
        public void run() {
            Volume to = volume;
            boolean passedOn = false;
            try {
                if (to != null) {
                    changes().appender().complete(to, object, head, this);
                    passedOn = true;
                }
            } finally {
                if (!passedOn) {
                    appended(new IOException("the object could not be appended: " + object.key()));
                }
            }
        }

        @Override
        public void appended(@Nullable IOException failure) {
            Volume to = volume;
            if (to != null) {
                changes().completeWrite(to, this, bytes, failure);
            }
        }
    }

    /** Stores an object with its body in blocks, which the volume has admitted. */
    static final class InBlocks<H> extends ObjectStoring<H> {
        private final PendingWrite write;

        InBlocks(
                ObjectChanges<H> changes,
                FillTarget target,
                FillingObject<H> object,
                PendingWrite.VolumeWrite appendHead) {
            super(changes, target, object);
            write = new PendingWrite.AtOnce(target.key(), appendHead);
        }

        @Override
        @Nullable
        H head() {
            return null;
        }

        @Override
        boolean enqueue(PendingChanges<H> pending, Volume volume) {
            return pending.enqueue(volume, target().key(), this, write);
        }
    }
}
