package io.millrace.store.engine.filling;

import io.millrace.store.ObjectWriter.Claim;
import io.millrace.store.RangeCallback;
import io.millrace.store.ReadCallback;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.engine.object.BlockMap;
import io.millrace.store.engine.object.Counted;
import io.netty.buffer.ByteBuf;
import java.util.BitSet;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The body of one representation that is being filled, or of which a part is stored: shared by its writers and by all
 * who hold the object. Each block is missing, or in a buffer, or on disk.
 *
 * <p>Thread-safe: a lock guards the blocks, held for some steps and never over I/O or a copy of what readers get.
 *
 * @param <H> the decoded head
 */
public final class FillingBody<H> extends Counted {
    /** Answer of {@link #copy} when the memory budget is used up. */
    public static final int NO_MEMORY = -1;

    private final BodyRegister<H> register;
    private final StoreKey key;
    private final FillRegister.Ticket ticket;
    private final @Nullable BlockMap onDisk;
    private final int blockBytes;
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock, as are all that are not volatile. */
    private final BodyBlocks blocks;

    private final BlockClaims claims = new BlockClaims();
    private final BodyReaders readers;
    /** Whether the body is longer than one block, so that it is stored in blocks. */
    private boolean cut;

    private volatile @Nullable H firstHead;
    private volatile @Nullable H head;
    private volatile long length = -1;
    private volatile State state = State.OPEN;

    private enum State {
        /** Some of it may be missing. */
        OPEN,
        COMPLETE,
        /** Nothing can be read or written any more. */
        DEAD
    }

    /** A body without bytes; the caller holds the first reference. */
    FillingBody(
            BodyRegister<H> register,
            StoreKey key,
            FillRegister.Ticket ticket,
            @Nullable BlockMap onDisk,
            int blockBytes) {
        this.register = register;
        this.key = key;
        this.ticket = ticket;
        this.onDisk = onDisk;
        this.blockBytes = blockBytes;
        blocks = new BodyBlocks(onDisk, blockBytes, register.allocator());
        readers = new BodyReaders(this, onDisk, new BodyReaders.Guarded(lock, blocks, claims), register.pool());
    }

    /** A body of which a part is on disk. */
    static <H> FillingBody<H> opened(
            BodyRegister<H> register, StoreKey key, FillRegister.Ticket ticket, BlockMap onDisk, long length) {
        FillingBody<H> body = new FillingBody<>(register, key, ticket, onDisk, onDisk.blockBytes());
        body.cut = true;
        body.length = length;
        return body;
    }

    StoreKey key() {
        return key;
    }

    /** The fill's entry in the table of fills. */
    public FillRegister.Ticket ticket() {
        return ticket;
    }

    /** Bytes of a whole block. */
    public int blockBytes() {
        return blockBytes;
    }

    /** Where its blocks go; null when it stays in RAM. */
    @Nullable
    public Volume volume() {
        return onDisk == null ? null : onDisk.volume();
    }

    /** Whether it can be shared by who has opened its object on the volume. */
    boolean isUsable(Volume volume) {
        return onDisk != null && onDisk.volume() == volume && state != State.DEAD;
    }

    boolean owns(BlockMap map) {
        return onDisk == map;
    }

    /**
     * The writer of a new object says what it knows.
     *
     * @param tailBytes bytes to be kept free behind a body of one block
     */
    public void head(H newHead, long newLength, int tailBytes) {
        firstHead = newHead;
        head = newHead;
        length = newLength;
        lock.lock();
        try {
            blocks.tail(tailBytes);
        } finally {
            lock.unlock();
        }
    }

    /** The representation has another head. */
    public void update(H newHead) {
        head = newHead;
    }

    /** The head that the writer told; null when it has not. */
    @Nullable
    H firstHead() {
        return firstHead;
    }

    /** The head as of now; null when it was not told. */
    @Nullable
    public H head() {
        return head;
    }

    /** Length of the body in bytes; negative while unknown. */
    public long length() {
        return length;
    }

    boolean isComplete() {
        return state == State.COMPLETE;
    }

    /** True once the body is given up; nothing is added to it any more. */
    public boolean isDead() {
        return state == State.DEAD;
    }

    /** Says how long the body is; false when that cannot be. */
    public boolean tellLength(long known) {
        lock.lock();
        try {
            if (length >= 0 || known < 0) {
                return length == known;
            }
            if (known < blocks.end()) {
                return false;
            }
            length = known;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** All bytes are there. */
    public void complete(long finalLength) {
        length = finalLength;
        state = State.COMPLETE;
        settleWaiters();
    }

    /** No more bytes will come, and those in RAM go. */
    public void die() {
        if (state != State.COMPLETE) {
            revoke();
            releaseBuffers();
        }
    }

    /** As {@link #die}, even of one that was said to be complete: it is not stored after all. */
    public void revoke() {
        state = State.DEAD;
        settleWaiters();
    }

    private void releaseBuffers() {
        lock.lock();
        try {
            blocks.releaseBuffers();
        } finally {
            lock.unlock();
        }
    }

    /** A writer begins. */
    public void begin(Object writer) {
        lock.lock();
        try {
            claims.begin(writer);
        } finally {
            lock.unlock();
        }
    }

    /** A writer has ended: what it claimed is free, what it left unfinished is gone. */
    public void end(Object writer) {
        lock.lock();
        try {
            claims.end(writer);
            if (state == State.OPEN) {
                blocks.end(writer, claims);
            }
        } finally {
            lock.unlock();
        }
        settleWaiters();
    }

    /** What the writer wrote is not to be trusted: the blocks that are not whole go, if any of it is in them. */
    public void forgetOpen(Object writer) {
        lock.lock();
        try {
            if (state == State.OPEN) {
                blocks.forget(writer);
            }
        } finally {
            lock.unlock();
        }
    }

    /** As {@link io.millrace.store.ObjectWriter#claim}, within {@code bytesMax}. */
    @Nullable
    public Claim claim(Object writer, long position, long count, long bytesMax) {
        lock.lock();
        try {
            long most = length >= 0 ? Math.min(length, bytesMax) : bytesMax;
            long end = count > most - position ? most : position + count;
            if (position < 0 || count <= 0 || position >= end || state != State.OPEN) {
                return null;
            }
            int limit = (int) ((end - 1) / blockBytes) + 1;
            int from = firstFree((int) (position / blockBytes), limit);
            if (from >= limit) {
                return null;
            }
            int to = from + 1;
            int nextClaimed = claims.nextClaimed(from, limit);
            while (to < nextClaimed && !blocks.isWhole(to)) {
                to++;
            }
            if (!claims.claim(writer, from, to)) {
                register.pool().claimRefused();
                return null;
            }
            long start = (long) from * blockBytes;
            long stop = (long) to * blockBytes;
            return new Claim(start, (length >= 0 ? Math.min(length, stop) : stop) - start);
        } finally {
            lock.unlock();
        }
    }

    private int firstFree(int from, int limit) {
        blocks.sampleBlocks(from, limit);
        int block = from;
        while (block < limit) {
            int next = blocks.firstNotOnDisk(claims.claimedUntil(block));
            if (next == block && !blocks.isWhole(block)) {
                return block;
            }
            block = Math.max(next, block + (next == block ? 1 : 0));
        }
        return limit;
    }

    /** Says that the body is longer than one block; whether that is news. */
    public boolean cut() {
        lock.lock();
        try {
            boolean before = cut;
            cut = true;
            return !before;
        } finally {
            lock.unlock();
        }
    }

    /** True once the body is stored in blocks. */
    public boolean isCut() {
        lock.lock();
        try {
            return cut;
        } finally {
            lock.unlock();
        }
    }

    /** Bytes of the block, as far as the length is known. */
    public int blockLength(int block) {
        return blocks.blockLength(block, length);
    }

    /** Number of blocks that a writer has begun and not filled. */
    public int blocksOpen(Object writer) {
        lock.lock();
        try {
            return blocks.openOf(writer);
        } finally {
            lock.unlock();
        }
    }

    /** Bytes of a block that are there. */
    public int covered(int block) {
        lock.lock();
        try {
            return blocks.covered(block, length);
        } finally {
            lock.unlock();
        }
    }

    /** Whether a body of that length is all there. */
    public boolean covers(long finalLength) {
        lock.lock();
        try {
            return blocks.covers(finalLength);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Copies bytes into a block, those that were not there yet; borrows the content.
     *
     * @return how many bytes of the block are there now, 0 when none of these was new; {@link #NO_MEMORY} when there is
     *     none for them
     */
    public int copy(Object writer, int block, int from, ByteBuf content, int contentIndex, int count) {
        lock.lock();
        try {
            if (state != State.OPEN) {
                return 0;
            }
            return blocks.copy(writer, block, from, content, contentIndex, count, length);
        } finally {
            lock.unlock();
        }
    }

    /** Hands out the first {@code count} bytes of a block to be written, retained for the caller; once only. */
    @Nullable
    public ByteBuf submit(int number, int count) {
        lock.lock();
        try {
            return blocks.submit(number, count);
        } finally {
            lock.unlock();
        }
    }

    /**
     * The one buffer of a body that is a single block, to become a resident body; retained for the caller.
     *
     * @param tailBytes bytes wanted behind the body; there may be fewer
     */
    public ByteBuf singleBody(int bodyLength, int tailBytes) {
        lock.lock();
        try {
            return blocks.singleBody(bodyLength, tailBytes);
        } finally {
            lock.unlock();
        }
    }

    /** The block is on disk: readers go there from now on. On the volume's thread. */
    public void onDisk(int number, long location) {
        lock.lock();
        try {
            blocks.written(number, location);
        } finally {
            lock.unlock();
        }
    }

    /** A block that was submitted could not be written, or is given up. */
    public void lost(int number) {
        lock.lock();
        try {
            if (blocks.lost(number) && state == State.COMPLETE) {
                state = State.OPEN;
            }
        } finally {
            lock.unlock();
        }
        settleWaiters();
    }

    /** Makes the body complete if all blocks are on disk or on their way there; whether it was not and is now. */
    public boolean completeIfAllSubmitted() {
        lock.lock();
        try {
            if (state != State.OPEN || length < 0 || blocks.wholeCount() != blocks.blocksIn(length)) {
                return false;
            }
            state = State.COMPLETE;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Number of blocks on disk or on their way there. */
    public int wholeBlocks() {
        lock.lock();
        try {
            return blocks.wholeCount();
        } finally {
            lock.unlock();
        }
    }

    /** What a head record is to say of the blocks that are on disk now; null when there are none. */
    @Nullable
    public BodyPlace place() {
        lock.lock();
        try {
            return blocks.place(length);
        } finally {
            lock.unlock();
        }
    }

    /** Takes a block out of the volume's index. On the volume's thread. */
    public void dropBlock(int block) {
        lost(block);
        if (onDisk != null) {
            onDisk.drop(block);
        }
    }

    /** Takes the blocks that are on disk out of the volume's index. On the volume's thread. */
    public void dropBlocks() {
        if (onDisk == null) {
            return;
        }
        BitSet stored;
        lock.lock();
        try {
            stored = blocks.stored();
        } finally {
            lock.unlock();
        }
        for (int block = stored.nextSetBit(0); block >= 0; block = stored.nextSetBit(block + 1)) {
            onDisk.drop(block);
        }
    }

    /** As {@link StoredObject#hasRange}. */
    boolean hasRange(long position, long count) {
        return readers.hasRange(position, count);
    }

    /** As {@link StoredObject#onRange}. */
    void onRange(long position, long count, Executor replyOn, RangeCallback reply) {
        readers.onRange(position, count, replyOn, reply);
    }

    /** Tells those whose range has come, or will not. Outside of the lock. */
    public void settleWaiters() {
        readers.settle();
    }

    /** As {@link StoredObject#read}, for the object whose head record lies there. */
    void read(long position, int count, long headLocation, Executor replyOn, ReadCallback reply) {
        readers.read(position, count, headLocation, replyOn, reply);
    }

    @Override
    protected void deallocate() {
        register.remove(this);
        releaseBuffers();
        if (onDisk != null) {
            onDisk.unpin();
        }
    }
}
