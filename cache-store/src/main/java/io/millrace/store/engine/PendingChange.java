package io.millrace.store.engine;

import org.jspecify.annotations.Nullable;

/**
 * What a key holds while the disk does not know it yet: an object on its way to disk, or nothing because a tombstone is.
 *
 * <p>Immutable; holds a reference to its object, which whoever settles the change gives up.
 *
 * @param <H> the decoded head
 */
final class PendingChange<H> {
    private final @Nullable StoreObject<H> object;

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

    void release() {
        if (object != null) {
            object.release();
        }
    }
}
