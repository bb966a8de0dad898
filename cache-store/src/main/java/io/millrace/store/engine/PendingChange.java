package io.millrace.store.engine;

import io.millrace.store.engine.object.StoreObject;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * A change of one key that the volumes' indexes do not contain yet.
 *
 * <p>It holds the object that is being written to disk, or no object while a tombstone (the record of a removal) is
 * being written. The change is complete when all its writes have ended.
 *
 * <p>Thread-safe. Holds a reference to its object, which is released when the change is complete.
 *
 * @param <H> the decoded head
 */
class PendingChange<H> {
    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<PendingChange> OUTSTANDING =
            AtomicIntegerFieldUpdater.newUpdater(PendingChange.class, "outstanding");

    private final @Nullable StoreObject<H> object;
    /** Number of writes that must end before the change is complete. */
    @SuppressWarnings("UnusedVariable") // accessed through the field updater OUTSTANDING
    private volatile int outstanding;

    /**
     * Creates a change that stores the object, or removes the key if it is null. Takes over a reference to the object.
     */
    PendingChange(@Nullable StoreObject<H> object) {
        this.object = object;
    }

    /** Creates a change that stores the object, and takes over a reference to the object. */
    static <H> PendingChange<H> stored(StoreObject<H> object) {
        return new PendingChange<>(object);
    }

    /** Creates a change that removes the key. */
    static <H> PendingChange<H> removed() {
        return new PendingChange<>(null);
    }

    /** Returns the object, borrowed; null if the key was removed. */
    final @Nullable StoreObject<H> object() {
        return object;
    }

    /** Adds an outstanding write. */
    final void begin() {
        OUTSTANDING.incrementAndGet(this);
    }

    /** Ends an outstanding write. Returns true if it was the last one, so that the change is complete. */
    final boolean end() {
        return OUTSTANDING.decrementAndGet(this) == 0;
    }

    /** Releases the reference to the object, if there is one. */
    final void release() {
        if (object != null) {
            object.release();
        }
    }
}
