package io.millrace.store.disk;

import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * The current superblock of a volume, with methods that rewrite it.
 *
 * <p>The superblock records the size of the volume, its store, and the volumes that are members of that store. Only
 * the volume's thread changes the superblock. Any thread reads it.
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

    /**
     * Writes the superblock with these members of the store and this generation (a number that increases when a member
     * is lost).
     */
    void write(long generation, List<UUID> members) {
        try {
            Superblock next = superblock.with(superblock.storeId(), generation, superblock.openCount(), members);
            superblock = next.write(file);
        } catch (IOException e) {
            health.failed(e);
        }
    }

    /** Writes a superblock without this volume as a member, so that the volume starts empty when it is opened again. */
    void leave() {
        List<UUID> others = new ArrayList<>(superblock.members());
        others.remove(superblock.volumeId());
        write(superblock.generation(), others);
    }

    /** Returns true if the volume is not a member of its store. */
    boolean hasLeft() {
        return !superblock.members().contains(superblock.volumeId());
    }

    /** Writes a superblock with this number of segments, then truncates the file after them. */
    void cutOff(int segmentCount) throws IOException {
        superblock = superblock.withSegments(segmentCount).write(file);
        file.resize(superblock.fileBytes());
    }
}
