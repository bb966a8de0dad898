package io.millrace.store;

import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The interface of a store to the store that takes over its volumes.
 *
 * <p>Called on any thread of the store or of its callers; must not block.
 */
@FunctionalInterface
public interface Successor {
    /**
     * Passes on a removal or a journal entry that was requested after the volumes were released.
     *
     * @param change for {@link CacheStore#applyChange} of the successor; must never be changed
     * @param reply called once, on any thread: null when the successor has made the change durable
     */
    void apply(byte[] change, Consumer<@Nullable IOException> reply);
}
