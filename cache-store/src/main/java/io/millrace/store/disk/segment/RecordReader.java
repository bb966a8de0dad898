package io.millrace.store.disk.segment;

import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.ContentRange;
import io.millrace.store.disk.record.DamagedRecordException;
import io.millrace.store.disk.record.DiskRecord;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.index.Location;
import io.millrace.store.io.Checksums;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Reads records by position and verifies them: header, segment tag, and the CRC32C of every part.
 *
 * <p>Thread-safe. The caller has pinned the segment. Blocks on the disk.
 */
public final class RecordReader {
    /** Bytes of the first read if the location does not contain the exact length. */
    private static final int FIRST_READ_BYTES = 64 * 1024;
    /**
     * Bytes of a first read for the header and the checksum table. Content of more than 1 MiB has a longer table and
     * needs a second read.
     */
    private static final int TABLE_READ_BYTES = RecordHeader.BYTES + 16 * Integer.BYTES;
    /** Bytes of a first read for a record without its content. They include the key and the head of most records. */
    private static final int HEAD_READ_BYTES = 1024;

    private final SegmentFile segments;
    private final ByteBufAllocator allocator;

    /** Creates a reader of the segments, with buffers from the allocator. */
    public RecordReader(SegmentFile segments, ByteBufAllocator allocator) {
        this.segments = segments;
        this.allocator = allocator;
    }

    /**
     * Reads the record at {@code location}; the caller releases it. The content is included if the record is small
     * enough for one read.
     *
     * @param tag the expected tag of the segment
     * @throws DamagedRecordException if the record is missing or damaged
     */
    public DiskRecord read(long location, long tag) throws IOException {
        int hint = Location.lengthHint(location);
        boolean exact = hint < Location.LENGTH_UNITS_MAX * Location.UNIT_BYTES;
        int firstRead = exact ? hint : FIRST_READ_BYTES;
        return read(Location.segment(location), Location.offset(location), tag, firstRead, firstRead);
    }

    /** Like {@link #read(long, long)}, for a record of known length: always includes the content. */
    public DiskRecord readWhole(int segment, long offset, long tag, int length) throws IOException {
        return read(segment, offset, tag, length, length);
    }

    /**
     * Like {@link #read(long, long)}, for a segment and an offset, for example of a {@link BodyPlace}. Reads only
     * header, checksum table, key and head; the content is included only if it is short.
     */
    public DiskRecord readHead(int segment, long offset, long tag) throws IOException {
        return read(segment, offset, tag, HEAD_READ_BYTES, TABLE_READ_BYTES);
    }

    /** Reads a record, with its content if the content is empty or the record has at most {@code wholeMax} bytes. */
    private DiskRecord read(int segment, long offset, long tag, int firstRead, int wholeMax) throws IOException {
        ByteBuf buffer = allocator.directBuffer(Math.max(firstRead, RecordHeader.BYTES));
        boolean kept = false;
        try {
            fill(segment, offset, buffer, Math.max(firstRead, RecordHeader.BYTES));
            RecordHeader header = header(segment, offset, tag, buffer);
            if (buffer.readableBytes() < header.contentOffset()) {
                fill(segment, offset, buffer, header.contentOffset());
            }
            checkMeta(segment, offset, header, buffer);
            int length = header.contentOffset() + header.contentLength();
            boolean whole = buffer.readableBytes() >= length && length <= Math.max(wholeMax, header.contentOffset());
            if (whole) {
                checkContent(segment, offset, header, buffer, 0, header.contentOffset(), header.contentLength());
            }
            kept = true;
            return new DiskRecord(header, buffer, whole);
        } finally {
            if (!kept) {
                buffer.release();
            }
        }
    }

    /**
     * Reads part of the content of the record at {@code offset}; the caller releases it. To verify the checksums, it
     * reads whole chunks from the disk.
     *
     * @param tag the expected tag of the segment
     * @param expected the expected object id, block number and range
     * @throws DamagedRecordException if the record is missing, damaged or not the expected one
     */
    public ByteBuf readContent(int segment, long offset, long tag, ContentRange expected) throws IOException {
        ByteBuf table = allocator.directBuffer(TABLE_READ_BYTES);
        try {
            fill(segment, offset, table, TABLE_READ_BYTES);
            RecordHeader header = header(segment, offset, tag, table);
            if (!expected.matches(header)) {
                throw damaged(segment, offset, "expected " + expected + ", found " + header);
            }
            fill(segment, offset, table, header.metaOffset());
            checkTable(segment, offset, header, table);
            return readChunks(segment, offset, header, table, expected);
        } finally {
            table.release();
        }
    }

    private ByteBuf readChunks(int segment, long offset, RecordHeader header, ByteBuf table, ContentRange wanted)
            throws IOException {
        int firstChunk = wanted.from() / RecordHeader.CHUNK_BYTES;
        int from = firstChunk * RecordHeader.CHUNK_BYTES;
        int end = wanted.from() + wanted.length();
        int to = (int) Math.min(
                header.contentLength(),
                (end + RecordHeader.CHUNK_BYTES - 1L) / RecordHeader.CHUNK_BYTES * RecordHeader.CHUNK_BYTES);
        ByteBuf chunks = allocator.directBuffer(to - from);
        boolean kept = false;
        try {
            fill(segment, offset + header.contentOffset() + from, chunks, to - from);
            ByteBuffer crcs = nio(table);
            ByteBuffer bytes = nio(chunks);
            for (int at = 0, chunk = firstChunk; at < to - from; chunk++) {
                int length = Math.min(RecordHeader.CHUNK_BYTES, to - from - at);
                if (crcs.getInt(RecordHeader.BYTES + chunk * Integer.BYTES) != Checksums.crc32c(bytes, at, length)) {
                    throw damaged(segment, offset, "wrong CRC32C of content chunk " + chunk + " of " + header);
                }
                at += length;
            }
            kept = true;
            return chunks.setIndex(wanted.from() - from, end - from);
        } finally {
            if (!kept) {
                chunks.release();
            }
        }
    }

    /** Verifies all of a record's content. */
    public void verifyContent(int segment, long offset, RecordHeader header) throws IOException {
        int step = 4 * RecordHeader.CHUNK_BYTES;
        for (int from = 0; from < header.contentLength(); from += step) {
            int length = Math.min(step, header.contentLength() - from);
            ContentRange range = new ContentRange(
                    header.objectId(),
                    header.type() == RecordType.BLOCK ? header.blockNumber() : ContentRange.NO_BLOCK,
                    from,
                    length);
            readContent(segment, offset, header.tag(), range).release();
        }
    }

    /**
     * Returns true if the record is an object that was only partly written: its header reached the disk, but some of
     * its other bytes did not. Checks only objects whose body is in one record: a COMPLETE record, or a HEAD record
     * that refers to one. False for an intact record and for other types.
     */
    public boolean isTornObject(int segment, long offset, long tag) throws IOException {
        ByteBuf start = allocator.directBuffer(RecordHeader.BYTES);
        try {
            fill(segment, offset, start, RecordHeader.BYTES);
            RecordHeader header = header(segment, offset, tag, start);
            if (!header.isObjectInOneRecord()) {
                return false;
            }
            try {
                readHead(segment, offset, tag).release();
                verifyContent(segment, offset, header);
                return false;
            } catch (DamagedRecordException e) {
                return true;
            }
        } catch (DamagedRecordException e) {
            return false;
        } finally {
            start.release();
        }
    }

    /** Continues reading until the buffer contains {@code length} bytes. */
    private void fill(int segment, long offset, ByteBuf buffer, int length) throws IOException {
        int have = buffer.readableBytes();
        if (have >= length) {
            return;
        }
        buffer.ensureWritable(length - have);
        int got = segments.read(segment, offset + have, buffer.nioBuffer(have, length - have));
        buffer.writerIndex(have + got);
    }

    private static RecordHeader header(int segment, long offset, long tag, ByteBuf buffer)
            throws DamagedRecordException {
        RecordHeader header = RecordHeader.decode(nio(buffer), 0);
        if (header == null) {
            throw damaged(segment, offset, "no record header");
        }
        if (header.tag() != tag) {
            throw damaged(segment, offset, "record of an earlier use of the segment");
        }
        return header;
    }

    private static void checkTable(int segment, long offset, RecordHeader header, ByteBuf buffer)
            throws DamagedRecordException {
        if (buffer.readableBytes() < header.metaOffset()
                || Checksums.crc32c(nio(buffer), RecordHeader.BYTES, header.tableLength()) != header.tableCrc()) {
            throw damaged(segment, offset, "wrong CRC32C of the checksum table of " + header);
        }
    }

    private static void checkMeta(int segment, long offset, RecordHeader header, ByteBuf buffer)
            throws DamagedRecordException {
        checkTable(segment, offset, header, buffer);
        if (buffer.readableBytes() < header.contentOffset()
                || Checksums.crc32c(nio(buffer), header.metaOffset(), header.metaLength()) != header.metaCrc()) {
            throw damaged(segment, offset, "wrong CRC32C of key and head of " + header);
        }
    }

    private static void checkContent(
            int segment, long offset, RecordHeader header, ByteBuf buffer, int chunk, int at, int length)
            throws DamagedRecordException {
        ByteBuffer bytes = nio(buffer);
        int number = chunk;
        for (int done = 0; done < length; number++) {
            int step = Math.min(RecordHeader.CHUNK_BYTES, length - done);
            int crc = bytes.getInt(RecordHeader.BYTES + number * Integer.BYTES);
            if (crc != Checksums.crc32c(bytes, at + done, step)) {
                throw damaged(segment, offset, "wrong CRC32C of content chunk " + number + " of " + header);
            }
            done += step;
        }
    }

    private static ByteBuffer nio(ByteBuf buffer) {
        return buffer.nioBuffer(0, buffer.writerIndex()).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static DamagedRecordException damaged(int segment, long offset, String what) {
        return new DamagedRecordException("segment " + segment + " offset " + offset + ": " + what);
    }
}
