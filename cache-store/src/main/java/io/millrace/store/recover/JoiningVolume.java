package io.millrace.store.recover;

import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeListener;
import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.io.FileIo;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A volume that was opened to join a running store: a volume that was offline, or a new volume.
 *
 * <p>The volume keeps its content only if its superblock has not changed since it went offline. An unchanged superblock
 * proves that no other store used the volume. The volume is not a member of the store yet: after a crash before
 * {@link Volume#membership} is called, it starts empty.
 *
 * @param volume the volume, whose threads are not started yet
 * @param kept true if the content of the volume is valid; false if the volume starts empty
 */
public record JoiningVolume(Volume volume, boolean kept) {
    /** The store that the volume joins. Its generation increases when a volume is lost. Immutable. */
    public record Store(UUID id, long generation, long openCount) {}

    /**
     * Opens the volume.
     *
     * @param offlineSuperblock the superblock when the volume went offline; null if the volume must start empty
     * @throws IOException if the volume cannot be opened, or if another store holds its lease
     */
    public static JoiningVolume open(
            FileIo io,
            VolumeSpec spec,
            Store store,
            @Nullable Superblock offlineSuperblock,
            ByteBufAllocator allocator,
            VolumeListener listener)
            throws IOException {
        VolumeFiles files = VolumeFiles.open(io, spec);
        boolean opened = false;
        try {
            boolean kept = offlineSuperblock != null && offlineSuperblock.equals(files.found());
            if (!kept) {
                files.format(store.id());
                files.write(store.id(), store.generation(), store.openCount(), List.of());
            }
            Volume volume = IndexOpening.open(io, files, allocator, listener);
            opened = true;
            return new JoiningVolume(volume, kept);
        } finally {
            if (!opened) {
                files.close();
            }
        }
    }
}
