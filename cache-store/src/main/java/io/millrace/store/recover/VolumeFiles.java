package io.millrace.store.recover;

import io.millrace.store.disk.Superblock;
import io.millrace.store.disk.VolumeParts;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A volume whose lease is held and whose file is open, on its way to being a volume.
 *
 * <p>Confined to one thread.
 */
final class VolumeFiles {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeFiles.class);

    private final VolumeSpec spec;
    private final Closeable lease;
    private final StoreFile file;
    private @Nullable Superblock superblock;
    private boolean fresh;

    private VolumeFiles(VolumeSpec spec, Closeable lease, StoreFile file, @Nullable Superblock superblock) {
        this.spec = spec;
        this.lease = lease;
        this.file = file;
        this.superblock = superblock;
    }

    static VolumeFiles open(FileIo io, VolumeSpec spec) throws IOException {
        io.createDirectories(spec.directory());
        Closeable lease = io.lease(spec.directory());
        StoreFile file = null;
        try {
            file = io.open(spec.directory().resolve(VolumeParts.FILE_NAME));
            Superblock found = Superblock.read(file);
            if (found == null && file.length() > 0) {
                LOG.warn("{}: {}, starts empty", spec.directory(), Superblock.whyUnusable(file));
            }
            return new VolumeFiles(spec, lease, file, found);
        } catch (IOException | RuntimeException e) {
            if (file != null) {
                file.close();
            }
            lease.close();
            throw e;
        }
    }

    VolumeSpec spec() {
        return spec;
    }

    Closeable lease() {
        return lease;
    }

    StoreFile file() {
        return file;
    }

    /** What the volume was found to be, null for a new one. */
    @Nullable
    Superblock found() {
        return superblock;
    }

    /** Whether nothing in the volume counts. */
    boolean isFresh() {
        return fresh;
    }

    /** What the volume is, once {@link #format} or {@link #write} was called. */
    Superblock superblock() {
        Superblock block = superblock;
        if (block == null) {
            throw new IllegalStateException(spec.directory() + ": not formatted");
        }
        return block;
    }

    /** Makes it an empty volume under a new id. */
    void format(UUID storeId) throws IOException {
        if (superblock != null) {
            LOG.warn("{}: belongs to another store or missed removals, its content is dropped", spec.directory());
        }
        fresh = true;
        superblock = new Superblock(
                UUID.randomUUID(), storeId, spec.segmentBytes(), segmentCount(spec.segmentBytes()), 0, 0, 0, List.of());
        file.resize(0);
    }

    /** Number of segments that the configuration wants, fewer than there are when the volume is to shrink. */
    int segmentsWanted() {
        return segmentCount(superblock().segmentBytes());
    }

    /** Gives the file the size that is configured now, if that is more, and writes the superblock. */
    void write(UUID storeId, long generation, long openCount, List<UUID> members) throws IOException {
        Superblock before = superblock();
        Superblock sized = new Superblock(
                before.volumeId(),
                storeId,
                before.segmentBytes(),
                Math.max(segmentCount(before.segmentBytes()), before.segmentCount()),
                generation,
                openCount,
                before.writeCount(),
                List.copyOf(members));
        if (file.length() != sized.fileBytes()) {
            file.resize(sized.fileBytes());
        }
        superblock = sized.write(file);
    }

    private int segmentCount(int segmentBytes) {
        long count = spec.sizeBytes() / segmentBytes;
        return (int) Math.max(VolumeSpec.SEGMENTS_MIN, Math.min(count, io.millrace.store.index.Location.SEGMENTS_MAX));
    }

    void close() throws IOException {
        try {
            file.close();
        } finally {
            lease.close();
        }
    }
}
