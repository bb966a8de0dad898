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
 * The body of one representation that is being received, or is stored in part. All writers and handles of the object
 * share it. Each block is missing, in a buffer, or on disk.
 *
 * <p>Thread-safe: a lock guards the blocks. It is held briefly, and never during I/O or while content for readers is
 * copied.
 *
 * @param <H> the decoded head
 */
public final class FillingBody<H> extends Counted {
    /** Result of {@link #copy} when the memory budget is exhausted. */
    public static final int NO_MEMORY = -1;

    private final BodyRegister<H> register;
    private final StoreKey key;
    private final FillRegister.Ticket ticket;
    private final @Nullable BlockMap onDisk;
    private final int blockBytes;
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by {@link #lock}, like {@link #claims} and {@link #inBlocks}. */
    private final BodyBlocks blocks;

    private final BlockClaims claims = new BlockClaims();
    private final BodyReaders readers;
    /** True after the switch to storage in blocks. A body longer than one block needs it. */
    private boolean inBlocks;

    /** The head that the writer set; an update does not change it. */
    private volatile @Nullable H firstHead;
    /** The current head. */
    private volatile @Nullable H head;
    /** Length of the body in bytes; -1 while unknown. */
    private volatile long length = -1;

    private volatile State state = State.OPEN;

    private enum State {
        /** Some bytes may be missing. */
        OPEN,
        /** All bytes are present. */
        COMPLETE,
        /** No byte can be read or written any more. */
        ABORTED
    }

    /** Creates a body without content; the caller holds the first reference. */
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

    /** Creates a body of which a part is on disk. */
    static <H> FillingBody<H> opened(
            BodyRegister<H> register, StoreKey key, FillRegister.Ticket ticket, BlockMap onDisk, long length) {
        FillingBody<H> body = new FillingBody<>(register, key, ticket, onDisk, onDisk.blockBytes());
        body.inBlocks = true;
        body.length = length;
        return body;
    }

    StoreKey key() {
        return key;
    }

    /** Returns the body's entry in the register of fills. */
    public FillRegister.Ticket ticket() {
        return ticket;
    }

    /** Returns the length of a full block in bytes. */
    public int blockBytes() {
        return blockBytes;
    }

    /** Returns the volume of the blocks; null if the body stays in RAM. */
    @Nullable
    public Volume volume() {
        return onDisk == null ? null : onDisk.volume();
    }

    /** Returns true if an open of the object on this volume may share the body. */
    boolean isUsable(Volume volume) {
        return onDisk != null && onDisk.volume() == volume && state != State.ABORTED;
    }

    /** Returns true if the body uses this map of blocks. */
    boolean owns(BlockMap map) {
        return onDisk == map;
    }

    /**
     * Sets the head and the length of a new object.
     *
     * @param tailBytes bytes to keep free after a body of one block
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

    /** Replaces the head of the representation. */
    public void update(H newHead) {
        head = newHead;
    }

    /** Returns the head set by the writer; null if not set yet. */
    @Nullable
    H firstHead() {
        return firstHead;
    }

    /** Returns the current head; null if not set yet. */
    @Nullable
    public H head() {
        return head;
    }

    /** Returns the length of the body in bytes; negative while unknown. */
    public long length() {
        return length;
    }

    boolean isComplete() {
        return state == State.COMPLETE;
    }

    /** Returns true if the body has failed or was aborted. No content is added to it any more. */
    public boolean isAborted() {
        return state == State.ABORTED;
    }

    /** Sets the length of the body. Returns false if it contradicts the known length or the content. */
    public boolean setLength(long newLength) {
        lock.lock();
        try {
            if (length >= 0 || newLength < 0) {
                return length == newLength;
            }
            if (newLength < blocks.endOfPresentBytes()) {
                return false;
            }
            length = newLength;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Marks the body as complete. */
    public void complete(long finalLength) {
        length = finalLength;
        state = State.COMPLETE;
        notifyWaiters();
    }

    /**
     * Ends an incomplete body: it accepts no more bytes, and its buffers are released. No effect on a complete body.
     */
    public void abort() {
        if (state != State.COMPLETE) {
            revoke();
            releaseBuffers();
        }
    }

    /**
     * Ends the body, even if it was marked complete, because it could not be stored. Its buffers are released with the
     * last reference.
     */
    public void revoke() {
        state = State.ABORTED;
        notifyWaiters();
    }

    private void releaseBuffers() {
        lock.lock();
        try {
            blocks.releaseBuffers();
        } finally {
            lock.unlock();
        }
    }

    /** Adds a writer. */
    public void begin(Object writer) {
        lock.lock();
        try {
            claims.begin(writer);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Removes a writer and its claims (the blocks that it promised to fill). Also removes its unfinished blocks that no
     * other active writer has written to.
     */
    public void end(Object writer) {
        lock.lock();
        try {
            claims.end(writer);
            if (state == State.OPEN) {
                blocks.endWriter(writer, claims);
            }
        } finally {
            lock.unlock();
        }
        notifyWaiters();
    }

    /**
     * Removes the unfinished blocks that contain any byte of the writer. The content of the writer cannot be trusted.
     */
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

    /** Implements {@link io.millrace.store.ObjectWriter#claim}, within {@code bytesMax}. */
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

    /**
     * Returns the first block from {@code from} on that is neither stored nor claimed. Returns {@code limit} if there
     * is none before it.
     */
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

    /** Switches to storage in blocks, because the body is longer than one block. Returns true for the first call. */
    public boolean switchToBlocks() {
        lock.lock();
        try {
            boolean before = inBlocks;
            inBlocks = true;
            return !before;
        } finally {
            lock.unlock();
        }
    }

    /** Returns true if the body is stored in blocks. */
    public boolean isInBlocks() {
        lock.lock();
        try {
            return inBlocks;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the length of the block in bytes. The last block ends with the body, if the body's length is known. */
    public int blockLength(int block) {
        return blocks.blockLength(block, length);
    }

    /** Returns the number of unfinished blocks to which this writer added the last bytes. */
    public int blocksOpen(Object writer) {
        lock.lock();
        try {
            return blocks.openOf(writer);
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of bytes of a block that are present. */
    public int covered(int block) {
        lock.lock();
        try {
            return blocks.covered(block, length);
        } finally {
            lock.unlock();
        }
    }

    /** Returns true if all bytes of a body of that length are present. */
    public boolean covers(long finalLength) {
        lock.lock();
        try {
            return blocks.covers(finalLength);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Copies the bytes that are not present yet into a block; borrows the content.
     *
     * @return the number of bytes of the block that are present now. 0 if all bytes were present before; {@link
     *     #NO_MEMORY} if the memory budget is exhausted
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

    /**
     * Submits a block for writing: returns its first {@code count} bytes, retained for the caller. Returns null if the
     * block is not in RAM or was already submitted.
     */
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
     * Returns the body of a single block for use as a resident body. The caller releases the buffer.
     *
     * @param tailBytes bytes wanted after the body; the buffer may have fewer
     */
    public ByteBuf singleBody(int bodyLength, int tailBytes) {
        lock.lock();
        try {
            return blocks.singleBody(bodyLength, tailBytes);
        } finally {
            lock.unlock();
        }
    }

    /** Marks the block as on disk, so that readers read it there. Called on the volume's thread. */
    public void onDisk(int number, long location) {
        lock.lock();
        try {
            blocks.written(number, location);
        } finally {
            lock.unlock();
        }
    }

    /** Marks a submitted block as missing, after its write failed or it was withdrawn. */
    public void markMissing(int number) {
        lock.lock();
        try {
            if (blocks.markMissing(number) && state == State.COMPLETE) {
                state = State.OPEN;
            }
        } finally {
            lock.unlock();
        }
        notifyWaiters();
    }

    /**
     * Marks the body complete if all blocks are on disk or being written. Returns true if it was not complete before.
     */
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

    /** Returns the number of blocks on disk or being written. */
    public int wholeBlocks() {
        lock.lock();
        try {
            return blocks.wholeCount();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the set of blocks on disk in the format of a head record. Returns null if no block is on disk. */
    @Nullable
    public BodyPlace place() {
        lock.lock();
        try {
            return blocks.place(length);
        } finally {
            lock.unlock();
        }
    }

    /** Removes a block from the volume's index. Called on the volume's thread. */
    public void dropBlock(int block) {
        markMissing(block);
        if (onDisk != null) {
            onDisk.drop(block);
        }
    }

    /** Removes the blocks on disk from the volume's index. Called on the volume's thread. */
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

    /** Implements {@link StoredObject#hasRange}. */
    boolean hasRange(long position, long count) {
        return readers.hasRange(position, count);
    }

    /** Implements {@link StoredObject#onRange}. */
    void onRange(long position, long count, Executor replyOn, RangeCallback reply) {
        readers.onRange(position, count, replyOn, reply);
    }

    /**
     * Calls back each waiting reader whose range is readable now, or whose missing bytes no active writer will add.
     * Call without holding the lock.
     */
    public void notifyWaiters() {
        readers.notifyReady();
    }

    /**
     * Implements {@link StoredObject#read}.
     *
     * @param headLocation location of the head record of the object that is read
     */
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
