package io.millrace.store;

import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The store that takes over the volumes of another store, for example in a new process. The store that has released the
 * volumes calls it.
 *
 * <p>Called on any thread of the store or of its callers; must not block.
 */
@FunctionalInterface
public interface Successor {
    /**
     * Passes to the successor a removal or a journal entry that was requested after the release of the volumes.
     *
     * @param change the encoded change, which the successor passes to its {@link CacheStore#applyChange}; never
     *     modified
     * @param reply called once, on any thread: null when the successor has made the change durable
     */
    void apply(byte[] change, Consumer<@Nullable IOException> reply);
}
