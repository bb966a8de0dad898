package io.millrace.store.tool;

import io.millrace.store.disk.RecordReader;
import io.millrace.store.disk.SegmentFile;
import io.millrace.store.disk.Superblock;
import io.millrace.store.disk.VolumeParts;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.StoreFile;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A volume opened for looking at, under its lease.
 *
 * <p>Confined to one thread.
 */
final class VolumeView implements Closeable {
    private final Closeable lease;
    private final StoreFile file;
    private final Superblock superblock;
    private final SegmentFile segments;

    private VolumeView(Closeable lease, StoreFile file, Superblock superblock) {
        this.lease = lease;
        this.file = file;
        this.superblock = superblock;
        this.segments = new SegmentFile(file, superblock);
    }

    /**
     * Opens the volume.
     *
     * @throws IOException when there is none, or a store has it open; the message says which
     */
    static VolumeView open(FileIo io, Path directory) throws IOException {
        Path path = directory.resolve(VolumeParts.FILE_NAME);
        if (!io.exists(path)) {
            throw new IOException(directory + ": no volume here (" + VolumeParts.FILE_NAME + " is missing)");
        }
        Closeable lease = io.lease(directory);
        StoreFile file = null;
        try {
            file = io.openForReading(path);
            Superblock superblock = Superblock.read(file);
            if (superblock == null) {
                throw new IOException(path + ": neither copy of the superblock is sound");
            }
            return new VolumeView(lease, file, superblock);
        } catch (IOException | RuntimeException e) {
            if (file != null) {
                file.close();
            }
            lease.close();
            throw e;
        }
    }

    Superblock superblock() {
        return superblock;
    }

    SegmentFile segments() {
        return segments;
    }

    RecordReader reader() {
        return new RecordReader(segments, UnpooledByteBufAllocator.DEFAULT);
    }

    long fileLength() throws IOException {
        return file.length();
    }

    @Override
    public void close() throws IOException {
        try {
            file.close();
        } finally {
            lease.close();
        }
    }
}
