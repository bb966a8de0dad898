package io.millrace.store.engine;

import io.millrace.store.ReadCallback;
import io.millrace.store.StoreKey;
import io.millrace.store.memory.CountingAllocator;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * An object being filled, and afterwards the same object for those who hold on to it: each block is in a buffer until it
 * is on disk.
 *
 * <p>Thread-safe: a lock guards the blocks, held for some steps and never over I/O or a copy of what readers get. The
 * writing methods are the writer's.
 */
final class FillingObject<H> extends CountedObject<H> {
    /** Answer of {@link #copy} when the budget is used up. */
    static final int NO_MEMORY = -1;

    private static final int FIRST_BUFFER_BYTES = 4096;

    private final StoreKey key;
    private final long objectId;
    private final int volume;
    private final @Nullable BlockMap onDisk;
    private final int blockBytes;
    private final CountingAllocator allocator;
    private final ReadPool pool;
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock. */
    private final List<OpenBlock> inRam = new ArrayList<>();

    private volatile @Nullable H head;
    private volatile long length = -1;
    private volatile State state = State.FILLING;

    private enum State {
        FILLING,
        COMPLETE,
        DEAD
    }

    /** A block that is not on disk. */
    private static final class OpenBlock {
        final int number;
        final Coverage coverage = new Coverage();
        ByteBuf buffer;
        int covered;
        /** Whether it was handed to the volume's thread: its bytes are all there. */
        boolean submitted;

        OpenBlock(int number, ByteBuf buffer) {
            this.number = number;
            this.buffer = buffer;
        }
    }

    /**
     * An object without bytes; the caller holds the first reference.
     *
     * @param onDisk where its blocks go, null when it stays in RAM
     */
    FillingObject(
            StoreKey key,
            ObjectPlace place,
            @Nullable BlockMap onDisk,
            int blockBytes,
            CountingAllocator allocator,
            ReadPool pool) {
        this.key = key;
        this.objectId = place.objectId();
        this.volume = place.volume();
        this.onDisk = onDisk;
        this.blockBytes = blockBytes;
        this.allocator = allocator;
        this.pool = pool;
    }

    /** The writer says what it knows. */
    void head(H newHead, long newLength) {
        head = newHead;
        length = newLength;
    }

    /** All bytes are there. */
    void complete(long finalLength) {
        length = finalLength;
        state = State.COMPLETE;
    }

    /** No more bytes will come, and those in RAM go. */
    void die() {
        if (state == State.COMPLETE) {
            return;
        }
        state = State.DEAD;
        releaseBuffers();
    }

    private void releaseBuffers() {
        lock.lock();
        try {
            for (OpenBlock block : inRam) {
                block.buffer.release();
            }
            inRam.clear();
        } finally {
            lock.unlock();
        }
    }

    /** The object was said to be complete and is not stored after all. */
    void revoke() {
        state = State.DEAD;
    }

    /** Number of blocks that are not all there. */
    int blocksOpen() {
        lock.lock();
        try {
            int open = 0;
            for (int i = 0; i < inRam.size(); i++) {
                open += inRam.get(i).submitted ? 0 : 1;
            }
            return open;
        } finally {
            lock.unlock();
        }
    }

    /** Bytes of a block that are there. */
    int covered(int block) {
        lock.lock();
        try {
            OpenBlock open = find(block);
            if (open != null) {
                return open.covered;
            }
            return onDisk != null && onDisk.has(block) ? blockBytes : 0;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the block is on disk or on its way there. */
    boolean isSubmitted(int block) {
        lock.lock();
        try {
            OpenBlock open = find(block);
            return open == null ? onDisk != null && onDisk.has(block) : open.submitted;
        } finally {
            lock.unlock();
        }
    }

    /** Whether all blocks are on disk. */
    boolean isOnDisk() {
        lock.lock();
        try {
            return inRam.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Takes the blocks that are on disk out of the volume's index. On the volume's thread. */
    void dropBlocks(BlockMap map) {
        lock.lock();
        try {
            map.drop();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Copies bytes into a block, those that were not there yet; borrows the content.
     *
     * @return how many bytes of the block are there now; {@link #NO_MEMORY} when there is none for them
     */
    int copy(int block, int from, ByteBuf content, int contentIndex, int count) {
        lock.lock();
        try {
            OpenBlock open = find(block);
            if (open == null) {
                if (onDisk != null && onDisk.has(block)) {
                    return blockBytes;
                }
                int capacity = firstCapacity(block, from + count);
                if (!allocator.admits(capacity)) {
                    return NO_MEMORY;
                }
                open = new OpenBlock(block, allocator.directBuffer(capacity));
                inRam.add(open);
            }
            if (!grow(open, from + count)) {
                return NO_MEMORY;
            }
            int at = from;
            int end = from + count;
            while (at < end) {
                int gapStart = open.coverage.coveredUntil(at);
                if (gapStart >= end) {
                    break;
                }
                int gapEnd = open.coverage.nextCovered(gapStart, end);
                open.buffer.setBytes(gapStart, content, contentIndex + gapStart - from, gapEnd - gapStart);
                open.coverage.add(gapStart, gapEnd);
                open.covered += gapEnd - gapStart;
                at = gapEnd;
            }
            return open.covered;
        } finally {
            lock.unlock();
        }
    }

    private int firstCapacity(int block, int needed) {
        long known = length;
        if (known >= 0) {
            return (int) Math.max(needed, Math.min(blockBytes, known - (long) block * blockBytes));
        }
        return Math.max(needed, block == 0 ? Math.min(FIRST_BUFFER_BYTES, blockBytes) : blockBytes);
    }

    /** Larger buffers are new ones: readers may be on the old. False when there is no memory. */
    private boolean grow(OpenBlock open, int needed) {
        int capacity = open.buffer.capacity();
        if (needed <= capacity) {
            return true;
        }
        int wanted = Math.max(needed, Math.min(blockBytes, capacity * 2));
        if (!allocator.admits(wanted)) {
            return false;
        }
        ByteBuf larger = allocator.directBuffer(wanted);
        larger.setBytes(0, open.buffer, 0, capacity);
        open.buffer.release();
        open.buffer = larger;
        return true;
    }

    private @Nullable OpenBlock find(int block) {
        for (int i = 0; i < inRam.size(); i++) {
            if (inRam.get(i).number == block) {
                return inRam.get(i);
            }
        }
        return null;
    }

    /** Hands out the first {@code count} bytes of a block to be written, retained for the caller; once only. */
    @Nullable
    ByteBuf submit(int number, int count) {
        lock.lock();
        try {
            OpenBlock open = find(number);
            if (open == null || open.submitted) {
                return null;
            }
            open.submitted = true;
            return open.buffer.retainedSlice(0, count);
        } finally {
            lock.unlock();
        }
    }

    /** The one buffer of a body that is a single block, to become a resident body; retained for the caller. */
    ByteBuf singleBody(int bodyLength) {
        lock.lock();
        try {
            OpenBlock open = find(0);
            if (open == null) {
                return allocator.directBuffer(1);
            }
            int capacity = open.buffer.capacity();
            if (capacity - bodyLength > capacity / 8 && allocator.admits(bodyLength)) {
                return allocator.directBuffer(bodyLength).writeBytes(open.buffer, 0, bodyLength);
            }
            return open.buffer.retain().setIndex(0, bodyLength);
        } finally {
            lock.unlock();
        }
    }

    /** The block is on disk: readers go there from now on. On the volume's thread, which pinned its segment. */
    void onDisk(BlockMap map, int number, long location) {
        lock.lock();
        try {
            map.pinAndAdd(number, location);
            OpenBlock open = find(number);
            if (open != null) {
                inRam.remove(open);
                open.buffer.release();
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public StoreKey key() {
        return key;
    }

    @Override
    public H head() {
        H known = head;
        if (known == null) {
            throw new IllegalStateException("the writer was not yet told the head");
        }
        return known;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public boolean isComplete() {
        return state == State.COMPLETE;
    }

    @Override
    public boolean hasRange(long position, long count) {
        if (position < 0 || count < 0 || state == State.DEAD) {
            return false;
        }
        long end = position + count;
        if (end < 0 || end / blockBytes >= Integer.MAX_VALUE) {
            return false;
        }
        if (length >= 0 && end > length) {
            return false;
        }
        lock.lock();
        try {
            long at = position;
            while (at < end) {
                int block = (int) (at / blockBytes);
                int from = (int) (at % blockBytes);
                int until = readableUntil(block, from);
                if (until <= from) {
                    return false;
                }
                at += until - from;
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private int readableUntil(int block, int from) {
        if (onDisk != null && onDisk.has(block)) {
            long known = length;
            return known < 0 ? blockBytes : (int) Math.min(blockBytes, known - (long) block * blockBytes);
        }
        OpenBlock open = find(block);
        return open == null ? from : open.coverage.coveredUntil(from);
    }

    @Override
    public long sequence() {
        return 0;
    }

    @Override
    public @Nullable ByteBuf residentBody() {
        return null;
    }

    @Override
    public void read(long position, int count, Executor replyOn, ReadCallback reply) {
        boolean sane = position >= 0 && count > 0 && position / blockBytes < Integer.MAX_VALUE;
        int block = sane ? (int) (position / blockBytes) : 0;
        int from = sane ? (int) (position % blockBytes) : 0;
        ByteBuf found = null;
        long location = 0;
        long tag = 0;
        int wanted;
        lock.lock();
        try {
            int until = !sane || state == State.DEAD ? from : readableUntil(block, from);
            wanted = Math.min(Math.min(count, READ_LENGTH_MAX), until - from);
            if (wanted > 0 && onDisk != null && onDisk.has(block)) {
                location = onDisk.location(block);
                tag = onDisk.tag(block);
            } else if (wanted > 0) {
                OpenBlock open = find(block);
                found = open == null ? null : open.buffer.retainedSlice(from, wanted);
            }
        } finally {
            lock.unlock();
        }
        if (found != null) {
            Replies.content(replyOn, reply, found);
        } else if (location != 0 && onDisk != null) {
            readFromDisk(onDisk, new DiskRead(block, location, tag, from, wanted), replyOn, reply);
        } else {
            Replies.failed(replyOn, reply, new IOException("read at " + position + ": not filled"));
        }
    }

    private record DiskRead(int block, long location, long tag, int from, int length) {}

    private void readFromDisk(BlockMap map, DiskRead read, Executor replyOn, ReadCallback reply) {
        pool.read(
                read.length(),
                () -> readNow(map, read, replyOn, reply),
                () -> Replies.failed(replyOn, reply, new IOException("read queue full")));
    }

    private static void readNow(BlockMap map, DiskRead read, Executor replyOn, ReadCallback reply) {
        ByteBuf content;
        try {
            content = map.read(read.block(), read.location(), read.tag(), read.from(), read.length());
        } catch (IOException e) {
            Replies.failed(replyOn, reply, e);
            return;
        }
        Replies.content(replyOn, reply, content);
    }

    @Override
    void deallocate() {
        releaseBuffers();
        if (onDisk != null) {
            onDisk.unpin();
        }
    }

    @Override
    public long location() {
        return 0;
    }

    @Override
    public @Nullable StoreObject<H> withHead(H newHead, int headBytes) {
        return null;
    }

    @Override
    public long objectId() {
        return objectId;
    }

    @Override
    public int volume() {
        return volume;
    }
}
