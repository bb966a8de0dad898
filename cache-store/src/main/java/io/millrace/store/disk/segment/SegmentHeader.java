package io.millrace.store.disk.segment;

import io.millrace.store.index.Location;
import io.millrace.store.io.Checksums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The first {@value #BYTES} bytes of a segment that holds records; zeros in a free segment.
 *
 * <pre>
 *    0  8  magic "MRSEGMT\0"
 *    8  4  format version
 *   12  4  number of the segment
 *   16  8  segment sequence: rises by one with each segment begun in the volume
 *   24  8  tag: random, never 0, repeated in each record
 *   32 28  zero
 *   60  4  CRC32C of bytes 0 to 59
 * </pre>
 *
 * <p>Immutable.
 *
 * @param segment number of the segment
 * @param sequence number of the segment in the order in which segments were begun
 * @param tag random number that identifies this use of the segment
 */
public record SegmentHeader(int segment, long sequence, long tag) {
    /** Bytes of the header: offset of the first record. */
    public static final int BYTES = Location.UNIT_BYTES;

    private static final long MAGIC = 0x0054_4d47_4553_524dL;
    private static final int FORMAT_VERSION = 2;

    ByteBuffer encode() {
        ByteBuffer out = ByteBuffer.allocate(BYTES).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(0, MAGIC);
        out.putInt(8, FORMAT_VERSION);
        out.putInt(12, segment);
        out.putLong(16, sequence);
        out.putLong(24, tag);
        out.putInt(60, Checksums.crc32c(out, 0, 60));
        return out;
    }

    /** Decodes the header in a little-endian buffer, null if there is none. */
    static @Nullable SegmentHeader decode(ByteBuffer in) {
        if (in.limit() < BYTES
                || in.getLong(0) != MAGIC
                || in.getInt(8) != FORMAT_VERSION
                || in.getInt(60) != Checksums.crc32c(in, 0, 60)) {
            return null;
        }
        return new SegmentHeader(in.getInt(12), in.getLong(16), in.getLong(24));
    }
}
