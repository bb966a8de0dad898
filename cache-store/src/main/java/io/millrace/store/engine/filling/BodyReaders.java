package io.millrace.store.engine.filling;

import io.millrace.store.RangeCallback;
import io.millrace.store.ReadCallback;
import io.millrace.store.StoredObject;
import io.millrace.store.engine.filling.RangeWaiters.RangeState;
import io.millrace.store.engine.filling.RangeWaiters.Waiter;
import io.millrace.store.engine.object.BlockMap;
import io.millrace.store.engine.object.ReadPool;
import io.millrace.store.engine.object.Replies;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The reads of one incomplete body, and the readers that wait for its ranges.
 *
 * <p>An incomplete body is being filled or is partially stored.
 *
 * <p>Thread-safe: uses the body's lock, which is not held during I/O, copies or callbacks.
 */
final class BodyReaders {
    private final FillingBody<?> body;
    private final @Nullable BlockMap onDisk;
    private final int blockBytes;
    private final ReadPool pool;
    private final ReentrantLock lock;
    private final BodyBlocks blocks;
    private final BlockClaims claims;
    private final RangeWaiters waiters = new RangeWaiters();

    /** The body's lock and the state that it guards. */
    record Guarded(ReentrantLock lock, BodyBlocks blocks, BlockClaims claims) {}

    BodyReaders(FillingBody<?> body, @Nullable BlockMap onDisk, Guarded guarded, ReadPool pool) {
        this.body = body;
        this.onDisk = onDisk;
        this.blockBytes = body.blockBytes();
        this.pool = pool;
        lock = guarded.lock();
        blocks = guarded.blocks();
        claims = guarded.claims();
    }

    /** Implements {@link StoredObject#hasRange}. */
    boolean hasRange(long position, long count) {
        if (position < 0 || count < 0 || body.isAborted()) {
            return false;
        }
        long end = position + count;
        if (end < 0 || end / blockBytes >= Integer.MAX_VALUE || (body.length() >= 0 && end > body.length())) {
            return false;
        }
        lock.lock();
        try {
            blocks.sample(position, end);
            return blocks.readableUntil(position, end) >= end;
        } finally {
            lock.unlock();
        }
    }

    /** Implements {@link StoredObject#onRange}. */
    void onRange(long position, long count, Executor replyOn, RangeCallback reply) {
        boolean isValid = position >= 0 && count >= 0;
        long end = isValid && count <= Long.MAX_VALUE - position ? position + count : Long.MAX_VALUE;
        Waiter waiter = new Waiter(isValid ? position : -1, end, replyOn, reply);
        boolean waits;
        lock.lock();
        try {
            if (isValid) {
                blocks.sample(position, blocksEnd(end));
            }
            waits = waiters.add(waiter);
        } finally {
            lock.unlock();
        }
        if (waits) {
            notifyReady();
        } else {
            pool.rangeRefused();
            waiter.deliver();
        }
    }

    /**
     * Calls back each waiting reader whose range is readable now, or whose missing bytes no active writer will add.
     * Call without holding the lock.
     */
    void notifyReady() {
        List<Waiter> done;
        lock.lock();
        try {
            done = waiters.removeReady(this::check);
        } finally {
            lock.unlock();
        }
        for (Waiter waiter : done) {
            waiter.deliver();
        }
    }

    /** Returns the state of the waiter's range. Advances the waiter's position past the readable bytes. */
    private RangeState check(Waiter waiter) {
        long end = blocksEnd(waiter.end);
        if (body.isAborted() || waiter.position < 0 || (body.length() >= 0 && waiter.position > body.length())) {
            return RangeState.UNAVAILABLE;
        }
        waiter.position = Math.max(waiter.position, blocks.readableUntil(waiter.position, end));
        if (waiter.position >= end) {
            return RangeState.READABLE;
        }
        int limit = (int) ((end - 1) / blockBytes) + 1;
        for (int block = (int) (waiter.position / blockBytes); block < limit; ) {
            int next = claims.claimedUntil(blocks.firstNotOnDisk(block));
            if (next == block && !blocks.isWhole(block)) {
                return claims.isExpected(block) ? RangeState.EXPECTED : RangeState.UNAVAILABLE;
            }
            block = Math.max(next, block + (next == block ? 1 : 0));
        }
        return RangeState.EXPECTED;
    }

    /**
     * Returns the end of the range, limited by the end of the body. If the length of the body is unknown, the maximum
     * number of blocks is the limit.
     */
    private long blocksEnd(long end) {
        long most = body.length() >= 0 ? body.length() : (long) blockBytes * (Integer.MAX_VALUE - 1);
        return Math.min(end, most);
    }

    /**
     * Implements {@link StoredObject#read}.
     *
     * @param headLocation location of the head record of the object that is read
     */
    void read(long position, int count, long headLocation, Executor replyOn, ReadCallback reply) {
        ByteBuf found = null;
        DiskBlock diskBlock = null;
        lock.lock();
        try {
            if (position >= 0 && count > 0 && position / blockBytes < Integer.MAX_VALUE && !body.isAborted()) {
                int most = Math.min(count, StoredObject.READ_LENGTH_MAX);
                diskBlock = blocks.onDisk(position, most, body.length());
                found = blocks.inRam(position, most);
            }
        } finally {
            lock.unlock();
        }
        if (found != null) {
            Replies.content(replyOn, reply, found);
        } else if (diskBlock != null && onDisk != null) {
            new BlockReading(body, this, onDisk, diskBlock, headLocation, replyOn, reply).start(pool);
        } else {
            Replies.failed(replyOn, reply, new IOException("read at " + position + ": no bytes are stored"));
        }
    }

    /**
     * Handles a block that a read found missing or damaged. Marks the block as lost, unless the map has another
     * location for it now.
     */
    void markLost(BlockMap map, DiskBlock read) {
        boolean isSameLocation;
        lock.lock();
        try {
            isSameLocation = map.location(read.number()) == read.location();
        } finally {
            lock.unlock();
        }
        if (isSameLocation) {
            body.markMissing(read.number());
        }
    }
}
