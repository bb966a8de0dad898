package io.millrace.store.engine;

import io.millrace.store.StoredObject;
import io.netty.util.IllegalReferenceCountException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The reference count of an object; whoever makes one holds the first reference.
 *
 * <p>Thread-safe.
 *
 * @param <H> the decoded head
 */
abstract class CountedObject<H> implements StoreObject<H> {
    private final AtomicInteger references = new AtomicInteger(1);

    /** The last reference is gone: called once. */
    abstract void deallocate();

    @Override
    public final StoredObject<H> retain() {
        if (!tryRetain()) {
            throw new IllegalReferenceCountException("retain of an object that was released");
        }
        return this;
    }

    @Override
    public final boolean tryRetain() {
        int count = references.get();
        while (count > 0) {
            if (references.compareAndSet(count, count + 1)) {
                return true;
            }
            count = references.get();
        }
        return false;
    }

    @Override
    public final boolean release() {
        int left = references.decrementAndGet();
        if (left < 0) {
            throw new IllegalReferenceCountException(left, -1);
        }
        if (left == 0) {
            deallocate();
        }
        return left == 0;
    }
}
