package io.millrace.store.disk.segment;

import io.millrace.store.io.FileFaults;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes records and summaries to the active segment. If the volume's file has a channel for direct writes, the whole
 * blocks of a long write bypass the page cache. The bytes before the first and after the last whole block are written
 * through the page cache, like short writes.
 *
 * <pre>
 *   blocks    |        |        |        |        |
 *   records   ...old|==== one write, many records ====|
 *   channel         cache|  direct |  direct |cache|00
 * </pre>
 *
 * <p>A block that two writes share is therefore written through the page cache only, and no direct write repeats bytes
 * of an earlier record. Zeros (00) fill the last block, so that the kernel need not read it first. They replace no
 * record, because the active segment has none after the end of the log.
 *
 * <p>The parts of a write are written in the order of their bytes. After a kill, the written bytes are a prefix. The
 * replay of the log ends at the first incomplete record, and no record of the killed process remains after it. Such a
 * record would have a higher sequence than a later tombstone, and a rebuild would restore it.
 *
 * <p>Confined to the volume's writer thread.
 */
public final class SegmentAppender {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentAppender.class);
    /** Minimum number of whole blocks of a direct write. Fewer cost more CPU than a write to the page cache. */
    static final int DIRECT_BLOCKS_MIN = 16;
    /** Bytes of the buffer for sources that are not aligned. */
    private static final int STAGING_BYTES = 256 * 1024;

    private final SegmentFile segments;
    /** Bytes of a block; 0 without direct writes. */
    private int blockBytes;

    private @Nullable ByteBuffer staging;

    /** Creates the writer. Direct writes are used if the file has a channel for them now. */
    public SegmentAppender(SegmentFile segments) {
        this.segments = segments;
        blockBytes = segments.directBlockBytes();
    }

    /**
     * Allocates a direct buffer for records. Its start is aligned, and it has room for {@code length} bytes after any
     * {@link #offsetInBlock}.
     */
    public ByteBuffer allocate(int length) {
        // alignedSlice moves the start up and the end down to a multiple of a block. This takes less than two blocks;
        // the third one is room for the offset in a block.
        ByteBuffer buffer = blockBytes == 0
                ? ByteBuffer.allocateDirect(length)
                : ByteBuffer.allocateDirect(length + 3 * blockBytes).alignedSlice(blockBytes);
        return buffer.order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Returns the offset of a place in a segment from the start of its block, in bytes; 0 without direct writes. A
     * source that starts at this index of an {@linkplain #allocate allocated} buffer is written without a copy.
     */
    public int offsetInBlock(int segment, long offset) {
        return blockBytes == 0 ? 0 : (int) (segments.position(segment, offset) & (blockBytes - 1));
    }

    /**
     * Writes all of {@code source} at an offset of the active segment, at or after the end of the log. May also
     * write zeros after the source, up to the end of the block, so the block must not contain later data.
     */
    public void write(int segment, long offset, ByteBuffer source) throws IOException {
        int length = source.remaining();
        int before = (blockBytes - offsetInBlock(segment, offset)) & (blockBytes - 1);
        int whole = blockBytes == 0 ? 0 : (length - before) & -blockBytes;
        if (whole <= 0 || whole < DIRECT_BLOCKS_MIN * blockBytes) {
            segments.write(segment, offset, source);
            return;
        }
        int start = source.position();
        if (before > 0) {
            segments.write(segment, offset, source.duplicate().limit(start + before));
        }
        try {
            writeWhole(
                    segment,
                    offset + before,
                    source.duplicate().limit(start + before + whole).position(start + before));
        } catch (IOException e) {
            if (!FileFaults.isInvalidArgument(e)) {
                throw e;
            }
            LOG.warn(
                    "the device refuses direct writes of blocks of {} bytes, so writes use the page cache: {}",
                    blockBytes,
                    e.toString());
            blockBytes = 0;
            segments.write(segment, offset, source);
            return;
        }
        writeLast(segment, offset + before + whole, source.duplicate().position(start + before + whole));
        source.position(source.limit());
    }

    /** Writes whole blocks, directly from the source if its memory is aligned. */
    private void writeWhole(int segment, long offset, ByteBuffer source) throws IOException {
        if (source.isDirect() && source.alignmentOffset(source.position(), blockBytes) == 0) {
            segments.writeDirect(segment, offset, source);
            return;
        }
        ByteBuffer copy = staging();
        long at = offset;
        while (source.hasRemaining()) {
            int length = Math.min(copy.clear().limit(STAGING_BYTES).remaining(), source.remaining());
            copy.put(0, source, source.position(), length);
            source.position(source.position() + length);
            segments.writeDirect(segment, at, copy.limit(length));
            at += length;
        }
    }

    /** Writes the bytes after the last whole block, and zeros up to the end of their block or of the segment. */
    private void writeLast(int segment, long offset, ByteBuffer source) throws IOException {
        if (!source.hasRemaining()) {
            return;
        }
        int length = (int) Math.min(blockBytes, segments.segmentBytes() - offset);
        ByteBuffer copy = staging().clear().limit(length);
        copy.put(source);
        while (copy.hasRemaining()) {
            copy.put((byte) 0);
        }
        segments.write(segment, offset, copy.flip());
    }

    private ByteBuffer staging() {
        ByteBuffer present = staging;
        if (present == null) {
            present = allocate(STAGING_BYTES);
            staging = present;
        }
        return present;
    }
}
