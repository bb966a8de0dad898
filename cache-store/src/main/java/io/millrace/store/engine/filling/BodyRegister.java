package io.millrace.store.engine.filling;

import io.millrace.store.StoreKey;
import io.millrace.store.engine.object.BlockMap;
import io.millrace.store.engine.object.ReadPool;
import io.millrace.store.memory.CountingAllocator;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The incomplete bodies in use, by object id.
 *
 * <p>All handles of an object share one body, so readers can read the blocks that any writer adds.
 *
 * <p>Thread-safe.
 *
 * @param <H> the decoded head
 */
public final class BodyRegister<H> {
    private final ConcurrentHashMap<Long, FillingBody<H>> bodies = new ConcurrentHashMap<>();
    private final FillRegister fills;
    private final CountingAllocator allocator;
    private final ReadPool pool;

    /** Creates the register of one store; its bodies share these three services. */
    public BodyRegister(FillRegister fills, CountingAllocator allocator, ReadPool pool) {
        this.fills = fills;
        this.allocator = allocator;
        this.pool = pool;
    }

    /**
     * Creates the body of a new object, without content; the caller releases it. The ticket is the body's entry in the
     * {@link FillRegister}; the body removes it after its last reference was released.
     */
    public FillingBody<H> create(StoreKey key, FillRegister.Ticket ticket, @Nullable BlockMap onDisk, int blockBytes) {
        FillingBody<H> body = new FillingBody<>(this, key, ticket, onDisk, blockBytes);
        bodies.put(ticket.objectId(), body);
        return body;
    }

    /**
     * Returns the body of a partial object: the body already in use, or a new body with the blocks in
     * {@code onDisk}. The caller releases the body. Takes ownership of the map and its pins.
     */
    public FillingBody<H> open(StoreKey key, long objectId, BlockMap onDisk, long length) {
        FillingBody<H> result = bodies.compute(objectId, (id, existing) -> {
            if (existing != null && existing.isUsable(onDisk.volume()) && existing.tryRetain()) {
                return existing;
            }
            FillRegister.Ticket ticket = fills.begin(key, objectId);
            ticket.markStored();
            return FillingBody.opened(this, key, ticket, onDisk, length);
        });
        if (!result.owns(onDisk)) {
            onDisk.unpin();
        }
        return result;
    }

    /** Removes a body after its last reference was released. */
    void remove(FillingBody<H> body) {
        bodies.remove(body.ticket().objectId(), body);
        fills.end(body.key(), body.ticket());
    }

    /** Returns the allocator of bodies being filled. */
    public CountingAllocator allocator() {
        return allocator;
    }

    ReadPool pool() {
        return pool;
    }

    /** Returns the number of bodies in use. */
    int size() {
        return bodies.size();
    }
}
