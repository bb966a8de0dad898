package io.millrace.store.recover;

import io.millrace.store.disk.segment.SegmentPins;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a volume shall be.
 *
 * @param directory the storage path, or where the index of a device lies
 * @param device the storage path that is a device or file itself, null when the volume's file lies in the directory
 * @param sizeBytes bytes for segments, 0 for all of a device
 * @param segmentBytes bytes of a segment when the volume is new, 0 to choose by size
 * @param pins readers left over from before the lease was given back, null when there can be none
 */
public record VolumeSpec(
        Path directory,
        @Nullable Device device,
        long sizeBytes,
        long segmentBytes,
        @Nullable SegmentPins pins) {
    /** Least number of segments: one to write, one to give up, and something to keep. */
    public static final int SEGMENTS_MIN = 4;

    private static final long AUTOMATIC_SEGMENTS = 256;
    private static final int AUTOMATIC_SEGMENT_BYTES_MIN = 4 << 20;
    private static final int SEGMENT_BYTES_MAX = 1 << 30;

    /**
     * A block device or file that is a volume's file.
     *
     * @param path where it is
     * @param format whether it may be written over, once, though it holds something else
     */
    public record Device(Path path, boolean format) {}

    /** The storage path. */
    public Path path() {
        return device == null ? directory : device.path();
    }

    /** Bytes of a segment of a new volume with so much room: as configured or by size, but always some segments. */
    int segmentBytesOf(long volumeBytes) {
        long wanted = segmentBytes;
        if (wanted == 0) {
            wanted = Math.max(AUTOMATIC_SEGMENT_BYTES_MIN, Long.highestOneBit(volumeBytes / AUTOMATIC_SEGMENTS));
        }
        long most = Math.min(SEGMENT_BYTES_MAX, volumeBytes / SEGMENTS_MIN);
        return (int) (Math.min(wanted, most) / 4096 * 4096);
    }
}
