package io.millrace.store;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * One storage path: a directory, block device or file that the store fills with one volume. Volumes of one name share the objects that are
 * created for the name, by their sizes.
 *
 * <p>Immutable.
 *
 * @param path the directory, created when missing; with {@code indexPath} the device or file
 * @param sizeBytes bytes that its segments may take together; the index comes on top (about one part in 500); 0 for all
 *     of a device
 * @param name whose objects it takes: {@value #DEFAULT_NAME}, or a name that {@link CacheStore#create(StoreKey, String)}
 *     is given
 * @param indexPath for a path that is a block device or a file: the directory of all but the objects; else null
 * @param format whether a device or file that holds something else may be written over, once
 */
public record VolumeConfig(
        Path path, long sizeBytes, String name, @Nullable Path indexPath, boolean format) {
    /** The name of the volumes for all that is not for others. */
    public static final String DEFAULT_NAME = "default";

    /** Least size of a volume: some segments of some blocks. */
    public static final long SIZE_BYTES_MIN = 256 * 1024;

    /** A volume for all that is not for others. */
    public VolumeConfig(Path path, long sizeBytes) {
        this(path, sizeBytes, DEFAULT_NAME);
    }

    /** A volume that lies in directories. */
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
