package io.millrace.proxy.observe.log.block;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds the valid blocks of a stream. Bytes that belong to no valid block are skipped up to the next valid block, and
 * reported with their position. Buffers at most two blocks of maximum length. Confined to one thread.
 */
public final class BlockScanner {
    /** Receives the damaged parts of a stream. */
    @FunctionalInterface
    public interface DamageListener {
        /**
         * Reports bytes that belong to no valid block.
         *
         * @param offset position in the stream
         * @param bytes number of bytes
         */
        void damaged(long offset, long bytes);
    }

    private static final int BUFFER_BYTES = 1 << 16;

    private final DamageListener listener;
    private byte[] buffer = new byte[BUFFER_BYTES];
    private int position;
    private int limit;

    /** Offset in the stream of the byte at index {@link #position} of the buffer. */
    private long offset;

    private long damagedBytes;

    /** @param listener receives damaged parts, before the valid block that follows them */
    public BlockScanner(DamageListener listener) {
        this.listener = listener;
    }

    /** The position in the stream after the last returned block, and after the skipped bytes. */
    public long offset() {
        return offset;
    }

    /** The number of bytes after the last block, which do not make a complete block yet. */
    public int pendingBytes() {
        return limit - position;
    }

    /**
     * Returns the next block; null if the stream has no more complete block for now. A later call continues if the
     * stream has grown.
     */
    public @Nullable Block next(InputStream in) throws IOException {
        while (true) {
            Block block = nextBuffered(false);
            if (block != null || !read(in)) {
                return block;
            }
        }
    }

    /**
     * Returns the next block in the rest of a stream that will not grow; null at the end. An incomplete block at the
     * end is reported as damaged.
     */
    public @Nullable Block nextOfRest() {
        Block block = nextBuffered(true);
        if (block == null) {
            skip(limit - position);
            reportDamage();
        }
        return block;
    }

    private boolean read(InputStream in) throws IOException {
        if (position > 0) {
            System.arraycopy(buffer, position, buffer, 0, limit - position);
            limit -= position;
            position = 0;
        }
        if (limit == buffer.length) {
            buffer = Arrays.copyOf(buffer, 2 * buffer.length);
        }
        int count = in.read(buffer, limit, buffer.length - limit);
        limit += Math.max(0, count);
        return count > 0;
    }

    /** @param isRest true if an incomplete block will not be continued */
    private @Nullable Block nextBuffered(boolean isRest) {
        while (position < limit) {
            int available = limit - position;
            int blockBytes = possibleBlockBytes(available);
            if (blockBytes > available && !isRest) {
                return null;
            }
            if (blockBytes > 0 && blockBytes <= available && isValid(blockBytes)) {
                reportDamage();
                Block block = new Block(buffer, position);
                position += blockBytes;
                offset += blockBytes;
                return block;
            }
            skipToMagic();
        }
        return null;
    }

    /**
     * Returns the length of the block that may begin at the current position; the length of a block head if too few
     * bytes are available to read it. Returns 0 if no block can begin there.
     */
    private int possibleBlockBytes(int available) {
        if (available < BlockLayout.HEAD_BYTES) {
            return startsLikeMagic(position) ? BlockLayout.HEAD_BYTES : 0;
        }
        int payloadBytes = BlockLayout.intAt(buffer, position + BlockLayout.LENGTH_OFFSET);
        int rows = BlockLayout.intAt(buffer, position + BlockLayout.ROWS_OFFSET);
        int kinds = BlockLayout.intAt(buffer, position + BlockLayout.VERSION_OFFSET);
        boolean isKnown = kinds == (BlockLayout.VERSION << 24 | BlockLayout.KIND_SCHEMA << 16)
                || kinds == (BlockLayout.VERSION << 24 | BlockLayout.KIND_ROWS << 16);
        boolean isPossible = BlockLayout.intAt(buffer, position) == BlockLayout.MAGIC
                && isKnown
                && payloadBytes >= 0
                && payloadBytes <= BlockLayout.PAYLOAD_BYTES_MAX
                && rows >= 0
                && rows <= payloadBytes;
        return isPossible ? BlockLayout.HEAD_BYTES + payloadBytes : 0;
    }

    /** Returns true if the bytes at a position are the magic number, or its beginning at the end of the buffer. */
    private boolean startsLikeMagic(int at) {
        int shift = 24;
        for (int i = at; i < limit && shift >= 0; i++) {
            if (buffer[i] != (byte) (BlockLayout.MAGIC >>> shift)) {
                return false;
            }
            shift -= 8;
        }
        return true;
    }

    private boolean isValid(int blockBytes) {
        return BlockLayout.intAt(buffer, position + BlockLayout.CRC_OFFSET)
                == BlockLayout.crc(buffer, position, blockBytes - BlockLayout.HEAD_BYTES);
    }

    private void skipToMagic() {
        int at = position + 1;
        while (at < limit && !startsLikeMagic(at)) {
            at++;
        }
        skip(at - position);
    }

    private void skip(int bytes) {
        position += bytes;
        offset += bytes;
        damagedBytes += bytes;
    }

    private void reportDamage() {
        if (damagedBytes > 0) {
            long bytes = damagedBytes;
            damagedBytes = 0;
            listener.damaged(offset - bytes, bytes);
        }
    }
}
