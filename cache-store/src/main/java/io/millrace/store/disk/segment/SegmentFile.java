package io.millrace.store.disk.segment;

import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Access to the segments in a volume's file. Reads and writes bytes by segment and offset, reads headers and summaries,
 * and walks over records.
 *
 * <p>Thread-safe; the caller coordinates writes.
 */
public final class SegmentFile {
    private static final int WALK_WINDOW_BYTES = 256 * 1024;

    /** Value of the argument {@code tag} of {@link #walk} that accepts records with any tag. */
    private static final long ANY_TAG = 0;

    private final StoreFile file;
    private final Superblock superblock;

    /** Creates the access to the segments of a volume. */
    public SegmentFile(StoreFile file, Superblock superblock) {
        this.file = file;
        this.superblock = superblock;
    }

    /** Receives the records of a segment in their order. */
    @FunctionalInterface
    public interface RecordVisitor {
        /** Called for a record with an intact header; the parts after the header are not verified. */
        void record(RecordHeader header, long offset) throws IOException;

        /** Called for a probable record of the segment whose header is damaged. Its hash may be damaged too. */
        default void damaged(long hashHigh, long hashLow, long offset) {}
    }

    /** Returns the bytes of a segment. */
    public int segmentBytes() {
        return superblock.segmentBytes();
    }

    /** Reads up to the end of the segment at most; returns the number of bytes read. */
    public int read(int segment, long offset, ByteBuffer target) throws IOException {
        long left = (long) segmentBytes() - offset;
        if (left <= 0) {
            return 0;
        }
        if (target.remaining() > left) {
            target.limit(target.position() + (int) left);
        }
        return file.read(target, superblock.segmentPosition(segment) + offset);
    }

    /** Writes all remaining bytes of the source to a segment, at an offset in the segment. */
    public void write(int segment, long offset, ByteBuffer source) throws IOException {
        assert offset + source.remaining() <= segmentBytes();
        file.write(source, superblock.segmentPosition(segment) + offset);
    }

    /** Returns the bytes of a block of direct writes; 0 if the file has no channel for direct writes. */
    int directBlockBytes() {
        return file.directBlockBytes();
    }

    /** Returns the position in the file of an offset in a segment. */
    long position(int segment, long offset) {
        return superblock.segmentPosition(segment) + offset;
    }

    /** Writes to a segment without the page cache; see {@link StoreFile#writeDirect}. */
    void writeDirect(int segment, long offset, ByteBuffer source) throws IOException {
        assert offset + source.remaining() <= segmentBytes();
        file.writeDirect(source, position(segment, offset));
    }

    /** Overwrites the header of an unfinished record, so that it is not read as a record. */
    public void erase(int segment, long offset) throws IOException {
        write(segment, offset, ByteBuffer.allocate(RecordHeader.BYTES));
    }

    /** Writes the header of a segment. */
    public void writeHeader(SegmentHeader header) throws IOException {
        write(header.segment(), 0, header.encode());
    }

    /** Erases a segment's header, so that the segment holds no records. */
    public void eraseHeader(int segment) throws IOException {
        write(segment, 0, ByteBuffer.allocate(SegmentHeader.BYTES));
    }

    /** Forces all written bytes to the device. */
    public void force() throws IOException {
        file.force();
    }

    /** Returns the header of a segment, null if it holds no records. */
    public @Nullable SegmentHeader header(int segment) throws IOException {
        ByteBuffer in = littleEndian(SegmentHeader.BYTES);
        read(segment, 0, in);
        SegmentHeader header = SegmentHeader.decode(in.flip());
        return header != null && header.segment() == segment && header.tag() != 0 ? header : null;
    }

    /**
     * Returns the sequence of a segment with a damaged header, taken from its records. -1 if there are no records or
     * the header is intact.
     */
    public long sequenceUnderDamagedHeader(int segment) throws IOException {
        ByteBuffer in = littleEndian(SegmentHeader.BYTES);
        read(segment, 0, in);
        if (header(segment) != null || in.flip().mismatch(ByteBuffer.allocate(in.limit())) < 0) {
            return -1;
        }
        long[] newest = {-1};
        walk(segment, ANY_TAG, SegmentHeader.BYTES, segmentBytes(), true, (header, offset) -> {
            newest[0] = Math.max(newest[0], header.sequence() >>> 32);
        });
        return newest[0];
    }

    /** Returns the summary (list of records) of a sealed segment. Null if it is damaged or has another tag. */
    public @Nullable SegmentSummary summary(int segment, long tag) throws IOException {
        ByteBuffer footer = littleEndian(SegmentSummary.FOOTER_BYTES);
        long footerAt = (long) segmentBytes() - SegmentSummary.FOOTER_BYTES;
        read(segment, footerAt, footer);
        int count = SegmentSummary.count(footer.flip(), tag);
        if (count < 0 || count > footerAt / SegmentSummary.ENTRY_BYTES) {
            return null;
        }
        ByteBuffer entries = littleEndian(count * SegmentSummary.ENTRY_BYTES);
        read(segment, footerAt - entries.capacity(), entries);
        return entries.hasRemaining() ? null : SegmentSummary.decode(footer, entries.flip());
    }

    /**
     * Returns the totals in the footer of a sealed segment's summary, without its entries; null if the footer is
     * damaged or has another tag.
     */
    @Nullable
    public SegmentSummary footer(int segment, long tag) throws IOException {
        ByteBuffer footer = littleEndian(SegmentSummary.FOOTER_BYTES);
        read(segment, (long) segmentBytes() - SegmentSummary.FOOTER_BYTES, footer);
        return SegmentSummary.count(footer.flip(), tag) < 0 ? null : SegmentSummary.ofFooter(footer);
    }

    /**
     * Walks over the records of a segment that start in {@code [from, to)}.
     *
     * @param resync whether to search for further records after a place without a record. True if a power failure may
     *     have lost pages in the middle of the segment; false if the page cache has kept all pages.
     * @return the offset after the last record
     */
    public long walk(int segment, long tag, long from, long to, boolean resync, RecordVisitor visitor)
            throws IOException {
        ByteBuffer window = littleEndian(WALK_WINDOW_BYTES);
        window.limit(0);
        long windowAt = from;
        long at = from;
        long end = from;
        while (at < to && at + RecordHeader.BYTES <= segmentBytes()) {
            if (at < windowAt || at + RecordHeader.BYTES > windowAt + window.limit()) {
                window.clear();
                int length = read(segment, at, window);
                window.flip();
                windowAt = at;
                if (length < RecordHeader.BYTES) {
                    break;
                }
            }
            RecordHeader header = RecordHeader.decode(window, (int) (at - windowAt));
            if (header != null
                    && (header.tag() == tag || tag == ANY_TAG)
                    && at + header.recordLength() <= segmentBytes()) {
                visitor.record(header, at);
                at += header.recordLength();
                end = at;
            } else if (resync) {
                if (header == null && RecordHeader.mayHaveTag(window, (int) (at - windowAt), tag)) {
                    visitor.damaged(
                            window.getLong((int) (at - windowAt) + RecordHeader.HASH_AT),
                            window.getLong((int) (at - windowAt) + RecordHeader.HASH_AT + Long.BYTES),
                            at);
                }
                at += io.millrace.store.index.Location.UNIT_BYTES;
            } else {
                break;
            }
        }
        return end;
    }

    /** Returns the records of a segment, from its summary or by walking over them. */
    public SegmentSummary records(int segment, long tag, boolean resync) throws IOException {
        SegmentSummary summary = summary(segment, tag);
        if (summary != null) {
            return summary;
        }
        SegmentSummary walked = new SegmentSummary();
        walk(segment, tag, SegmentHeader.BYTES, segmentBytes(), resync, walked);
        return walked;
    }

    private static ByteBuffer littleEndian(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }
}
