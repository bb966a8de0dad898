package io.millrace.store.recover;

import io.millrace.store.disk.SegmentPins;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a volume shall be.
 *
 * @param directory the storage path
 * @param sizeBytes bytes for segments
 * @param segmentBytes bytes of a segment when the volume is new
 * @param pins readers left over from before the lease was given back, null when there can be none
 */
public record VolumeSpec(
        Path directory,
        long sizeBytes,
        int segmentBytes,
        @Nullable SegmentPins pins) {
    /** Least number of segments: one to write, one to give up, and something to keep. */
    public static final int SEGMENTS_MIN = 4;
}
