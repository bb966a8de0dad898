package io.millrace.store.tool;

import io.millrace.store.io.LockHolder;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The process that has a storage path open.
 *
 * @param path the directory or device that the process has open
 * @param pid its process id; 0 if not known
 * @param text description for messages, such as {@code pid 4711 on host cache1}
 */
public record StoreOwner(Path path, long pid, String text) {
    /**
     * Finds the process that has a volume open. Changes no file.
     *
     * @param directory directory of the volume; for a device or file, the directory of its index
     * @param device the device or file; null if the volume is a directory
     * @return empty if no process is known to have the volume open
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
