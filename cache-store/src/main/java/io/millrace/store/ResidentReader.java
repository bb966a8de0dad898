package io.millrace.store;

import org.jspecify.annotations.Nullable;

/**
 * Reads objects in RAM without holding them: nothing that other threads look at is written, so that any number of threads may read
 * the same object as cheaply as each one of its own.
 *
 * <p>What is found between {@link #begin} and {@link #end} stays readable until {@code end}, also when it is replaced, removed or
 * evicted meanwhile; who wants it longer retains it before. What goes meanwhile keeps its memory until then: so a reader begins late, ends
 * soon, and never waits in between.
 *
 * <p>Confined to one thread. Its owner closes it; the store need not be open then.
 *
 * @param <H> the decoded head of an object
 */
public interface ResidentReader<H> extends AutoCloseable {
    /** What is found from now on stays until {@link #end}. Not to be nested. */
    void begin();

    /**
     * The object when it is in RAM, as {@link CacheStore#get} but borrowed: not to be released. Only between {@link #begin} and {@link
     * #end}.
     */
    @Nullable
    StoredObject<H> get(StoreKey key);

    /** What was found and not retained may go. */
    void end();

    /** Not to be used any more. */
    @Override
    void close();
}
