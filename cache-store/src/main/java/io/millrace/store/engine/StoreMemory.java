package io.millrace.store.engine;

import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.memory.BodyPool;
import io.millrace.store.memory.CountingAllocator;
import io.millrace.store.memory.MemoryBudget;
import io.millrace.store.memory.MemoryBudget.Part;
import io.millrace.store.memory.RamTier;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory of a store: one budget, one pool, and one allocator per use.
 *
 * <p>The uses are bodies that are being received, content that was read from disk, and heads (metadata of objects) that
 * are being written.
 *
 * <p>Thread-safe.
 */
final class StoreMemory {
    private static final Logger LOG = LoggerFactory.getLogger(StoreMemory.class);
    /** A warning is logged when keys and heads use at least this many sixteenths of their heap limit. */
    private static final int HEAP_FULL_SIXTEENTHS = 15;

    private final MemoryBudget budget;
    private final BodyPool pool;
    /** True after the warning about the heap limit was logged. */
    private final AtomicBoolean heapWarned = new AtomicBoolean();

    private final CountingAllocator filling;
    private final CountingAllocator reading;
    private final CountingAllocator writing;

    StoreMemory(StoreConfig config) {
        budget = new MemoryBudget(config.ramBytes(), config.ramHeapBytesMax());
        pool = new BodyPool(config.allocator(), budget.bytesMax());
        budget.chunks(pool::chunkBytes);
        filling = new CountingAllocator(pool, budget, Part.FILLING);
        reading = new CountingAllocator(pool, budget, Part.READING);
        writing = new CountingAllocator(pool, budget, Part.WRITING);
    }

    MemoryBudget budget() {
        return budget;
    }

    /** Returns the allocator of bodies being filled. */
    CountingAllocator filling() {
        return filling;
    }

    /** Returns the allocator of content read from disk. */
    CountingAllocator reading() {
        return reading;
    }

    /** Returns the allocator of heads being written to disk. */
    CountingAllocator writing() {
        return writing;
    }

    /**
     * Logs a warning, at most once, if the keys and heads of objects in RAM nearly use their heap limit. The RAM tier
     * is then full although it has space for more bodies. Called periodically.
     */
    void warnOfFullHeap(RamTier<?> ram) {
        long heap = budget.bytes(Part.ENTRIES);
        boolean full = heap / HEAP_FULL_SIXTEENTHS >= budget.entryBytesMax() / 16;
        if (full && heapWarned.compareAndSet(false, true)) {
            LOG.warn(
                    "the keys and heads of the {} objects in RAM use their limit of {} bytes of Java heap, so the RAM tier is full"
                            + " with {} of {} bytes; raise worker.heap_size",
                    ram.entries(),
                    budget.entryBytesMax(),
                    ram.bytes(),
                    ram.bytesMax());
        }
    }

    StoreStatistics.Memory statistics() {
        long resident = budget.bytes(Part.RESIDENT);
        long inFlight = budget.bytes(Part.FILLING) + budget.bytes(Part.READING) + budget.bytes(Part.WRITING);
        long chunks = pool.chunkBytes();
        return new StoreStatistics.Memory(
                budget.bytesMax(),
                resident,
                budget.bytes(Part.ENTRIES),
                budget.entryBytesMax(),
                budget.bytes(Part.FILLING),
                budget.bytes(Part.READING),
                budget.bytes(Part.WRITING),
                chunks == 0 ? 0 : Math.max(0, chunks - resident - inFlight),
                budget.refusedFills(),
                budget.refusedReads());
    }

    /** Releases the pool's memory that is not in use. */
    void close() {
        pool.close();
    }
}
