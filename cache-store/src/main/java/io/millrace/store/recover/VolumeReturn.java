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
 * A volume that joins a running store: a returning offline volume, or a new volume.
 *
 * <p>It keeps its content only if its superblock is unchanged since it went offline, so that no other store can have
 * used it. It is not yet a member: after a crash before {@link Volume#membership} it starts empty.
 *
 * @param volume the volume, not started
 * @param kept whether its content is valid
 */
public record VolumeReturn(Volume volume, boolean kept) {
    /** The store that it joins: its id, generation and open count. Immutable. */
    public record Store(UUID id, long generation, long openCount) {}

    /**
     * Opens the volume.
     *
     * @param left the superblock when it went offline, null if it must start empty
     * @throws IOException if it cannot be opened, or another store holds its lease
     */
    public static VolumeReturn open(
            FileIo io,
            VolumeSpec spec,
            Store store,
            @Nullable Superblock left,
            ByteBufAllocator allocator,
            VolumeListener listener)
            throws IOException {
        VolumeFiles files = VolumeFiles.open(io, spec);
        boolean opened = false;
        try {
            boolean kept = left != null && left.equals(files.found());
            if (!kept) {
                files.format(store.id());
                files.write(store.id(), store.generation(), store.openCount(), List.of());
            }
            Volume volume = IndexOpening.open(io, files, allocator, listener);
            opened = true;
            return new VolumeReturn(volume, kept);
        } finally {
            if (!opened) {
                files.close();
            }
        }
    }
}
