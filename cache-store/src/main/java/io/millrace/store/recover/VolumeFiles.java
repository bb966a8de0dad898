package io.millrace.store.recover;

import io.millrace.store.disk.VolumeParts;
import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.LeasedFile;
import io.millrace.store.io.StoreFile;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open file and the lease of a volume that is being opened.
 *
 * <p>Confined to one thread.
 */
final class VolumeFiles {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeFiles.class);

    private final VolumeSpec spec;
    private final Closeable lease;
    private final StoreFile file;
    private @Nullable Superblock superblock;
    private boolean formatted;

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
            Superblock found;
            VolumeSpec.Device device = spec.device();
            if (device == null) {
                file = io.open(spec.directory().resolve(VolumeParts.FILE_NAME));
                found = Superblock.read(file);
            } else {
                LeasedFile leased = io.openLeased(device.path());
                lease = both(leased.lease(), lease);
                file = leased.file();
                found = new DeviceOpening(io, spec, device, file).open();
            }
            openDirect(spec, file);
            if (found == null && file.length() > 0) {
                LOG.warn("{}: {}, so the volume starts empty", spec.path(), Superblock.whyUnusable(file));
            }
            if (found != null && file.length() < found.fileBytes()) {
                // The missing part may have contained tombstones. Without them, a rebuild of the index would restore
                // removed objects.
                LOG.warn(
                        "{}: the volume's file is truncated, so the volume starts empty: length={}, expected={}",
                        spec.directory(),
                        file.length(),
                        found.fileBytes());
                found = null;
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

    private static void openDirect(VolumeSpec spec, StoreFile file) throws IOException {
        boolean isRequested = spec.directWrites() == VolumeSpec.DirectWrites.ON
                || (spec.directWrites() == VolumeSpec.DirectWrites.AUTO && file.isFixed());
        if (!isRequested) {
            return;
        }
        try {
            int blockBytes = file.openDirect();
            LOG.info("{}: writes bypass the page cache, in blocks of {} bytes", spec.path(), blockBytes);
        } catch (IOException e) {
            if (spec.directWrites() == VolumeSpec.DirectWrites.ON) {
                throw new IOException("direct_writes: on is not possible; set auto or off: " + e.getMessage(), e);
            }
            LOG.info("writes use the page cache, because direct writes are not possible: {}", e.toString());
        }
    }

    private static Closeable both(Closeable first, Closeable second) {
        return () -> {
            try (second) {
                first.close();
            }
        };
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

    /** Returns the superblock of the existing volume; null if the volume must be formatted. */
    @Nullable
    Superblock found() {
        return superblock;
    }

    /** Returns true if {@link #format} was called, so that the volume starts empty. */
    boolean startsEmpty() {
        return formatted;
    }

    /** Returns the current superblock, after {@link #format} or {@link #write}. */
    Superblock superblock() {
        Superblock block = superblock;
        if (block == null) {
            throw new IllegalStateException(spec.path() + ": not formatted");
        }
        return block;
    }

    /** Formats the file as an empty volume with a new id. */
    void format(UUID storeId) throws IOException {
        if (superblock != null) {
            LOG.warn(
                    "{}: the volume belongs to another store or missed removals, so its content is dropped",
                    spec.path());
        }
        formatted = true;
        int segmentBytes = spec.segmentBytesOf(sizeBytes());
        superblock = new Superblock(
                UUID.randomUUID(), storeId, segmentBytes, segmentCount(segmentBytes), 0, 0, 0, List.of());
        if (file.isFixed()) {
            Superblock.writeUnfinished(file);
            eraseHeaders(superblock, 0);
        } else {
            file.resize(0);
        }
    }

    /**
     * Erases old data at the places of segment headers, from segment {@code from} on. So the records of an earlier
     * volume do not reappear.
     */
    private void eraseHeaders(Superblock sized, int from) throws IOException {
        SegmentFile segments = new SegmentFile(file, sized);
        for (int segment = from; segment < sized.segmentCount(); segment++) {
            segments.eraseHeader(segment);
        }
        file.force();
    }

    /** Returns the configured number of segments. It is lower than the existing number if the volume must shrink. */
    int segmentsWanted() throws IOException {
        return segmentCount(superblock().segmentBytes());
    }

    /** Extends the file if the configured size is larger, and writes the superblock. */
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
        if (file.isFixed()) {
            eraseHeaders(sized, before.segmentCount());
        } else if (file.length() != sized.fileBytes()) {
            file.resize(sized.fileBytes());
        }
        superblock = sized.write(file);
        if (formatted) {
            // A second write updates the second copy of the superblock, so that the loss of either copy has no effect.
            superblock = superblock.write(file);
        }
    }

    /** Returns the bytes for segments: the configured bytes, limited by the size of the device. */
    private long sizeBytes() throws IOException {
        long configured = spec.sizeBytes();
        if (!file.isFixed()) {
            return configured;
        }
        long room = file.length() - Superblock.SEGMENTS_AT;
        return configured == 0 ? room : Math.min(configured, room);
    }

    private int segmentCount(int segmentBytes) throws IOException {
        long count = sizeBytes() / segmentBytes;
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
