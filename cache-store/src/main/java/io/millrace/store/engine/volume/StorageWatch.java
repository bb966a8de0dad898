package io.millrace.store.engine.volume;

import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeParts;
import io.millrace.store.io.FileIo;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes volumes offline whose file was deleted or replaced while the store runs. Reads and writes of a deleted file
 * continue without an error, but its content is lost after a restart.
 *
 * <p>Does not check volumes on devices. Thread-safe; a check blocks on the disk, and only one runs at a time.
 */
public final class StorageWatch {
    private static final Logger LOG = LoggerFactory.getLogger(StorageWatch.class);

    private final FileIo io;
    private final VolumeGroup volumes;
    /** Identity of each volume's file when the volume was first seen. */
    private final Map<Volume, Object> identities = new WeakHashMap<>();

    private final ReentrantLock checking = new ReentrantLock();

    /** Creates the check of these volumes' storage paths. */
    public StorageWatch(FileIo io, VolumeGroup volumes) {
        this.io = io;
        this.volumes = volumes;
    }

    /** Compares the file at each working volume's path with the file that was opened. */
    public void check() {
        if (!checking.tryLock()) {
            // The previous check still blocks on a device.
            return;
        }
        try {
            for (VolumeGroup.Slot slot : volumes.slots()) {
                Volume volume = slot.volume();
                if (volume != null && volume.isWorking()) {
                    check(volume);
                }
            }
        } finally {
            checking.unlock();
        }
    }

    private void check(Volume volume) {
        Path file = volume.directory().resolve(VolumeParts.FILE_NAME);
        Object firstIdentity = identities.get(volume);
        try {
            Object currentIdentity = io.identity(file);
            if (firstIdentity == null && currentIdentity != null) {
                identities.put(volume, currentIdentity);
            } else if (firstIdentity != null && !firstIdentity.equals(currentIdentity)) {
                volume.takeOffline("the file " + file + " was replaced while in use; run `millctl storage online`");
            }
        } catch (NoSuchFileException e) {
            if (firstIdentity != null) {
                volume.takeOffline("the file " + file + " was deleted while in use; run `millctl storage online`");
            }
        } catch (IOException e) {
            LOG.debug("{}: the identity of the file cannot be read", file, e);
        }
    }
}
