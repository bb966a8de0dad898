package io.millrace.store.tool;

import io.millrace.store.io.LockHolder;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The process that has a storage path open.
 *
 * @param path what it has open
 * @param pid its process id, 0 when not known
 * @param text for people: {@code pid 4711 on host cache1}
 */
public record StoreOwner(Path path, long pid, String text) {
    /**
     * Finds the process that has a volume open. Nothing is created or changed.
     *
     * @param directory of the volume, or of its index where the volume is a device or file
     * @param device the device or file, null where the volume is a directory
     * @return empty when the volume is free, as far as this machine can tell
     */
    public static Optional<StoreOwner> of(Path directory, @Nullable Path device) {
        LockHolder holder = LockHolder.ofDirectory(directory);
        if (holder != null) {
            return Optional.of(new StoreOwner(directory, holder.pid(), holder.toString()));
        }
        if (device == null) {
            return Optional.empty();
        }
        LockHolder ofDevice = LockHolder.ofFile(device);
        return ofDevice == null
                ? Optional.empty()
                : Optional.of(new StoreOwner(device, ofDevice.pid(), ofDevice.toString()));
    }
}
