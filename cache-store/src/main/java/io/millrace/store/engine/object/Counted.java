package io.millrace.store.engine.object;

import io.netty.util.IllegalReferenceCountException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Base class with a reference count; the creator holds the first reference.
 *
 * <p>Thread-safe.
 */
public abstract class Counted {
    private final AtomicInteger references = new AtomicInteger(1);

    /** Called once, after the last reference was released. */
    protected abstract void deallocate();

    /** Adds a reference unless the last one was released. */
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

    /** Adds a reference; only a holder of a reference may call it. */
    public final void addReference() {
        if (!tryRetain()) {
            throw new IllegalReferenceCountException("retained after the last release");
        }
    }

    /** Releases one reference; returns true if it was the last. */
    public final boolean release() {
        int remaining = references.decrementAndGet();
        if (remaining < 0) {
            throw new IllegalReferenceCountException(remaining, -1);
        }
        if (remaining == 0) {
            deallocate();
        }
        return remaining == 0;
    }
}
