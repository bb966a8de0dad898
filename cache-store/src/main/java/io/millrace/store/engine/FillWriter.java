package io.millrace.store.engine;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.BodyPlace;
import io.millrace.store.disk.Volume;
import io.millrace.store.memory.MemoryBudget;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Fills an object: cuts what it is given into blocks and hands each full block to the volume's thread. A body that fits
 * one block stays in RAM until it is complete and becomes one record.
 *
 * <p>Confined to one thread, but for {@link #isWritable}, {@link #isFailed} and what the volume's thread calls.
 */
final class FillWriter<H> implements ObjectWriter<H> {
    /** Blocks that may be open at once: more would be ranges all over the body, each with a buffer of its own. */
    private static final int OPEN_BLOCKS_MAX = 8;

    private final ObjectChanges<H> changes;
    private final FillTarget target;
    private final FillingObject<H> object;
    private final @Nullable BlockMap blocks;
    private final AtomicLong pendingBytes = new AtomicLong();
    private final AtomicReference<@Nullable Waiter> waiter = new AtomicReference<>();
    private volatile boolean failed;
    private boolean ended;
    private long bytes;
    private long length = -1;
    private @Nullable H head;
    private boolean cut;

    private record Waiter(Executor replyOn, Runnable callback) {}

    /**
     * A writer of a new object.
     *
     * @param blocks where its blocks go; null when it stays in RAM
     */
    FillWriter(ObjectChanges<H> changes, FillTarget target, FillingObject<H> object, @Nullable BlockMap blocks) {
        this.changes = changes;
        this.target = target;
        this.object = object;
        this.blocks = blocks;
        this.failed = target.isRefused();
    }

    @Override
    public void head(H newHead, long newLength) {
        head = newHead;
        length = newLength;
        object.head(newHead, newLength);
        if (newLength > target.bodyBytesMax()) {
            fail();
        }
    }

    @Override
    public void write(long position, ByteBuf content) {
        try {
            int count = content.readableBytes();
            if (count == 0 || isFailed() || ended) {
                return;
            }
            long end = position + count;
            if (position < 0 || end > target.bodyBytesMax() || (length >= 0 && end > length)) {
                fail();
                return;
            }
            copy(position, content, count);
        } finally {
            content.release();
        }
    }

    private void copy(long position, ByteBuf content, int count) {
        int blockBytes = target.blockBytes();
        int done = 0;
        while (done < count) {
            int block = (int) ((position + done) / blockBytes);
            int from = (int) ((position + done) % blockBytes);
            int part = Math.min(count - done, blockBytes - from);
            if (block > 0 && !cut) {
                startCutting();
            }
            int before = object.covered(block);
            int covered = object.copy(block, from, content, content.readerIndex() + done, part);
            if (covered == FillingObject.NO_MEMORY) {
                fail();
                return;
            }
            bytes += covered - before;
            if (cut && covered > before && covered == blockLength(block)) {
                flush(block, covered);
            }
            done += part;
        }
        if (object.blocksOpen() > OPEN_BLOCKS_MAX || isOverrun()) {
            fail();
        }
    }

    /** Whether the filler goes on regardless of {@link #isWritable}. */
    private boolean isOverrun() {
        Volume volume = target.volume();
        long limit = Math.max(4L * changes.config().writeWindowBytes(), 8L * target.blockBytes());
        return pendingBytes.get() > limit
                || (volume != null
                        && volume.queuedBytes() > 2 * changes.config().writeQueueBytesMax());
    }

    /** The body is longer than one block: block 0 need not wait for the end. */
    private void startCutting() {
        cut = true;
        if (object.covered(0) == target.blockBytes()) {
            flush(0, target.blockBytes());
        }
    }

    private int blockLength(int block) {
        long rest = length < 0 ? Long.MAX_VALUE : length - (long) block * target.blockBytes();
        return (int) Math.min(target.blockBytes(), rest);
    }

    private void flush(int block, int count) {
        Volume volume = target.volume();
        BlockMap map = blocks;
        ByteBuf content = object.submit(block, count);
        if (volume == null || map == null || content == null) {
            if (content != null) {
                content.release();
            }
            fail();
            return;
        }
        object.retain();
        pendingBytes.addAndGet(count);
        volume.queued(count);
        if (!volume.execute(() -> append(volume, map, block, content))) {
            written(volume, content);
            fail();
        }
    }

    /** On the volume's thread. */
    private void append(Volume volume, BlockMap map, int block, ByteBuf content) {
        try {
            if (!failed) {
                object.onDisk(
                        map, block, volume.appendBlock(target.key().hashLow(), object.objectId(), block, content));
            }
        } catch (IOException e) {
            fail();
        } finally {
            written(volume, content);
        }
    }

    private void written(Volume volume, ByteBuf content) {
        int count = content.readableBytes();
        content.release();
        volume.queued(-count);
        pendingBytes.addAndGet(-count);
        object.release();
        if (isWritable()) {
            wake();
        }
    }

    @Override
    public boolean isWritable() {
        long pending = pendingBytes.get();
        Volume volume = target.volume();
        // A writer with nothing pending is always writable: nobody would wake it.
        return pending == 0
                || (pending < changes.config().writeWindowBytes()
                        && !changes.budget().isTight(MemoryBudget.Part.FILLING)
                        && (volume == null
                                || volume.queuedBytes() < changes.config().writeQueueBytesMax()));
    }

    @Override
    public void onWritable(Executor replyOn, Runnable callback) {
        waiter.set(new Waiter(replyOn, callback));
        if (isWritable() || isFailed()) {
            wake();
        }
    }

    private void wake() {
        Waiter waiting = waiter.getAndSet(null);
        if (waiting != null) {
            Replies.deliver(waiting.replyOn(), waiting.callback());
        }
    }

    @Override
    public void complete(long finalLength) {
        if (ended) {
            return;
        }
        ended = true;
        H known = head;
        boolean whole = bytes == finalLength && (length < 0 || length == finalLength) && known != null;
        boolean stored = false;
        if (whole && known != null && !isFailed()) {
            length = finalLength;
            stored = cut ? completeInBlocks(known, finalLength) : completeInOne(known, (int) finalLength);
        }
        if (stored) {
            changes.counters().writesCompleted.increment();
        } else {
            fail();
            drop();
            changes.counters().writesFailed.increment();
        }
        changes.fills().end(target.key(), target.ticket());
        object.release();
    }

    private boolean completeInOne(H known, int finalLength) {
        ResidentObject<H> resident = new ResidentObject<>(
                object.key(),
                known,
                changes.codec().heapBytes(known),
                object.singleBody(finalLength),
                ObjectPlace.unwritten(object.objectId(), object.volume()));
        boolean stored =
                changes.publish(target, resident, volume -> changes.appender().complete(volume, resident));
        if (stored) {
            object.complete(finalLength);
        }
        resident.release();
        return stored;
    }

    private boolean completeInBlocks(H known, long finalLength) {
        int last = (int) ((finalLength - 1) / target.blockBytes());
        int lastLength = (int) (finalLength - (long) last * target.blockBytes());
        if (!object.isSubmitted(last)) {
            flush(last, lastLength);
        }
        object.complete(finalLength);
        boolean stored = !failed
                && changes.publish(target, object, volume -> {
                    if (failed || !object.isOnDisk()) {
                        throw new IOException("a block could not be written");
                    }
                    changes.appender()
                            .head(volume, object, known, BodyPlace.inBlocks(finalLength, target.blockBytes()));
                });
        if (!stored) {
            object.revoke();
        }
        return stored;
    }

    @Override
    public void abort() {
        if (ended) {
            return;
        }
        ended = true;
        fail();
        drop();
        changes.fills().end(target.key(), target.ticket());
        object.release();
    }

    private void fail() {
        failed = true;
        object.die();
        wake();
    }

    /** Takes blocks that reached the disk out of the index. */
    private void drop() {
        Volume volume = target.volume();
        BlockMap map = blocks;
        if (volume == null || map == null || !cut) {
            return;
        }
        object.retain();
        boolean taken = volume.execute(() -> {
            object.dropBlocks(map);
            object.release();
        });
        if (!taken) {
            object.release();
        }
    }

    @Override
    public boolean isFailed() {
        return failed || target.ticket().isInvalidated();
    }

    @Override
    public StoredObject<H> object() {
        return object.retain();
    }
}
