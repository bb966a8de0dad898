package io.millrace.store;

import java.nio.file.Path;

/**
 * One storage path: a directory that the store fills with one volume. Volumes of one name share the objects that are
 * created for the name, by their sizes.
 *
 * <p>Immutable.
 *
 * @param path the directory, created when missing
 * @param sizeBytes bytes that its segments may take together; the index comes on top (about one part in 500)
 * @param name whose objects it takes: {@value #DEFAULT_NAME}, or a name that {@link CacheStore#create(StoreKey, String)}
 *     is given
 */
public record VolumeConfig(Path path, long sizeBytes, String name) {
    /** The name of the volumes for all that is not for others. */
    public static final String DEFAULT_NAME = "default";

    /** Least size of a volume: some segments of some blocks. */
    public static final long SIZE_BYTES_MIN = 256 * 1024;

    /** A volume for all that is not for others. */
    public VolumeConfig(Path path, long sizeBytes) {
        this(path, sizeBytes, DEFAULT_NAME);
    }

    /** Checks the bounds. */
    public VolumeConfig {
        if (sizeBytes < SIZE_BYTES_MIN) {
            throw new IllegalArgumentException(
                    "size of volume " + path + ": actual=" + sizeBytes + " bytes, limit=" + SIZE_BYTES_MIN);
        }
    }
}
