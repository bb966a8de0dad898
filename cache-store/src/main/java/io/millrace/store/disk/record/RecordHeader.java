package io.millrace.store.disk.record;

import io.millrace.store.index.Location;
import io.millrace.store.io.Checksums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The fixed-size header at the start of every record.
 *
 * <pre>
 *    0  4  magic "MRRC"
 *    4  1  type (RecordType)
 *    5  1  format version
 *    6  2  flags: 1 the body is whole, 2 the body is in another record
 *    8  8  sequence: segment sequence in the upper 32 bits, counter within the segment in the lower
 *   16  8  tag of the segment: random, so that no body can imitate a record of this segment
 *   24  8  object id; 0 in a tombstone
 *   32  8  hash, upper half: of the key, or of object id and block number
 *   40  8  hash, lower half
 *   48  8  length of the whole body, -1 while unknown
 *   56  4  length of the content: the body bytes in this record
 *   60  4  BLOCK: block number; HEAD: length of the extension (BodyPlace); else 0
 *   64  4  length of the key
 *   68  4  length of the head
 *   72  4  expiry, seconds since the epoch, unsigned
 *   76  4  CRC32C of the checksum table
 *   80  8  BLOCK: lower half of the hash of the object's key; COMPLETE and HEAD: end of the object's pin,
 *          seconds since the epoch, 0 for no pin; else zero
 *   88  4  CRC32C of extension, key and head
 *   92  4  CRC32C of bytes 0 to 91
 * </pre>
 *
 * <p>The following parts follow the header without gaps: the checksum table (one CRC32C per {@link #CHUNK_BYTES} of
 * content; the last chunk may be shorter), the extension, the key, the head, the content, and zeros up to a multiple of
 * {@link Location#UNIT_BYTES}. The content is contiguous and contains no checksums, so it can be sent from the file
 * unchanged. Any part of it can be verified without reading the rest.
 *
 * <p>Mutable until appended, then constant; confined to one thread.
 */
public final class RecordHeader {
    /** Bytes of the header. */
    public static final int BYTES = 96;
    /** Content bytes per checksum: the granularity of reads. */
    public static final int CHUNK_BYTES = 64 * 1024;
    /**
     * Bytes of a BLOCK record without content, with padding. Such a record revokes the earlier record of the same
     * block.
     */
    public static final int REVOCATION_BYTES = 2 * Location.UNIT_BYTES;
    /** Flag: all bytes of the body are stored. */
    public static final int FLAG_WHOLE = 1;
    /** Flag: the content is in the record that the extension refers to. */
    public static final int FLAG_BODY_ELSEWHERE = 2;

    static final int FORMAT_VERSION = 2;
    /** Maximum value of expiry and end of a pin, in seconds since the epoch. */
    public static final long SECONDS_MAX = 0xFFFF_FFFFL;
    /** Offset of the hash, upper half first. */
    public static final int HASH_AT = 32;

    static final int MAGIC = 0x4352_524d;
    private static final int CONTENT_LENGTH_MAX = 1 << 28;
    /** Maximum length of a key, head or extension. */
    static final int PART_LENGTH_MAX = 1 << 21;

    private final RecordType type;
    private final long objectId;
    private final long hashHigh;
    private final long hashLow;
    private int flags;
    private long sequence;
    private long tag;
    private long bodyLength;
    private int contentLength;
    /** Block number of a BLOCK record; length of the extension of a HEAD record. */
    private int detail;

    private int keyLength;
    private int headLength;
    private int expiry;
    private int tableCrc;
    private int metaCrc;
    private long keyHash;
    private long pinnedUntil;

    private RecordHeader(RecordType type, long objectId, long hashHigh, long hashLow) {
        this.type = type;
        this.objectId = objectId;
        this.hashHigh = hashHigh;
        this.hashLow = hashLow;
    }

    /** Creates the header of a COMPLETE record: an object whose whole body is in the record. */
    public static RecordHeader complete(DiskKey key, long objectId, int headLength, int expiry, int contentLength) {
        RecordHeader header = keyed(RecordType.COMPLETE, key, objectId);
        header.flags = FLAG_WHOLE;
        header.headLength = headLength;
        header.expiry = expiry;
        header.contentLength = contentLength;
        header.bodyLength = contentLength;
        return header;
    }

    /** Creates the header of a BLOCK record: one block of the body of an object. */
    public static RecordHeader block(long keyHash, long objectId, int number, int contentLength) {
        RecordHeader header = new RecordHeader(
                RecordType.BLOCK, objectId, DiskKey.blockHashHigh(objectId), DiskKey.blockHashLow(objectId, number));
        header.keyHash = keyHash;
        header.detail = number;
        header.contentLength = contentLength;
        header.bodyLength = -1;
        return header;
    }

    /** Creates the header of a HEAD record: an object whose body is in other records. */
    public static RecordHeader head(DiskKey key, long objectId, int headLength, int expiry, BodyPlace place) {
        RecordHeader header = keyed(RecordType.HEAD, key, objectId);
        header.flags = place.flags();
        header.headLength = headLength;
        header.expiry = expiry;
        header.bodyLength = place.bodyLength();
        header.detail = place.encodedLength();
        return header;
    }

    /** Creates the header of a TOMBSTONE record: the removal of the key. */
    public static RecordHeader tombstone(DiskKey key) {
        return keyed(RecordType.TOMBSTONE, key, 0);
    }

    private static RecordHeader keyed(RecordType type, DiskKey key, long objectId) {
        RecordHeader header = new RecordHeader(type, objectId, key.hashHigh(), key.hashLow());
        header.keyLength = key.bytes().length;
        return header;
    }

    /**
     * Sets the end of the object's pin, in seconds since the epoch, 0 for no pin. A BLOCK record does not store
     * it, because the record with the object's head does.
     */
    public RecordHeader pinnedUntil(long seconds) {
        pinnedUntil = Math.max(0, Math.min(seconds, SECONDS_MAX));
        return this;
    }

    /** Sets the record's sequence and segment tag. */
    public void stamp(long sequence, long tag) {
        this.sequence = sequence;
        this.tag = tag;
    }

    /** Sets the checksums of the parts after the header. */
    public void checksums(int tableCrc, int metaCrc) {
        this.tableCrc = tableCrc;
        this.metaCrc = metaCrc;
    }

    /** Writes the header at absolute {@code index} of a little-endian buffer. */
    public void encode(ByteBuffer out, int index) {
        assert out.order() == ByteOrder.LITTLE_ENDIAN;
        out.putInt(index, MAGIC);
        out.put(index + 4, type.code());
        out.put(index + 5, (byte) FORMAT_VERSION);
        out.putShort(index + 6, (short) flags);
        out.putLong(index + 8, sequence);
        out.putLong(index + 16, tag);
        out.putLong(index + 24, objectId);
        out.putLong(index + 32, hashHigh);
        out.putLong(index + 40, hashLow);
        out.putLong(index + 48, bodyLength);
        out.putInt(index + 56, contentLength);
        out.putInt(index + 60, detail);
        out.putInt(index + 64, keyLength);
        out.putInt(index + 68, headLength);
        out.putInt(index + 72, expiry);
        out.putInt(index + 76, tableCrc);
        out.putLong(index + 80, type == RecordType.BLOCK ? keyHash : pinnedUntil);
        out.putInt(index + 88, metaCrc);
        out.putInt(index + 92, Checksums.crc32cUnshared(out, index, 92));
    }

    /**
     * Decodes the header at absolute {@code index} of a little-endian buffer. Returns null if the bytes are no valid
     * header.
     */
    public static @Nullable RecordHeader decode(ByteBuffer in, int index) {
        assert in.order() == ByteOrder.LITTLE_ENDIAN;
        if (in.limit() - index < BYTES || in.getInt(index) != MAGIC || in.get(index + 5) != FORMAT_VERSION) {
            return null;
        }
        RecordType type = RecordType.of(in.get(index + 4));
        if (type == null || in.getInt(index + 92) != Checksums.crc32c(in, index, 92)) {
            return null;
        }
        RecordHeader header =
                new RecordHeader(type, in.getLong(index + 24), in.getLong(index + 32), in.getLong(index + 40));
        header.flags = in.getShort(index + 6);
        header.sequence = in.getLong(index + 8);
        header.tag = in.getLong(index + 16);
        header.bodyLength = in.getLong(index + 48);
        header.contentLength = in.getInt(index + 56);
        header.detail = in.getInt(index + 60);
        header.keyLength = in.getInt(index + 64);
        header.headLength = in.getInt(index + 68);
        header.expiry = in.getInt(index + 72);
        header.tableCrc = in.getInt(index + 76);
        if (type == RecordType.BLOCK) {
            header.keyHash = in.getLong(index + 80);
        } else {
            header.pinnedUntil(in.getLong(index + 80));
        }
        header.metaCrc = in.getInt(index + 88);
        return header.hasSaneLengths() ? header : null;
    }

    /**
     * Returns true if the tag field of an undecodable header matches {@code tag}.
     *
     * <p>One bit may differ, so that a header with one damaged bit is still recognized. The tag is random, so a body
     * cannot imitate a header.
     */
    public static boolean mayHaveTag(ByteBuffer in, int index, long tag) {
        return tag != 0 && Long.bitCount(in.getLong(index + 16) ^ tag) <= 1;
    }

    private boolean hasSaneLengths() {
        return contentLength >= 0
                && contentLength <= CONTENT_LENGTH_MAX
                && within(keyLength)
                && within(headLength)
                && within(extensionLength());
    }

    private static boolean within(int length) {
        return length >= 0 && length <= PART_LENGTH_MAX;
    }

    /** Returns the type of the record. */
    public RecordType type() {
        return type;
    }

    /** Returns true if the flag is set. */
    public boolean has(int flag) {
        return (flags & flag) != 0;
    }

    /** Returns the segment sequence (upper 32 bits) and the counter within the segment (lower 32 bits). */
    public long sequence() {
        return sequence;
    }

    /** Returns the tag of the segment for which the record was written. */
    public long tag() {
        return tag;
    }

    /** Returns the id of the object; 0 in a tombstone. */
    public long objectId() {
        return objectId;
    }

    /** Returns the upper half of the hash under which the record is found. */
    public long hashHigh() {
        return hashHigh;
    }

    /** Returns the lower half of the hash under which the record is found. */
    public long hashLow() {
        return hashLow;
    }

    /** Returns the length of the whole body in bytes, -1 if not known. */
    public long bodyLength() {
        return bodyLength;
    }

    /** Returns the number of body bytes in this record. */
    public int contentLength() {
        return contentLength;
    }

    /** Returns the number of the block. Valid only for a BLOCK record. */
    public int blockNumber() {
        return detail;
    }

    /** Returns the bytes of the extension. */
    public int extensionLength() {
        return type == RecordType.HEAD ? detail : 0;
    }

    /**
     * Returns true for an object whose whole body is in one record, either this record or another.
     *
     * <p>If such a record was only partly written before a crash, a rebuild of the index skips it, so that an older
     * object of the key is found again. False for a HEAD record that lists blocks, for a BLOCK record and for a
     * tombstone.
     */
    public boolean isObjectInOneRecord() {
        return type == RecordType.COMPLETE || (type == RecordType.HEAD && has(FLAG_BODY_ELSEWHERE));
    }

    /** Returns true if the record is a BLOCK without content, which revokes the earlier record of the same block. */
    public boolean isRevocation() {
        return type == RecordType.BLOCK && contentLength == 0;
    }

    /** Returns the bytes of the key. */
    public int keyLength() {
        return keyLength;
    }

    /** Returns the bytes of the head. */
    public int headLength() {
        return headLength;
    }

    /**
     * Returns the lower half of the hash of the object's key. For a BLOCK record this is the key of the object to which
     * the block belongs.
     */
    public long keyHash() {
        return type == RecordType.BLOCK ? keyHash : hashLow;
    }

    /** Returns the expiry in seconds since the epoch, unsigned. */
    public int expiry() {
        return expiry;
    }

    /**
     * Returns the end of the object's pin, in seconds since the epoch; 0 without a pin or if not set. The volume keeps
     * the object until then.
     */
    public long pinnedUntil() {
        return pinnedUntil;
    }

    /** Returns the CRC32C of the checksum table. */
    public int tableCrc() {
        return tableCrc;
    }

    /** Returns the CRC32C of extension, key and head. */
    public int metaCrc() {
        return metaCrc;
    }

    /** Returns the bytes of the checksum table. */
    public int tableLength() {
        return (contentLength + CHUNK_BYTES - 1) / CHUNK_BYTES * Integer.BYTES;
    }

    /** Returns the bytes of extension, key and head. */
    public int metaLength() {
        return extensionLength() + keyLength + headLength;
    }

    /** Returns the offset of the extension in the record. */
    public int metaOffset() {
        return BYTES + tableLength();
    }

    /** Returns the offset of the content in the record. */
    public int contentOffset() {
        return metaOffset() + metaLength();
    }

    /** Returns the bytes of the record, including padding. */
    public int recordLength() {
        int length = contentOffset() + contentLength;
        return (length + Location.UNIT_BYTES - 1) / Location.UNIT_BYTES * Location.UNIT_BYTES;
    }

    @Override
    public String toString() {
        return type + " sequence=" + Long.toHexString(sequence) + " object=" + Long.toHexString(objectId) + " content="
                + contentLength + " body=" + bodyLength + " head=" + headLength + " key=" + keyLength
                + (type == RecordType.BLOCK ? " block=" + detail : "")
                + (pinnedUntil > 0 ? " pinned=" + Instant.ofEpochSecond(pinnedUntil) : "");
    }
}
