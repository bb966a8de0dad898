package io.millrace.launcher.state;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.StorageConfig;
import io.millrace.proxy.config.key.VolumeShareConfig;
import io.millrace.store.tool.StoreOwner;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Checks whether another process has opened a storage path. Stateless. */
public final class StorageOwners {
    private StorageOwners() {}

    /**
     * Checks all storage paths. To be called before sockets are bound and workers are started.
     *
     * @param config the configuration, after default storage paths were added
     * @param ownWorker process id of the worker that this launcher adopts, which may have the paths open; 0 for none
     * @throws LaunchException if a path is in use; the message contains the path and its owner
     */
    public static void checkFree(ProxyConfig config, long ownWorker) throws LaunchException {
        for (StorageConfig storage : config.storage()) {
            @Nullable Path index = storage.indexPath();
            List<Path> directories = new ArrayList<>();
            directories.add(index == null ? storage.path() : index);
            for (VolumeShareConfig share : config.volumes()) {
                directories.add(storage.path().resolve(share.name()));
            }
            for (Path directory : directories) {
                Optional<StoreOwner> found = StoreOwner.of(directory, index == null ? null : storage.path());
                if (found.isPresent() && (found.get().pid() == 0 || found.get().pid() != ownWorker)) {
                    StoreOwner owner = found.get();
                    throw new LaunchException(owner.path() + " is in use by another process (" + owner.text()
                            + "); stop that process, or configure another storage path");
                }
            }
        }
    }
}
