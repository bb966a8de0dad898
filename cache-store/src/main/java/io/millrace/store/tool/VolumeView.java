package io.millrace.store.tool;

import io.millrace.store.disk.DeviceNote;
import io.millrace.store.disk.VolumeParts;
import io.millrace.store.disk.segment.RecordReader;
import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.LeasedFile;
import io.millrace.store.io.StoreFile;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A volume opened for inspection. It holds the volume's lease (its lock against other processes), so that no store can
 * open the volume.
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
     * @throws IOException if there is no volume, or if a store has it open; the message states the reason
     */
    static VolumeView open(FileIo io, Path directory) throws IOException {
        Path path = directory.resolve(VolumeParts.FILE_NAME);
        DeviceNote device = io.exists(path) ? null : device(io, directory);
        Closeable lease = io.lease(directory);
        StoreFile file = null;
        try {
            if (device == null) {
                file = io.openForReading(path);
            } else {
                LeasedFile leased = io.openLeased(device.device());
                file = leased.file();
                lease = both(leased.lease(), lease);
            }
            Superblock superblock = Superblock.read(file);
            if (superblock == null) {
                throw new IOException(file + ": both copies of the superblock are damaged");
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

    /**
     * Reads the name of the volume's block device or file from the directory of its index. Called if the directory has
     * no volume file.
     */
    private static DeviceNote device(FileIo io, Path directory) throws IOException {
        DeviceNote device = DeviceNote.read(io, directory);
        if (device == null || !io.exists(device.device())) {
            throw new IOException(directory + ": the directory contains no volume (" + VolumeParts.FILE_NAME
                    + " is missing); for a block device or a file give its index_path");
        }
        return device;
    }

    private static Closeable both(Closeable first, Closeable second) {
        return () -> {
            try (second) {
                first.close();
            }
        };
    }

    /** Returns true if the file has the length that the superblock states. A device may be longer. */
    boolean isLengthSound() throws IOException {
        long length = file.length();
        return file.isFixed() ? length >= superblock.fileBytes() : length == superblock.fileBytes();
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
