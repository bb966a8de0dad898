package io.millrace.store.recover;

import io.millrace.store.disk.segment.SegmentPins;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The specification of a volume to open. Immutable.
 *
 * @param directory the storage path; for a device or file, the directory of its index
 * @param device the storage path if it is a device or a file; null if it is a directory
 * @param sizeBytes bytes for segments, 0 for the whole device
 * @param segmentBytes bytes of a segment of a new volume, 0 to choose by size
 * @param directWrites whether writes of records bypass the page cache
 * @param pins pins of readers from an earlier opening of the volume in this process; null if there are none
 */
public record VolumeSpec(
        Path directory,
        @Nullable Device device,
        long sizeBytes,
        long segmentBytes,
        DirectWrites directWrites,
        @Nullable SegmentPins pins) {
    /** Minimum number of segments: one to write, one to reclaim, and two to keep. */
    public static final int SEGMENTS_MIN = 4;

    private static final long AUTOMATIC_SEGMENTS = 256;
    private static final int AUTOMATIC_SEGMENT_BYTES_MIN = 4 << 20;
    private static final int SEGMENT_BYTES_MAX = 1 << 30;

    /** The setting of direct writes, which bypass the page cache. */
    public enum DirectWrites {
        /** Uses direct writes on a block device that permits them. */
        AUTO,
        /** Uses direct writes; the volume fails to open without them. */
        ON,
        /** Writes through the page cache. */
        OFF
    }

    /**
     * A block device or file that contains a volume.
     *
     * @param path its path
     * @param format whether other content may be overwritten. This permission works once: its use is recorded in the
     *     index directory
     */
    public record Device(Path path, boolean format) {}

    /** Returns the storage path. */
    public Path path() {
        return device == null ? directory : device.path();
    }

    /**
     * Returns the bytes of a segment for a new volume of this size: the configured value, or a value derived from the
     * size. The result is limited so that the volume has at least {@value #SEGMENTS_MIN} segments.
     */
    int segmentBytesOf(long volumeBytes) {
        long preferred = segmentBytes;
        if (preferred == 0) {
            preferred = Math.max(AUTOMATIC_SEGMENT_BYTES_MIN, Long.highestOneBit(volumeBytes / AUTOMATIC_SEGMENTS));
        }
        long most = Math.min(SEGMENT_BYTES_MAX, volumeBytes / SEGMENTS_MIN);
        return (int) (Math.min(preferred, most) / 4096 * 4096);
    }
}
