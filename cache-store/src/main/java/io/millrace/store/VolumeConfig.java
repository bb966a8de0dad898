package io.millrace.store;

import java.nio.file.Path;

/**
 * One storage path: a directory that the store fills with one volume.
 *
 * <p>Immutable.
 *
 * @param path the directory, created when missing
 * @param sizeBytes bytes that its segments may take together; the index comes on top (about one part in 500)
 */
public record VolumeConfig(Path path, long sizeBytes) {
    /** Least size of a volume: some segments of some blocks. */
    public static final long SIZE_BYTES_MIN = 256 * 1024;

    /** Checks the bounds. */
    public VolumeConfig {
        if (sizeBytes < SIZE_BYTES_MIN) {
            throw new IllegalArgumentException(
                    "size of volume " + path + ": actual=" + sizeBytes + " bytes, limit=" + SIZE_BYTES_MIN);
        }
    }
}
