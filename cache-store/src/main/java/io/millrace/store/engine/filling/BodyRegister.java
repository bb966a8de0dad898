package io.millrace.store.engine.filling;

import io.millrace.store.StoreKey;
import io.millrace.store.engine.object.BlockMap;
import io.millrace.store.engine.object.ReadPool;
import io.millrace.store.memory.CountingAllocator;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The bodies that are not whole and that somebody holds, by object id: so that all who hold one share it, and what one
 * writes the others read.
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

    /** Bodies of one store; they share the table of fills, the allocator and the read threads. */
    public BodyRegister(FillRegister fills, CountingAllocator allocator, ReadPool pool) {
        this.fills = fills;
        this.allocator = allocator;
        this.pool = pool;
    }

    /** The body of a new object, without bytes; the caller releases it. */
    public FillingBody<H> create(StoreKey key, long objectId, @Nullable BlockMap onDisk, int blockBytes) {
        FillingBody<H> body = new FillingBody<>(this, key, fills.begin(key, objectId), onDisk, blockBytes);
        bodies.put(objectId, body);
        return body;
    }

    /**
     * The body of a partial object, with what the map knows, or the one that others hold already; the caller releases
     * it. Takes over the map and its pins.
     */
    public FillingBody<H> open(StoreKey key, long objectId, BlockMap onDisk, long length) {
        FillingBody<H> result = bodies.compute(objectId, (id, others) -> {
            if (others != null && others.isUsable(onDisk.volume()) && others.tryRetain()) {
                return others;
            }
            FillRegister.Ticket ticket = fills.begin(key, objectId);
            ticket.settle();
            return FillingBody.opened(this, key, ticket, onDisk, length);
        });
        if (!result.owns(onDisk)) {
            onDisk.unpin();
        }
        return result;
    }

    /** Nobody holds the body any more. */
    void remove(FillingBody<H> body) {
        bodies.remove(body.ticket().objectId(), body);
        fills.end(body.key(), body.ticket());
    }

    CountingAllocator allocator() {
        return allocator;
    }

    ReadPool pool() {
        return pool;
    }

    /** Number of bodies held. */
    int size() {
        return bodies.size();
    }
}
