package io.millrace.store.disk.record;

import java.nio.ByteBuffer;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * The extension of a HEAD record: describes where the object's body is stored.
 *
 * <pre>
 *    0  4  bytes of a block; 0 if the body is in another record
 *    4  4  length of the bitmap; 0 if the body is whole
 *    8  4  number of the segment with the body's record
 *   12  4  offset of that record in its segment
 *   16  8  tag of that segment
 *   24  8  zero
 *   32     bitmap: bit n % 8 of byte n / 8, least significant bit first, is set if block n is stored;
 *          not written for a whole body
 * </pre>
 *
 * <p>The index finds each block by object id and block number, so the extension contains no block locations. The
 * extension of a whole body therefore has a fixed size, and a change of the head writes only one small record. A body
 * that was written as one COMPLETE record stays in that record when the head changes. The extension then refers to the
 * COMPLETE record by segment, offset and tag.
 *
 * <p>The bitmap lists the blocks that belong to the body. Some may have been reclaimed since then; the index
 * contains only the blocks that still exist.
 *
 * <p>Immutable.
 *
 * @param bodyLength length of the whole body in bytes; -1 if not known, which is allowed only for a partial body
 * @param blockBytes bytes of a block, 0 if the body is in another record
 * @param segment number of the segment with the COMPLETE record that contains the body; 0 for a body in blocks
 * @param offset offset of the COMPLETE record in its segment, in bytes; 0 for a body in blocks
 * @param tag tag of that segment, a random number for each use of a segment; 0 for a body in blocks
 * @param stored numbers of the stored blocks, must not be modified; null for a whole body
 */
public record BodyPlace(
        long bodyLength,
        int blockBytes,
        int segment,
        int offset,
        long tag,
        @Nullable BitSet stored) {
    private static final int FIXED_BYTES = 32;

    /** Creates the place of a whole body in blocks. */
    public static BodyPlace inBlocks(long bodyLength, int blockBytes) {
        return new BodyPlace(bodyLength, blockBytes, 0, 0, 0, null);
    }

    /** Creates the place of a partial body with these blocks. The caller must not modify the set afterwards. */
    public static BodyPlace partial(long bodyLength, int blockBytes, BitSet stored) {
        return new BodyPlace(bodyLength, blockBytes, 0, 0, 0, stored);
    }

    /** Creates the place of a whole body in a COMPLETE record. */
    public static BodyPlace inRecord(long bodyLength, int segment, long offset, long tag) {
        return new BodyPlace(bodyLength, 0, segment, (int) offset, tag, null);
    }

    /** Returns the maximum number of blocks of a body whose bitmap fits in one record of the volume. */
    public static int blocksMax(int recordLengthMax) {
        // A quarter of the record for the bitmap; the rest is for the key and the head.
        int bytes = Math.min(RecordHeader.PART_LENGTH_MAX - FIXED_BYTES, recordLengthMax / 4);
        return bytes * Byte.SIZE;
    }

    /** Returns true if all blocks of the body were stored. */
    public boolean isWhole() {
        return stored == null;
    }

    /** Returns true if the block belongs to the body. */
    public boolean has(int block) {
        return stored == null ? block < blockCount() : stored.get(block);
    }

    int flags() {
        return (stored == null ? RecordHeader.FLAG_WHOLE : 0)
                | (blockBytes == 0 ? RecordHeader.FLAG_BODY_ELSEWHERE : 0);
    }

    int encodedLength() {
        return FIXED_BYTES + bitmapLength();
    }

    private int bitmapLength() {
        return stored == null ? 0 : (stored.length() + Byte.SIZE - 1) / Byte.SIZE;
    }

    /** Returns the number of blocks up to the last one that belongs to the body. */
    public int blockCount() {
        return stored == null ? (int) ((bodyLength + blockBytes - 1) / blockBytes) : stored.length();
    }

    /** Writes the extension of a HEAD record at {@code index}. */
    public void encode(ByteBuffer out, int index) {
        out.putInt(index, blockBytes);
        out.putInt(index + 4, bitmapLength());
        out.putInt(index + 8, segment);
        out.putInt(index + 12, offset);
        out.putLong(index + 16, tag);
        out.putLong(index + 24, 0);
        if (stored != null) {
            out.put(index + FIXED_BYTES, stored.toByteArray());
        }
    }

    /** Decodes the extension at {@code index}; {@code header} is the header of its HEAD record. */
    public static BodyPlace decode(ByteBuffer in, int index, RecordHeader header) throws DamagedRecordException {
        if (header.extensionLength() < FIXED_BYTES) {
            throw new DamagedRecordException("extension of " + header + ": too short");
        }
        int blockBytes = in.getInt(index);
        int bitmapLength = in.getInt(index + 4);
        boolean whole = header.has(RecordHeader.FLAG_WHOLE);
        boolean elsewhere = header.has(RecordHeader.FLAG_BODY_ELSEWHERE);
        long length = header.bodyLength();
        if (elsewhere != (blockBytes == 0)
                || blockBytes < 0
                || length < (whole ? 0 : -1)
                || (elsewhere && !whole)
                || (!elsewhere && length / blockBytes >= Integer.MAX_VALUE)
                || bitmapLength != header.extensionLength() - FIXED_BYTES
                || whole != (bitmapLength == 0)) {
            throw new DamagedRecordException("extension of " + header + " does not match this header: blocks of "
                    + blockBytes + " bytes, bitmap of " + bitmapLength + " bytes");
        }
        BitSet stored = whole ? null : BitSet.valueOf(in.slice(index + FIXED_BYTES, bitmapLength));
        if (stored != null && length >= 0 && (long) (stored.length() - 1) * blockBytes >= length) {
            throw new DamagedRecordException("extension of " + header + ": block " + (stored.length() - 1) + " of "
                    + blockBytes + " bytes is after the end of the body");
        }
        return new BodyPlace(
                length, blockBytes, in.getInt(index + 8), in.getInt(index + 12), in.getLong(index + 16), stored);
    }
}
