package io.millrace.store.engine;

import io.millrace.store.ObjectWriter.Claim;
import io.millrace.store.RangeCallback;
import io.millrace.store.ReadCallback;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.BodyPlace;
import io.millrace.store.disk.DamagedRecordException;
import io.millrace.store.disk.Volume;
import io.millrace.store.engine.RangeWaiters.Verdict;
import io.millrace.store.engine.RangeWaiters.Waiter;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
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
final class FillingBody<H> extends Counted {
    /** Answer of {@link #copy} when the memory budget is used up. */
    static final int NO_MEMORY = -1;

    private static final int FIRST_BUFFER_BYTES = 4096;

    private final BodyRegister<H> register;
    private final StoreKey key;
    private final FillRegister.Ticket ticket;
    private final @Nullable BlockMap onDisk;
    private final int blockBytes;
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock, as are all that are not volatile. */
    private final List<OpenBlock> inRam = new ArrayList<>();

    private final BlockClaims claims = new BlockClaims();
    private final RangeWaiters waiters = new RangeWaiters();
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

    FillRegister.Ticket ticket() {
        return ticket;
    }

    int blockBytes() {
        return blockBytes;
    }

    /** Where its blocks go; null when it stays in RAM. */
    @Nullable
    Volume volume() {
        return onDisk == null ? null : onDisk.volume();
    }

    /** Whether it can be shared by who has opened its object on the volume. */
    boolean isUsable(Volume volume) {
        return onDisk != null && onDisk.volume() == volume && state != State.DEAD;
    }

    boolean owns(BlockMap map) {
        return onDisk == map;
    }

    /** The writer of a new object says what it knows. */
    void head(H newHead, long newLength) {
        firstHead = newHead;
        head = newHead;
        length = newLength;
    }

    /** The representation has another head. */
    void update(H newHead) {
        head = newHead;
    }

    /** The head that the writer told; null when it has not. */
    @Nullable
    H firstHead() {
        return firstHead;
    }

    /** The head as of now; null when it was not told. */
    @Nullable
    H head() {
        return head;
    }

    long length() {
        return length;
    }

    boolean isComplete() {
        return state == State.COMPLETE;
    }

    boolean isDead() {
        return state == State.DEAD;
    }

    /** Says how long the body is; false when that cannot be. */
    boolean tellLength(long known) {
        lock.lock();
        try {
            if (length >= 0 || known < 0) {
                return length == known;
            }
            long end = 0;
            for (OpenBlock block : inRam) {
                end = Math.max(end, (long) block.number * blockBytes + block.coverage.end());
            }
            int last = onDisk == null ? 0 : onDisk.stored().length();
            if (known < Math.max(end, (long) last * blockBytes)) {
                return false;
            }
            length = known;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** All bytes are there. */
    void complete(long finalLength) {
        length = finalLength;
        state = State.COMPLETE;
        settleWaiters();
    }

    /** No more bytes will come, and those in RAM go. */
    void die() {
        if (state != State.COMPLETE) {
            revoke();
            releaseBuffers();
        }
    }

    /** As {@link #die}, even of one that was said to be complete: it is not stored after all. */
    void revoke() {
        state = State.DEAD;
        settleWaiters();
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

    /** A writer begins. */
    void begin(Object writer) {
        lock.lock();
        try {
            claims.begin(writer);
        } finally {
            lock.unlock();
        }
    }

    /** A writer has ended: what it claimed is free, what it left unfinished is gone. */
    void end(Object writer) {
        lock.lock();
        try {
            claims.end(writer);
            for (int i = inRam.size() - 1; i >= 0 && state == State.OPEN; i--) {
                OpenBlock block = inRam.get(i);
                if (!block.submitted && !block.handOn(writer, claims)) {
                    takeOut(block.number);
                }
            }
        } finally {
            lock.unlock();
        }
        settleWaiters();
    }

    /** What the writer wrote is not to be trusted: the blocks that are not whole go, if any of it is in them. */
    void forgetOpen(Object writer) {
        lock.lock();
        try {
            for (int i = inRam.size() - 1; i >= 0 && state == State.OPEN; i--) {
                OpenBlock block = inRam.get(i);
                if (!block.submitted && block.isTouchedBy(writer)) {
                    takeOut(block.number);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** As {@link io.millrace.store.ObjectWriter#claim}, within {@code bytesMax}. */
    @Nullable
    Claim claim(Object writer, long position, long count, long bytesMax) {
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
            while (to < nextClaimed && !isWhole(to)) {
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
        if (onDisk != null) {
            onDisk.sample(from, limit);
        }
        int block = from;
        while (block < limit) {
            int next = claims.claimedUntil(block);
            next = onDisk == null ? next : onDisk.firstMissing(next);
            if (next == block && !isWhole(block)) {
                return block;
            }
            block = Math.max(next, block + (next == block ? 1 : 0));
        }
        return limit;
    }

    /** Whether the block is on disk or on its way there. */
    private boolean isWhole(int block) {
        OpenBlock open = find(block);
        return open == null ? onDisk != null && onDisk.has(block) : open.submitted;
    }

    private @Nullable OpenBlock find(int block) {
        for (int i = 0; i < inRam.size(); i++) {
            if (inRam.get(i).number == block) {
                return inRam.get(i);
            }
        }
        return null;
    }

    /** Says that the body is longer than one block; whether that is news. */
    boolean cut() {
        lock.lock();
        try {
            boolean before = cut;
            cut = true;
            return !before;
        } finally {
            lock.unlock();
        }
    }

    boolean isCut() {
        lock.lock();
        try {
            return cut;
        } finally {
            lock.unlock();
        }
    }

    /** Bytes of the block, as far as the length is known. */
    int blockLength(int block) {
        long known = length;
        long rest = known < 0 ? Long.MAX_VALUE : known - (long) block * blockBytes;
        return (int) Math.max(0, Math.min(blockBytes, rest));
    }

    /** Number of blocks that a writer has begun and not filled. */
    int blocksOpen(Object writer) {
        lock.lock();
        try {
            int open = 0;
            for (int i = 0; i < inRam.size(); i++) {
                open += inRam.get(i).submitted || !inRam.get(i).isOf(writer) ? 0 : 1;
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
            return onDisk != null && onDisk.has(block) ? blockLength(block) : 0;
        } finally {
            lock.unlock();
        }
    }

    /** Whether a body of that length is all there. */
    boolean covers(long finalLength) {
        lock.lock();
        try {
            int blocks = (int) ((finalLength + blockBytes - 1) / blockBytes);
            for (int block = onDisk == null ? 0 : onDisk.firstMissing(0); block < blocks; block++) {
                int wanted = (int) Math.min(blockBytes, finalLength - (long) block * blockBytes);
                OpenBlock open = find(block);
                if (open == null ? onDisk == null || !onDisk.has(block) : open.covered != wanted) {
                    return false;
                }
            }
            return true;
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
    int copy(Object writer, int block, int from, ByteBuf content, int contentIndex, int count) {
        lock.lock();
        try {
            OpenBlock open = find(block);
            if (state != State.OPEN || (open == null && onDisk != null && onDisk.has(block))) {
                return 0;
            }
            if (open == null) {
                int capacity = firstCapacity(block, from + count);
                ByteBuf buffer = register.allocator().tryDirectBuffer(capacity);
                if (buffer == null) {
                    return NO_MEMORY;
                }
                open = new OpenBlock(block, buffer, writer);
                inRam.add(open);
            }
            if (!open.grow(register.allocator(), from + count, blockBytes)) {
                return NO_MEMORY;
            }
            return open.copy(writer, from, content, contentIndex, count) == 0 ? 0 : open.covered;
        } finally {
            lock.unlock();
        }
    }

    private int firstCapacity(int block, int needed) {
        if (length >= 0) {
            return Math.max(needed, blockLength(block));
        }
        return Math.max(needed, block == 0 ? Math.min(FIRST_BUFFER_BYTES, blockBytes) : blockBytes);
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
                return register.allocator().directBuffer(1);
            }
            int capacity = open.buffer.capacity();
            ByteBuf fitting =
                    capacity - bodyLength > capacity / 8 ? register.allocator().tryDirectBuffer(bodyLength) : null;
            if (fitting != null) {
                return fitting.writeBytes(open.buffer, 0, bodyLength);
            }
            return open.buffer.retain().setIndex(0, bodyLength);
        } finally {
            lock.unlock();
        }
    }

    /** The block is on disk: readers go there from now on. On the volume's thread. */
    void onDisk(int number, long location) {
        lock.lock();
        try {
            if (onDisk != null) {
                onDisk.pinAndAdd(number, location);
            }
            takeOut(number);
        } finally {
            lock.unlock();
        }
    }

    /** A block that was submitted could not be written, or is given up. */
    void lost(int number) {
        lock.lock();
        try {
            boolean known = isWhole(number);
            takeOut(number);
            if (onDisk != null) {
                onDisk.remove(number);
            }
            if (known && state == State.COMPLETE) {
                state = State.OPEN;
            }
        } finally {
            lock.unlock();
        }
        settleWaiters();
    }

    private void takeOut(int number) {
        OpenBlock open = find(number);
        if (open != null) {
            inRam.remove(open);
            open.buffer.release();
        }
    }

    /** Makes the body complete if all blocks are on disk or on their way there; whether it was not and is now. */
    boolean completeIfAllSubmitted() {
        lock.lock();
        try {
            if (state != State.OPEN || length < 0 || wholeBlocks() != (length + blockBytes - 1) / blockBytes) {
                return false;
            }
            state = State.COMPLETE;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Number of blocks on disk or on their way there. */
    int wholeBlocks() {
        lock.lock();
        try {
            int whole = onDisk == null ? 0 : onDisk.count();
            for (int i = 0; i < inRam.size(); i++) {
                whole += inRam.get(i).submitted ? 1 : 0;
            }
            return whole;
        } finally {
            lock.unlock();
        }
    }

    /** What a head record is to say of the blocks that are on disk now; null when there are none. */
    @Nullable
    BodyPlace place() {
        lock.lock();
        try {
            if (onDisk == null || onDisk.count() == 0) {
                return null;
            }
            boolean whole = length >= 0 && onDisk.count() == (length + blockBytes - 1) / blockBytes;
            return whole
                    ? BodyPlace.inBlocks(length, blockBytes)
                    : BodyPlace.partial(length, blockBytes, onDisk.stored());
        } finally {
            lock.unlock();
        }
    }

    /** Takes a block out of the volume's index. On the volume's thread. */
    void dropBlock(int block) {
        lost(block);
        if (onDisk != null) {
            onDisk.drop(block);
        }
    }

    /** Takes the blocks that are on disk out of the volume's index. On the volume's thread. */
    void dropBlocks() {
        if (onDisk == null) {
            return;
        }
        BitSet stored;
        lock.lock();
        try {
            stored = onDisk.stored();
        } finally {
            lock.unlock();
        }
        for (int block = stored.nextSetBit(0); block >= 0; block = stored.nextSetBit(block + 1)) {
            onDisk.drop(block);
        }
    }

    /** As {@link StoredObject#hasRange}. */
    boolean hasRange(long position, long count) {
        if (position < 0 || count < 0 || state == State.DEAD) {
            return false;
        }
        long end = position + count;
        if (end < 0 || end / blockBytes >= Integer.MAX_VALUE || (length >= 0 && end > length)) {
            return false;
        }
        lock.lock();
        try {
            sample(position, end);
            return readableUntil(position, end) >= end;
        } finally {
            lock.unlock();
        }
    }

    private void sample(long position, long end) {
        if (onDisk != null && position < end) {
            onDisk.sample((int) (position / blockBytes), (int) ((end - 1) / blockBytes) + 1);
        }
    }

    /** Up to where, {@code end} or less, all can be read from {@code position} on. */
    private long readableUntil(long position, long end) {
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

    /** As {@link StoredObject#onRange}. */
    void onRange(long position, long count, Executor replyOn, RangeCallback reply) {
        boolean sane = position >= 0 && count >= 0;
        long end = sane && count <= Long.MAX_VALUE - position ? position + count : Long.MAX_VALUE;
        Waiter waiter = new Waiter(sane ? position : -1, end, replyOn, reply);
        boolean waits;
        lock.lock();
        try {
            if (sane) {
                sample(position, blocksEnd(end));
            }
            waits = waiters.add(waiter);
        } finally {
            lock.unlock();
        }
        if (waits) {
            settleWaiters();
        } else {
            register.pool().rangeRefused();
            waiter.deliver();
        }
    }

    /** Tells those whose range has come, or will not. Outside of the lock. */
    void settleWaiters() {
        List<Waiter> done;
        lock.lock();
        try {
            done = waiters.settle(this::judge);
        } finally {
            lock.unlock();
        }
        for (Waiter waiter : done) {
            waiter.deliver();
        }
    }

    private Verdict judge(Waiter waiter) {
        long end = blocksEnd(waiter.end);
        if (state == State.DEAD || waiter.position < 0 || (length >= 0 && waiter.position > length)) {
            return Verdict.HOPELESS;
        }
        waiter.position = Math.max(waiter.position, readableUntil(waiter.position, end));
        if (waiter.position >= end) {
            return Verdict.READABLE;
        }
        int limit = (int) ((end - 1) / blockBytes) + 1;
        for (int block = (int) (waiter.position / blockBytes); block < limit; ) {
            int next = claims.claimedUntil(onDisk == null ? block : onDisk.firstMissing(block));
            if (next == block && !isWhole(block)) {
                return claims.isExpected(block) ? Verdict.EXPECTED : Verdict.HOPELESS;
            }
            block = Math.max(next, block + (next == block ? 1 : 0));
        }
        return Verdict.EXPECTED;
    }

    /** The end of a range, or that of the body when it comes first. */
    private long blocksEnd(long end) {
        long most = length >= 0 ? length : (long) blockBytes * (Integer.MAX_VALUE - 1);
        return Math.min(end, most);
    }

    private record BlockRead(int block, long location, long tag, int from, int length) {}

    /** As {@link StoredObject#read}, for the object whose head record lies there. */
    void read(long position, int count, long headLocation, Executor replyOn, ReadCallback reply) {
        ByteBuf found = null;
        BlockRead read = null;
        lock.lock();
        try {
            if (position >= 0 && count > 0 && position / blockBytes < Integer.MAX_VALUE && state != State.DEAD) {
                int block = (int) (position / blockBytes);
                int from = (int) (position % blockBytes);
                OpenBlock open = find(block);
                int most = Math.min(count, StoredObject.READ_LENGTH_MAX);
                if (onDisk != null && onDisk.has(block)) {
                    int wanted = Math.min(most, blockLength(block) - from);
                    read = wanted <= 0
                            ? null
                            : new BlockRead(block, onDisk.location(block), onDisk.tag(block), from, wanted);
                } else if (open != null) {
                    int wanted = Math.min(most, open.coverage.coveredUntil(from) - from);
                    found = wanted <= 0 ? null : open.buffer.retainedSlice(from, wanted);
                }
            }
        } finally {
            lock.unlock();
        }
        if (found != null) {
            Replies.content(replyOn, reply, found);
        } else if (read != null && onDisk != null) {
            readFromDisk(onDisk, read, headLocation, replyOn, reply);
        } else {
            Replies.failed(replyOn, reply, new IOException("read at " + position + ": not filled"));
        }
    }

    private void readFromDisk(BlockMap map, BlockRead read, long headLocation, Executor replyOn, ReadCallback reply) {
        register.pool()
                .read(
                        read.length(),
                        () -> readNow(map, read, headLocation, replyOn, reply),
                        () -> Replies.failed(replyOn, reply, new IOException("read queue full")));
    }

    private void readNow(BlockMap map, BlockRead read, long headLocation, Executor replyOn, ReadCallback reply) {
        ByteBuf content;
        try {
            content = map.read(read.block(), read.location(), read.tag(), read.from(), read.length());
        } catch (IOException e) {
            readFailed(map, read, headLocation, e);
            Replies.failed(replyOn, reply, e);
            return;
        }
        Replies.content(replyOn, reply, content);
    }

    private void readFailed(BlockMap map, BlockRead read, long headLocation, IOException e) {
        boolean damaged = e instanceof DamagedRecordException;
        if (damaged) {
            register.pool().damaged();
            map.dropDamaged(key, headLocation, read.block(), read.location());
        }
        if ((damaged || e instanceof BlockGoneException) && map.volume().isWorking()) {
            boolean same;
            lock.lock();
            try {
                same = map.location(read.block()) == read.location();
            } finally {
                lock.unlock();
            }
            if (same) {
                lost(read.block());
            }
        }
    }

    @Override
    void deallocate() {
        register.remove(this);
        releaseBuffers();
        if (onDisk != null) {
            onDisk.unpin();
        }
    }
}
