package io.millrace.store;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A storage path: a directory, block device or file that the store fills with one volume. Objects created for a volume
 * name are spread over the volumes with that name in proportion to their sizes.
 *
 * <p>Immutable.
 *
 * @param path the directory, created if missing; with {@code indexPath} the device or file
 * @param sizeBytes maximum total bytes of the segments; 0 for the whole device. The index needs about 1/500 of this
 *     size in addition
 * @param name name of the volume: {@value #DEFAULT_NAME}, or a name passed to
 *     {@link CacheStore#create(StoreKey, String)}
 * @param indexPath directory of the index and the other files, if {@code path} is a block device or a file; null if
 *     {@code path} is a directory
 * @param format whether other content of a device or file may be overwritten. The permission is valid once; a note in
 *     {@code indexPath} records its use
 * @param directWrites whether records are written with O_DIRECT, past the page cache
 */
public record VolumeConfig(
        Path path, long sizeBytes, String name, @Nullable Path indexPath, boolean format, DirectWrites directWrites) {
    /** The way a volume writes records: through the page cache of the kernel, or past it with O_DIRECT. */
    public enum DirectWrites {
        /** Bypasses the page cache on block devices; uses it for files, and if the device refuses O_DIRECT. */
        AUTO,
        /** Bypasses the page cache. The volume cannot be opened if its file system refuses O_DIRECT. */
        ON,
        /** Uses the page cache. */
        OFF
    }

    /** Name of the volumes that store objects created without a volume name. */
    public static final String DEFAULT_NAME = "default";

    /** Minimum size of a volume in bytes. It is sufficient for a few segments of a few blocks each. */
    public static final long SIZE_BYTES_MIN = 256 * 1024;

    /** Creates the configuration of a volume in a directory, with the name {@value #DEFAULT_NAME}. */
    public VolumeConfig(Path path, long sizeBytes) {
        this(path, sizeBytes, DEFAULT_NAME);
    }

    /** Creates the configuration of a volume in a directory. */
    public VolumeConfig(Path path, long sizeBytes, String name) {
        this(path, sizeBytes, name, null, false);
    }

    /** Creates the configuration of a volume with {@link DirectWrites#OFF}. */
    public VolumeConfig(Path path, long sizeBytes, String name, @Nullable Path indexPath, boolean format) {
        this(path, sizeBytes, name, indexPath, format, DirectWrites.OFF);
    }

    /** Returns a copy with another setting of direct writes. */
    public VolumeConfig with(DirectWrites writes) {
        return new VolumeConfig(path, sizeBytes, name, indexPath, format, writes);
    }

    /** Checks the bounds. */
    public VolumeConfig {
        boolean wholeDevice = indexPath != null && sizeBytes == 0;
        if (!wholeDevice && sizeBytes < SIZE_BYTES_MIN) {
            throw new IllegalArgumentException(
                    "size of volume " + path + ": actual=" + sizeBytes + " bytes, limit=" + SIZE_BYTES_MIN);
        }
    }
}
