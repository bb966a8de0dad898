package io.millrace.store.engine.filling;

import io.millrace.store.StoreKey;
import io.millrace.store.disk.Volume;
import org.jspecify.annotations.Nullable;

/**
 * Where a new object goes and within which bounds.
 *
 * @param key its key
 * @param ticket tells whether the key was removed since the fill began
 * @param volume its volume, null when it stays in RAM
 * @param blockBytes bytes of a block
 * @param bodyBytesMax longest body that is taken; negative when nothing is
 */
public record FillTarget(
        StoreKey key, FillRegister.Ticket ticket, @Nullable Volume volume, int blockBytes, long bodyBytesMax) {
    /** Whether there is nowhere to write to. */
    public boolean isRefused() {
        return bodyBytesMax < 0;
    }
}
