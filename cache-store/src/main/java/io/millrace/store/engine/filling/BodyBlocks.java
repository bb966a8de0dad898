package io.millrace.store.engine.filling;

import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.engine.object.BlockMap;
import io.millrace.store.memory.CountingAllocator;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one body: each is missing, in a buffer, or on disk.
 *
 * <p>Not thread-safe: the caller holds the lock of the body. Owns the buffers of the blocks in RAM.
 */
final class BodyBlocks {
    /** Capacity of the first buffer of a body whose length is unknown. The buffer grows with the content. */
    private static final int FIRST_BUFFER_BYTES = 4096;
    /**
     * Maximum length of a body that is copied to a larger buffer, with space for the encoded head (the bytes of the
     * head) after the body. A longer body stays in its buffer, and its head stays a Java object if the buffer has no
     * space for it.
     */
    private static final int COPIED_BYTES_MAX = 32 * 1024;

    /**
     * Divisor: a buffer that is large enough is kept if at most 1/8 of it is unused. Otherwise the body is copied, if
     * memory is available.
     */
    private static final int UNUSED_DIVISOR = 8;

    /** The blocks on disk; null for a body that stays in RAM. */
    private final @Nullable BlockMap onDisk;

    private final int blockBytes;
    private final CountingAllocator allocator;
    /** The blocks in buffers, including blocks that are being written to disk. */
    private final List<OpenBlock> inRam = new ArrayList<>();
    /** Bytes to keep free after a body of one block, for its encoded head. */
    private int tailBytes;
    /**
     * True after a resident object (a stored object in RAM) took over the buffer of the only block. No bytes are added
     * from then on, because the resident object also uses the bytes after the body.
     */
    private boolean handedOver;

    BodyBlocks(@Nullable BlockMap onDisk, int blockBytes, CountingAllocator allocator) {
        this.onDisk = onDisk;
        this.blockBytes = blockBytes;
        this.allocator = allocator;
    }

    @Nullable
    OpenBlock find(int block) {
        for (int i = 0; i < inRam.size(); i++) {
            if (inRam.get(i).number == block) {
                return inRam.get(i);
            }
        }
        return null;
    }

    private boolean isOnDisk(int block) {
        return onDisk != null && onDisk.has(block);
    }

    /** Returns the first block from {@code block} on that is not on disk. */
    int firstNotOnDisk(int block) {
        return onDisk == null ? block : onDisk.firstMissing(block);
    }

    /** Returns true if the block is on disk or being written. */
    boolean isWhole(int block) {
        OpenBlock open = find(block);
        return open == null ? isOnDisk(block) : open.submitted;
    }

    /** Returns the number of blocks on disk or being written. */
    int wholeCount() {
        int whole = onDisk == null ? 0 : onDisk.count();
        for (int i = 0; i < inRam.size(); i++) {
            whole += inRam.get(i).submitted ? 1 : 0;
        }
        return whole;
    }

    /** Returns the number of blocks of a body of that length. */
    long blocksIn(long length) {
        return (length + blockBytes - 1) / blockBytes;
    }

    /**
     * Returns the length of the block in bytes. The last block ends with the body.
     *
     * @param length length of the body; -1 if unknown, so that no block is the last
     */
    int blockLength(int block, long length) {
        long bytesToBodyEnd = length < 0 ? Long.MAX_VALUE : length - (long) block * blockBytes;
        return (int) Math.max(0, Math.min(blockBytes, bytesToBodyEnd));
    }

    /** Returns the number of bytes of a block that are present. */
    int covered(int block, long length) {
        OpenBlock open = find(block);
        if (open != null) {
            return open.covered;
        }
        return isOnDisk(block) ? blockLength(block, length) : 0;
    }

    /** Returns true if all bytes of a body of that length are present. */
    boolean covers(long length) {
        int blocks = (int) blocksIn(length);
        for (int block = firstNotOnDisk(0); block < blocks; block++) {
            int expected = (int) Math.min(blockBytes, length - (long) block * blockBytes);
            OpenBlock open = find(block);
            if (open == null ? !isOnDisk(block) : open.covered != expected) {
                return false;
            }
        }
        return true;
    }

    /** Returns the position after the last present byte, a lower limit of the body's length. */
    long endOfPresentBytes() {
        long end = (long) (onDisk == null ? 0 : onDisk.stored().length()) * blockBytes;
        for (OpenBlock block : inRam) {
            end = Math.max(end, (long) block.number * blockBytes + block.coverage.end());
        }
        return end;
    }

    /**
     * Looks up some of the blocks in this byte range, and removes those that are no longer on disk. Blocks whose
     * segments are pinned (kept from being overwritten) need no check.
     */
    void sample(long position, long end) {
        if (position < end) {
            sampleBlocks((int) (position / blockBytes), (int) ((end - 1) / blockBytes) + 1);
        }
    }

    /** Like {@link #sample}, for the blocks {@code [from, limit)}. */
    void sampleBlocks(int from, int limit) {
        if (onDisk != null) {
            onDisk.sample(from, limit);
        }
    }

    /**
     * Returns the end of the bytes that can be read without a gap from {@code position} on. The result is at most
     * {@code end}.
     */
    long readableUntil(long position, long end) {
        long at = position;
        while (at < end) {
            int block = (int) (at / blockBytes);
            if (onDisk != null && onDisk.has(block)) {
                at = (long) onDisk.firstMissing(block) * blockBytes;
                continue;
            }
            int from = (int) (at % blockBytes);
            OpenBlock open = find(block);
            int until = open == null ? from : open.coverage.coveredUntil(from);
            if (until <= from) {
                break;
            }
            at += until - from;
        }
        return Math.min(at, end);
    }

    /** Returns the number of unfinished blocks to which this writer added the last bytes. */
    int openOf(Object writer) {
        int open = 0;
        for (int i = 0; i < inRam.size(); i++) {
            open += inRam.get(i).submitted || !inRam.get(i).isLastWriter(writer) ? 0 : 1;
        }
        return open;
    }

    /** Removes the unfinished blocks of an ended writer, except those to which another active writer has written. */
    void endWriter(Object writer, BlockClaims claims) {
        for (int i = inRam.size() - 1; i >= 0; i--) {
            OpenBlock block = inRam.get(i);
            if (!block.submitted && !block.writerEnded(writer, claims)) {
                takeOut(block.number);
            }
        }
    }

    /** Removes the unfinished blocks that contain or may contain bytes of the writer. */
    void forget(Object writer) {
        for (int i = inRam.size() - 1; i >= 0; i--) {
            OpenBlock block = inRam.get(i);
            if (!block.submitted && block.isTouchedBy(writer)) {
                takeOut(block.number);
            }
        }
    }

    /** Implements {@link FillingBody#copy}; {@code length} is the length of the body, -1 if unknown. */
    int copy(Object writer, int block, int from, ByteBuf content, int contentIndex, int count, long length) {
        OpenBlock open = find(block);
        if (handedOver || (open == null && isOnDisk(block))) {
            return 0;
        }
        if (open == null) {
            ByteBuf buffer = allocator.tryDirectBuffer(firstCapacity(block, from + count, length));
            if (buffer == null) {
                return FillingBody.NO_MEMORY;
            }
            open = new OpenBlock(block, buffer, writer);
            inRam.add(open);
        }
        if (!open.grow(allocator, from + count, blockBytes)) {
            return FillingBody.NO_MEMORY;
        }
        return open.copy(writer, from, content, contentIndex, count) == 0 ? 0 : open.covered;
    }

    /** Sets the number of bytes to keep free after a body of one block, for the encoded head. */
    void tail(int bytes) {
        tailBytes = bytes;
    }

    private int firstCapacity(int block, int needed, long length) {
        if (length >= 0) {
            return Math.max(needed, blockLength(block, length)) + (length <= blockBytes ? tailBytes : 0);
        }
        return Math.max(needed, block == 0 ? Math.min(FIRST_BUFFER_BYTES, blockBytes) : blockBytes);
    }

    /**
     * Submits a block for writing: returns its first {@code count} bytes, retained for the caller. Returns null if the
     * block is not in RAM or was already submitted.
     */
    @Nullable
    ByteBuf submit(int number, int count) {
        OpenBlock open = find(number);
        if (open == null || open.submitted) {
            return null;
        }
        open.submitted = true;
        return open.buffer.retainedSlice(0, count);
    }

    /** Implements {@link FillingBody#singleBody}. */
    ByteBuf singleBody(int bodyLength, int tail) {
        OpenBlock open = find(0);
        if (open == null) {
            return allocator.directBuffer(Math.max(1, tail));
        }
        int capacity = open.buffer.capacity();
        int unusedBytes = capacity - bodyLength - tail;
        boolean fits = unusedBytes >= 0 ? unusedBytes <= capacity / UNUSED_DIVISOR : bodyLength > COPIED_BYTES_MAX;
        ByteBuf fitting = fits ? null : allocator.tryDirectBuffer(bodyLength + tail);
        if (fitting != null) {
            return fitting.writeBytes(open.buffer, 0, bodyLength);
        }
        handedOver = true;
        return open.buffer.retain().setIndex(0, bodyLength);
    }

    /** Marks the block as on disk, and releases its buffer. */
    void written(int number, long location) {
        if (onDisk != null) {
            onDisk.pinAndAdd(number, location);
        }
        takeOut(number);
    }

    /** Marks the block as missing; returns true if it was whole before. */
    boolean markMissing(int number) {
        boolean wasWhole = isWhole(number);
        takeOut(number);
        if (onDisk != null) {
            onDisk.remove(number);
        }
        return wasWhole;
    }

    private void takeOut(int number) {
        OpenBlock open = find(number);
        if (open != null) {
            inRam.remove(open);
            open.buffer.release();
        }
    }

    /** Releases the blocks in RAM. */
    void releaseBuffers() {
        for (OpenBlock block : inRam) {
            block.buffer.release();
        }
        inRam.clear();
    }

    /** Returns a copy of the set of blocks on disk. */
    BitSet stored() {
        return onDisk == null ? new BitSet() : onDisk.stored();
    }

    /** Returns the set of blocks on disk as a head record contains it. Returns null if no block is on disk. */
    @Nullable
    BodyPlace place(long length) {
        if (onDisk == null || onDisk.count() == 0) {
            return null;
        }
        boolean whole = length >= 0 && onDisk.count() == blocksIn(length);
        return whole ? BodyPlace.inBlocks(length, blockBytes) : BodyPlace.partial(length, blockBytes, onDisk.stored());
    }

    /**
     * Returns the bytes in RAM from the first byte of the range on, retained for the caller. Returns null if the first
     * byte is not in RAM. May return fewer bytes than the range has.
     */
    @Nullable
    ByteBuf inRam(long position, int count) {
        int block = (int) (position / blockBytes);
        OpenBlock open = isOnDisk(block) ? null : find(block);
        if (open == null) {
            return null;
        }
        int from = (int) (position % blockBytes);
        int available = Math.min(count, open.coverage.coveredUntil(from) - from);
        return available <= 0 ? null : open.buffer.retainedSlice(from, available);
    }

    /**
     * Returns a request to read the part of the byte range that is in the first block of the range. Returns null if
     * this block is not on disk.
     */
    @Nullable
    DiskBlock onDisk(long position, int count, long length) {
        int block = (int) (position / blockBytes);
        if (onDisk == null || !onDisk.has(block)) {
            return null;
        }
        int from = (int) (position % blockBytes);
        int readBytes = Math.min(count, blockLength(block, length) - from);
        return readBytes <= 0 ? null : new DiskBlock(block, onDisk.location(block), onDisk.tag(block), from, readBytes);
    }
}
