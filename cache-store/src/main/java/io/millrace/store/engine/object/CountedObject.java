package io.millrace.store.engine.object;

import io.millrace.store.StoredObject;

/**
 * Base class of stored objects with a reference count; the creator holds the first reference.
 *
 * <p>Thread-safe.
 *
 * @param <H> the decoded head
 */
public abstract class CountedObject<H> extends Counted implements StoreObject<H> {
    @Override
    public final StoredObject<H> retain() {
        addReference();
        return this;
    }
}
