package io.millrace.store.engine.filling;

import io.millrace.store.memory.CountingAllocator;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A block of a body that is in a buffer and not on disk yet.
 *
 * <p>Not thread-safe: the caller holds the lock of the body. A growing block gets a new buffer. Bytes that readers
 * may read never change.
 */
final class OpenBlock {
    final int number;
    final Coverage coverage = new Coverage();
    ByteBuf buffer;
    /** Number of bytes that are present. */
    int covered;
    /** True after the block was passed to the volume's thread, when all its bytes were present. */
    boolean submitted;
    /**
     * The writer that wrote last. When it ends, an unsubmitted block is removed, unless the writer before is active.
     */
    private Object writer;
    /** The writer that wrote before the last one. */
    private @Nullable Object writerBefore;
    /**
     * True if a third writer has written before these two. It is not known which one, so any writer may have written
     * bytes.
     */
    private boolean hasEarlierWriter;

    OpenBlock(int number, ByteBuf buffer, Object writer) {
        this.number = number;
        this.buffer = buffer;
        this.writer = writer;
    }

    boolean isLastWriter(Object candidate) {
        return writer == candidate;
    }

    /** Returns true if any byte may have been written by this writer. */
    boolean isTouchedBy(Object candidate) {
        return writer == candidate || writerBefore == candidate || hasEarlierWriter;
    }

    /**
     * Handles the end of a writer. Returns false if it wrote last, and the writer before it is not active. Earlier
     * writers are not checked, because they are not known.
     */
    boolean writerEnded(Object ended, BlockClaims writers) {
        Object before = writerBefore;
        if (writer == ended) {
            if (before == null || !writers.isActive(before)) {
                return false;
            }
            writer = before;
            writerBefore = null;
        } else if (before == ended) {
            writerBefore = null;
        }
        return true;
    }

    /** Copies only the bytes that the block lacks; borrows the content. Returns the number of bytes copied. */
    int copy(Object copier, int from, ByteBuf content, int contentIndex, int count) {
        int before = covered;
        int at = from;
        int end = from + count;
        while (at < end) {
            int gapStart = coverage.coveredUntil(at);
            if (gapStart >= end) {
                break;
            }
            int gapEnd = coverage.nextCovered(gapStart, end);
            buffer.setBytes(gapStart, content, contentIndex + gapStart - from, gapEnd - gapStart);
            coverage.add(gapStart, gapEnd);
            covered += gapEnd - gapStart;
            at = gapEnd;
        }
        if (covered > before && writer != copier) {
            hasEarlierWriter |= writerBefore != null && writerBefore != copier;
            writerBefore = writer;
            writer = copier;
        }
        return covered - before;
    }

    /**
     * Grows the block to at least {@code needed} bytes. Returns false if no memory is available.
     *
     * <p>The block gets a new buffer, because readers may still use the old one.
     */
    boolean grow(CountingAllocator allocator, int needed, int blockBytes) {
        int capacity = buffer.capacity();
        if (needed <= capacity) {
            return true;
        }
        int newCapacity = Math.max(needed, Math.min(blockBytes, capacity * 2));
        ByteBuf larger = allocator.tryDirectBuffer(newCapacity);
        if (larger == null) {
            return false;
        }
        larger.setBytes(0, buffer, 0, capacity);
        buffer.release();
        buffer = larger;
        return true;
    }
}
