package io.millrace.store.engine;

import io.millrace.store.engine.object.StoreObject;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The content of a key while the volumes' indexes do not contain it yet. It is an object being written to disk, or
 * empty while a tombstone is being written.
 *
 * <p>Thread-safe. Holds a reference to its object, which is released when the change is settled.
 *
 * @param <H> the decoded head
 */
final class PendingChange<H> {
    private final @Nullable StoreObject<H> object;
    /** Number of writes that must end before the volumes' indexes match this change. */
    private final AtomicInteger outstanding = new AtomicInteger();

    private PendingChange(@Nullable StoreObject<H> object) {
        this.object = object;
    }

    /** Creates a change to this object; takes over a reference to it. */
    static <H> PendingChange<H> stored(StoreObject<H> object) {
        return new PendingChange<>(object);
    }

    /** Creates a change that removes the key. */
    static <H> PendingChange<H> removed() {
        return new PendingChange<>(null);
    }

    /** Returns the object, borrowed; null if the key was removed. */
    @Nullable
    StoreObject<H> object() {
        return object;
    }

    /** Adds an outstanding write. */
    void begin() {
        outstanding.incrementAndGet();
    }

    /** Ends an outstanding write. Returns true if it was the last one, so that the change is settled. */
    boolean end() {
        return outstanding.decrementAndGet() == 0;
    }

    void release() {
        if (object != null) {
            object.release();
        }
    }
}
