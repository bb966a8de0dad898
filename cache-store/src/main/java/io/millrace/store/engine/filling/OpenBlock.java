package io.millrace.store.engine.filling;

import io.millrace.store.memory.CountingAllocator;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A block that is not on disk, in a buffer.
 *
 * <p>Confined to whoever guards the body; buffers are replaced when they grow, never changed where readers may be.
 */
final class OpenBlock {
    final int number;
    final Coverage coverage = new Coverage();
    ByteBuf buffer;
    int covered;
    /** Whether it was handed to the volume's thread: its bytes are all there. */
    boolean submitted;
    /** Who wrote to it last; with that writer it goes, unless it was submitted or is handed on. */
    private Object writer;
    /** Who wrote to it before that one. */
    private @Nullable Object writerBefore;

    OpenBlock(int number, ByteBuf buffer, Object writer) {
        this.number = number;
        this.buffer = buffer;
        this.writer = writer;
    }

    boolean isOf(Object someone) {
        return writer == someone;
    }

    /** Whether any byte may be of that writer. */
    boolean isTouchedBy(Object someone) {
        return writer == someone || writerBefore == someone;
    }

    /** A writer has ended; false when nobody else is left who might go on with the block. */
    boolean handOn(Object ended, BlockClaims writers) {
        Object before = writerBefore;
        if (writer == ended) {
            if (before == null || !writers.isAtWork(before)) {
                return false;
            }
            writer = before;
            writerBefore = null;
        } else if (before == ended) {
            writerBefore = null;
        }
        return true;
    }

    /** Copies those bytes that were not there yet; borrows the content. Returns how many there were. */
    int copy(Object by, int from, ByteBuf content, int contentIndex, int count) {
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
        if (covered > before && writer != by) {
            writerBefore = writer;
            writer = by;
        }
        return covered - before;
    }

    /** Makes room for {@code needed} bytes. Larger buffers are new ones: readers may be on the old. False without memory. */
    boolean grow(CountingAllocator allocator, int needed, int blockBytes) {
        int capacity = buffer.capacity();
        if (needed <= capacity) {
            return true;
        }
        int wanted = Math.max(needed, Math.min(blockBytes, capacity * 2));
        ByteBuf larger = allocator.tryDirectBuffer(wanted);
        if (larger == null) {
            return false;
        }
        larger.setBytes(0, buffer, 0, capacity);
        buffer.release();
        buffer = larger;
        return true;
    }
}
