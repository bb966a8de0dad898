package io.millrace.store.engine.filling;

import io.millrace.store.StoreKey;
import io.millrace.store.disk.Volume;
import org.jspecify.annotations.Nullable;

/**
 * The destination of a new object, with its limits.
 *
 * @param key key of the object
 * @param ticket registration of the fill, invalidated if the key is removed during the fill
 * @param volume volume that stores the object, null if the object stays in RAM
 * @param blockBytes bytes of a block
 * @param bodyBytesMax longest accepted body; negative if no body is accepted
 */
public record FillTarget(
        StoreKey key, FillRegister.Ticket ticket, @Nullable Volume volume, int blockBytes, long bodyBytesMax) {
    /** Returns true if no body is accepted. */
    public boolean isRefused() {
        return bodyBytesMax < 0;
    }
}
