package io.millrace.store;

import java.io.IOException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The store that takes the volumes over, as the one before it reaches it.
 *
 * <p>Called on any thread of the store or of its callers; does not block.
 */
@FunctionalInterface
public interface Successor {
    /**
     * Passes on a removal or a journal entry that came after the volumes were released.
     *
     * @param change for {@link CacheStore#applyChange} of the successor; never changed
     * @param reply told once, on any thread: null when the successor has made the change durable
     */
    void apply(byte[] change, Consumer<@Nullable IOException> reply);
}
