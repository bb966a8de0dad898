package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * A reader of objects in RAM that takes no references. A read writes no shared memory. Therefore any number of threads
 * can read the same object without contention, each with its own reader.
 *
 * <p>An object found between {@link #begin} and {@link #end} stays readable until {@code end}, even if it is replaced,
 * removed or evicted in the meantime. To use it longer, retain it before {@code end}. The memory of an object that is
 * removed in the meantime is not freed before {@code end}. Therefore keep the time between {@code begin} and
 * {@code end} short, and never block between them.
 *
 * <p>Confined to one thread. The owner closes it, also after the store is closed.
 *
 * @param <H> the decoded head of an object
 */
public interface ResidentReader<H> extends AutoCloseable {
    /**
     * Begins a read section: objects found from now on remain readable until {@link #end}. Sections cannot be nested.
     */
    void begin();

    /**
     * Returns the object if it is in RAM, like {@link CacheStore#get} but borrowed: the caller must not release it.
     * Call only between {@link #begin} and {@link #end}.
     */
    @Nullable
    StoredObject<H> get(StoreKey key);

    /** Ends the read section. Objects that were found and not retained must no longer be used. */
    void end();

    /** Closes the reader, which must not be used afterwards. */
    @Override
    void close();
}
