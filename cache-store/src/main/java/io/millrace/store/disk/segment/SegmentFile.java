package io.millrace.store.disk.segment;

import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The segments of a volume's file: reads and writes by segment and offset, headers, summaries and walks over records.
 *
 * <p>Thread-safe; who may write where is the caller's affair.
 */
public final class SegmentFile {
    private static final int WALK_WINDOW_BYTES = 256 * 1024;

    /** No segment's tag. */
    private static final long ANY_TAG = 0;

    private final StoreFile file;
    private final Superblock superblock;

    /** The segments of a volume. */
    public SegmentFile(StoreFile file, Superblock superblock) {
        this.file = file;
        this.superblock = superblock;
    }

    /** Sees the records of a segment in the order in which they lie there. */
    @FunctionalInterface
    public interface RecordVisitor {
        /** One record whose header is sound; nothing behind the header has been looked at. */
        void record(RecordHeader header, long offset) throws IOException;

        /** A place that looks like a record of the segment whose header is damaged, so the hash may be, too. */
        default void damaged(long hashHigh, long hashLow, long offset) {}
    }

    /** Bytes of a segment. */
    public int segmentBytes() {
        return superblock.segmentBytes();
    }

    /** Reads up to the end of the segment at most; returns the bytes read. */
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

    /** Writes all remaining bytes of the source to a segment, from an offset in it. */
    public void write(int segment, long offset, ByteBuffer source) throws IOException {
        assert offset + source.remaining() <= segmentBytes();
        file.write(source, superblock.segmentPosition(segment) + offset);
    }

    /** Overwrites the header of a record that was not finished, so that nobody takes it for one. */
    public void erase(int segment, long offset) throws IOException {
        write(segment, offset, ByteBuffer.allocate(RecordHeader.BYTES));
    }

    /** Writes the header of a segment. */
    public void writeHeader(SegmentHeader header) throws IOException {
        write(header.segment(), 0, header.encode());
    }

    /** Takes a segment's header away: it holds nothing from here on. */
    public void eraseHeader(int segment) throws IOException {
        write(segment, 0, ByteBuffer.allocate(SegmentHeader.BYTES));
    }

    /** Forces to disk all that was written. */
    public void force() throws IOException {
        file.force();
    }

    /** The header of a segment, null when it holds nothing. */
    public @Nullable SegmentHeader header(int segment) throws IOException {
        ByteBuffer in = littleEndian(SegmentHeader.BYTES);
        read(segment, 0, in);
        SegmentHeader header = SegmentHeader.decode(in.flip());
        return header != null && header.segment() == segment && header.tag() != 0 ? header : null;
    }

    /**
     * When the segment was begun whose header is damaged: as its records say. -1 when nothing is there, or the header is
     * whole.
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

    /** The summary of a sealed segment; null when it is damaged or not that of this tag. */
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

    /** What the footer of a sealed segment's summary tells, without its entries; null as of {@link #summary}. */
    @Nullable
    public SegmentSummary footer(int segment, long tag) throws IOException {
        ByteBuffer footer = littleEndian(SegmentSummary.FOOTER_BYTES);
        read(segment, (long) segmentBytes() - SegmentSummary.FOOTER_BYTES, footer);
        return SegmentSummary.count(footer.flip(), tag) < 0 ? null : SegmentSummary.ofFooter(footer);
    }

    /**
     * Walks over the records of a segment that start in {@code [from, to)}.
     *
     * @param resync whether to look for more behind a place that holds no record (after a power failure pages may be
     *     missing in the middle), or to stop there (the end of a log that the page cache kept whole)
     * @return the offset behind the last record
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

    /** The records of a segment: from its summary, else by walking over them. */
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
