package io.millrace.store;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * One storage path: a directory, block device or file that the store fills with one volume. Objects created for a name
 * are spread over the volumes of this name in proportion to their sizes.
 *
 * <p>Immutable.
 *
 * @param path the directory, created when missing; with {@code indexPath} the device or file
 * @param sizeBytes bytes that its segments may take together; the index comes on top (about one part in 500); 0 for all
 *     of a device
 * @param name name of the volume: {@value #DEFAULT_NAME}, or a name passed to
 *     {@link CacheStore#create(StoreKey, String)}
 * @param indexPath if {@code path} is a block device or a file: the directory of the index and the other files; else
 *     null
 * @param format whether a device or file with other content may be overwritten, once
 */
public record VolumeConfig(
        Path path, long sizeBytes, String name, @Nullable Path indexPath, boolean format) {
    /** Name of the volumes for objects without a volume name of their own. */
    public static final String DEFAULT_NAME = "default";

    /** Minimum size of a volume: room for a few segments of a few blocks. */
    public static final long SIZE_BYTES_MIN = 256 * 1024;

    /** A volume with the name {@value #DEFAULT_NAME}. */
    public VolumeConfig(Path path, long sizeBytes) {
        this(path, sizeBytes, DEFAULT_NAME);
    }

    /** A volume in a directory. */
    public VolumeConfig(Path path, long sizeBytes, String name) {
        this(path, sizeBytes, name, null, false);
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
