package io.millrace.store.engine;

import io.millrace.store.engine.object.StoreObject;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What a key holds while the disk does not know it yet: an object on its way to disk, or nothing because a tombstone is.
 *
 * <p>Thread-safe; holds a reference to its object, which whoever settles the change gives up.
 *
 * @param <H> the decoded head
 */
final class PendingChange<H> {
    private final @Nullable StoreObject<H> object;
    /** What must be through before the volumes' indexes say the same as this does. */
    private final AtomicInteger outstanding = new AtomicInteger();

    private PendingChange(@Nullable StoreObject<H> object) {
        this.object = object;
    }

    /** The key holds the object; takes over a reference to it. */
    static <H> PendingChange<H> stored(StoreObject<H> object) {
        return new PendingChange<>(object);
    }

    /** The key holds nothing. */
    static <H> PendingChange<H> removed() {
        return new PendingChange<>(null);
    }

    /** The object, borrowed; null when the key was removed. */
    @Nullable
    StoreObject<H> object() {
        return object;
    }

    /** One more volume is to be told. */
    void begin() {
        outstanding.incrementAndGet();
    }

    /** One of those that were to be told is; whether it was the last, so that the change is settled. */
    boolean end() {
        return outstanding.decrementAndGet() == 0;
    }

    void release() {
        if (object != null) {
            object.release();
        }
    }
}
