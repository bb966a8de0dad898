package io.millrace.store.disk;

import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * What a volume is, as its superblock says: its size, its store, and the members of that.
 *
 * <p>Changed on the volume's thread, or by who ended that; read by any.
 */
final class VolumeMembership {
    private final StoreFile file;
    private final VolumeHealth health;
    private volatile Superblock superblock;

    VolumeMembership(StoreFile file, Superblock superblock, VolumeHealth health) {
        this.file = file;
        this.superblock = superblock;
        this.health = health;
    }

    Superblock superblock() {
        return superblock;
    }

    /** Writes the superblock with another generation and other members. */
    void write(long generation, List<UUID> members) {
        try {
            Superblock next = superblock.with(superblock.storeId(), generation, superblock.openCount(), members);
            superblock = next.write(file);
        } catch (IOException e) {
            health.failed(e);
        }
    }

    /** Writes the superblock as of one that is no member any more: opened as one it starts empty. */
    void leave() {
        List<UUID> others = new ArrayList<>(superblock.members());
        others.remove(superblock.volumeId());
        write(superblock.generation(), others);
    }

    /** Whether it is not, or no longer, a member of its store. */
    boolean hasLeft() {
        return !superblock.members().contains(superblock.volumeId());
    }

    /** Cuts the file off behind this many segments. */
    void cutOff(int segmentCount) throws IOException {
        superblock = superblock.withSegments(segmentCount).write(file);
        file.resize(superblock.fileBytes());
    }
}
