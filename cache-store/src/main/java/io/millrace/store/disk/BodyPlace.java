package io.millrace.store.disk;

import java.nio.ByteBuffer;

/**
 * Where the body of a HEAD record lies: the record's extension.
 *
 * <pre>
 *    0  4  bytes of a block; 0 when the body lies in another record
 *    4  4  length of the bitmap; 0 when the body is whole
 *    8  4  number of the segment with the body's record
 *   12  4  offset of that record in its segment
 *   16  8  tag of that segment
 *   24  8  zero
 *   32     bitmap: bit n of byte n/8 says that block n is stored; not written for a whole body
 * </pre>
 *
 * Blocks are found through the index by object id and number, so the extension of a whole body stays this small
 * whatever the body's length, and a changed head costs one small record. A body that was written as one COMPLETE
 * record stays there when its head changes; the extension then names that record.
 *
 * <p>Immutable.
 *
 * @param bodyLength length of the whole body in bytes
 * @param blockBytes bytes of a block, 0 when the body lies in another record
 * @param segment segment of that record
 * @param offset its offset in bytes
 * @param tag its segment's tag
 */
public record BodyPlace(long bodyLength, int blockBytes, int segment, int offset, long tag) {
    private static final int FIXED_BYTES = 32;

    /** A whole body in blocks. */
    public static BodyPlace inBlocks(long bodyLength, int blockBytes) {
        return new BodyPlace(bodyLength, blockBytes, 0, 0, 0);
    }

    /** A whole body in a COMPLETE record. */
    public static BodyPlace inRecord(long bodyLength, int segment, long offset, long tag) {
        return new BodyPlace(bodyLength, 0, segment, (int) offset, tag);
    }

    int flags() {
        return RecordHeader.FLAG_WHOLE | (blockBytes == 0 ? RecordHeader.FLAG_BODY_ELSEWHERE : 0);
    }

    int encodedLength() {
        return FIXED_BYTES;
    }

    /** Number of blocks of the whole body. */
    public int blockCount() {
        return (int) ((bodyLength + blockBytes - 1) / blockBytes);
    }

    void encode(ByteBuffer out, int index) {
        out.putInt(index, blockBytes);
        out.putInt(index + 4, 0);
        out.putInt(index + 8, segment);
        out.putInt(index + 12, offset);
        out.putLong(index + 16, tag);
        out.putLong(index + 24, 0);
    }

    static BodyPlace decode(ByteBuffer in, int index, RecordHeader header) throws DamagedRecordException {
        if (header.extensionLength() < FIXED_BYTES) {
            throw new DamagedRecordException("extension of " + header + ": too short");
        }
        int blockBytes = in.getInt(index);
        boolean elsewhere = header.has(RecordHeader.FLAG_BODY_ELSEWHERE);
        if (!header.has(RecordHeader.FLAG_WHOLE)
                || header.bodyLength() < 0
                || elsewhere != (blockBytes == 0)
                || (!elsewhere && header.bodyLength() / blockBytes >= Integer.MAX_VALUE)) {
            throw new DamagedRecordException("extension of " + header + ": blocks of " + blockBytes + " bytes");
        }
        return new BodyPlace(
                header.bodyLength(), blockBytes, in.getInt(index + 8), in.getInt(index + 12), in.getLong(index + 16));
    }
}
