package io.millrace.store.engine;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.engine.filling.FillTarget;
import io.millrace.store.engine.filling.FillingBody;
import io.millrace.store.engine.filling.FillingObject;
import io.millrace.store.engine.object.EncodedHeads;
import io.millrace.store.engine.object.ObjectPlace;
import io.millrace.store.engine.object.Replies;
import io.millrace.store.engine.object.ResidentObject;
import io.millrace.store.memory.MemoryBudget;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.BitSet;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The writer of an object: collects content in blocks and queues full blocks.
 *
 * <p>The volume's thread appends the queued blocks to the log. The head record follows when the writer ends, or earlier
 * for a partial object. A new body of at most one block stays in RAM until it is complete; body and head then become
 * one record.
 *
 * <p>An <em>extension</em> is a writer that adds missing blocks to an existing object. Each fill (an object being
 * written) has a ticket in {@code FillRegister}, which shows whether its key was removed or changed in the meantime.
 *
 * <p>Confined to one thread, except {@link #isWritable}, {@link #isFailed} and the tasks on the volume's thread.
 * Several writers may fill one body; the body's lock protects the state that they share.
 */
final class FillWriter<H> implements ObjectWriter<H> {
    /**
     * Maximum number of unfinished blocks per writer, which fails beyond that. Each unfinished block has a buffer.
     * Without a limit, a body that is written in scattered ranges could use much memory.
     */
    private static final int OPEN_BLOCKS_MAX = 8;
    /**
     * Maximum number of blocks between two head records of a partial object. After kill -9 the later blocks are lost.
     */
    private static final int RECORD_INTERVAL_BLOCKS = 64;

    private final ObjectChanges<H> changes;
    private final FillTarget target;
    private final FillingObject<H> object;
    private final FillingBody<H> body;
    /** True for a writer that adds blocks to an existing object. Such a writer does not set the head. */
    private final boolean extension;

    /** Bytes of blocks that wait for the volume's thread. */
    private final AtomicLong pendingBytes = new AtomicLong();
    /** The callback that waits until the writer is writable; null if there is none. */
    private final AtomicReference<@Nullable Waiter> waiter = new AtomicReference<>();
    /** Blocks that an extension passed to the volume's thread; {@link #abort} removes them. */
    private final BitSet submitted = new BitSet();

    private volatile boolean failed;
    private boolean ended;
    private boolean partialAllowed;
    /** True if the partial object is already stored under the key. */
    private boolean partialPublished;

    /**
     * Number of blocks passed to the volume's thread. It determines when the head record of a partial object is
     * written.
     */
    private int submittedCount;
    /**
     * True if the volume's policy did not admit the object. The policy is asked only about bodies of more than one
     * block.
     */
    private boolean refused;

    private record Waiter(Executor replyOn, Runnable callback) {}

    /** Creates a writer of the object, and takes over one reference to the object. */
    FillWriter(ObjectChanges<H> changes, FillTarget target, FillingObject<H> object, boolean extension) {
        this.changes = changes;
        this.target = target;
        this.object = object;
        this.body = object.body();
        this.extension = extension;
        this.failed = target.isRefused();
        body.begin(this);
    }

    @Override
    public void head(H newHead, long newLength) {
        if (extension) {
            throw new IllegalStateException(
                    "head() must not be called when an object is extended, because it already has a head: "
                            + object.key());
        }
        body.head(newHead, newLength, changes.encodedHeads().length(newHead, newLength));
        if (newLength > target.bodyBytesMax()) {
            fail();
        } else if (newLength > target.blockBytes()) {
            switchToBlocks();
        }
    }

    @Override
    public long bytesMax(double share) {
        Volume volume = target.volume();
        long most = Math.max(0, target.bodyBytesMax());
        return volume == null ? most : Math.min(most, (long) (share * volume.bytesMax()));
    }

    @Override
    public void length(long length) {
        if (ended || isFailed()) {
            return;
        }
        if (length > target.bodyBytesMax() || !body.setLength(length)) {
            fail();
        } else {
            flushLast(length);
            finishIfWhole();
        }
    }

    @Override
    public void allowPartial() {
        partialAllowed = !extension;
    }

    @Override
    public @Nullable Claim claim(long position, long length) {
        return ended || isFailed() ? null : body.claim(this, position, length, target.bodyBytesMax());
    }

    @Override
    public void write(long position, ByteBuf content) {
        try {
            int count = content.readableBytes();
            if (count == 0 || isFailed() || ended) {
                return;
            }
            long end = position + count;
            long length = body.length();
            if (position < 0 || end < 0 || end > target.bodyBytesMax() || (length >= 0 && end > length)) {
                fail();
                return;
            }
            copy(position, content, count);
        } finally {
            content.release();
        }
        body.notifyWaiters();
        finishIfWhole();
    }

    private void copy(long position, ByteBuf content, int count) {
        int blockBytes = target.blockBytes();
        int done = 0;
        while (done < count) {
            int block = (int) ((position + done) / blockBytes);
            int from = (int) ((position + done) % blockBytes);
            int part = Math.min(count - done, blockBytes - from);
            if (block > 0) {
                switchToBlocks();
                if (refused) {
                    return;
                }
            }
            int covered = body.copy(this, block, from, content, content.readerIndex() + done, part);
            if (covered == FillingBody.NO_MEMORY) {
                fail();
                return;
            }
            if (body.isInBlocks()) {
                flushIfCovered(block, covered);
            }
            done += part;
        }
        if (body.blocksOpen(this) > OPEN_BLOCKS_MAX || isOverrun()) {
            fail();
        }
    }

    /**
     * Switches the body to storage in blocks. Block 0 can then be written before the end of the body. First asks the
     * volume's admission policy about a new object. If the policy refuses, the writer fails before any block is
     * written.
     */
    private void switchToBlocks() {
        if (!extension && !refused && !body.isInBlocks() && !changes.isAdmitted(target, object.volume(), body.head())) {
            refused = true;
            fail();
        }
        if (!refused && body.switchToBlocks()) {
            flushIfCovered(0, body.covered(0));
        }
    }

    /**
     * Returns true if far too many bytes wait for the disk. This happens only if the caller ignores {@link
     * #isWritable}.
     */
    private boolean isOverrun() {
        Volume volume = target.volume();
        long limit = Math.max(4L * changes.config().writeWindowBytes(), 8L * target.blockBytes());
        return pendingBytes.get() > limit
                || (volume != null
                        && volume.queuedBytes() > 2 * changes.config().writeQueueBytesMax());
    }

    private void flushIfCovered(int block, int covered) {
        if (covered > 0 && covered == body.blockLength(block)) {
            flush(block, covered);
        }
    }

    /**
     * Queues the last block of the body if all its bytes are present. The last block may be shorter than the others, so
     * it can be recognized only when the length of the body is known.
     */
    private void flushLast(long length) {
        if (length > 0 && body.isInBlocks()) {
            int last = (int) ((length - 1) / target.blockBytes());
            flushIfCovered(last, body.covered(last));
        }
    }

    private void flush(int block, int count) {
        ByteBuf content = body.submit(block, count);
        if (content == null) {
            // Another writer has already submitted the block.
            return;
        }
        Volume volume = target.volume();
        if (volume == null) {
            content.release();
            body.markMissing(block);
            fail();
            return;
        }
        if (extension) {
            submitted.set(block);
        }
        object.retain();
        pendingBytes.addAndGet(count);
        volume.addQueuedBytes(count);
        if (!volume.execute(() -> append(volume, block, content))) {
            body.markMissing(block);
            written(volume, content);
            fail();
            return;
        }
        submittedCount++;
        if ((extension || partialAllowed) && isTimeToRecord(submittedCount)) {
            recordPartial();
        }
    }

    private static boolean isTimeToRecord(int count) {
        return count % RECORD_INTERVAL_BLOCKS == 0 || (count < RECORD_INTERVAL_BLOCKS && Integer.bitCount(count) == 1);
    }

    private void recordPartial() {
        if (extension || partialPublished) {
            changes.partials().refreshHead(target, object);
        } else {
            partialPublished = changes.partials().publishPartial(target, object);
        }
    }

    /** Appends a block to the log. Runs on the volume's thread. */
    private void append(Volume volume, int block, ByteBuf content) {
        boolean stored = false;
        try {
            if (!failed && !body.isAborted()) {
                long keyHash = target.key().hashLow();
                long pinnedUntil = changes.pinnedUntil(body.head());
                body.onDisk(block, volume.appendBlock(keyHash, object.objectId(), block, pinnedUntil, content));
                stored = true;
            }
        } catch (IOException e) {
            fail();
        } finally {
            if (!stored) {
                body.markMissing(block);
            }
            written(volume, content);
        }
    }

    private void written(Volume volume, ByteBuf content) {
        int count = content.readableBytes();
        content.release();
        volume.subtractQueuedBytes(count);
        pendingBytes.addAndGet(-count);
        object.release();
        if (isWritable()) {
            wake();
        }
    }

    /**
     * Marks the stored object as complete when all its blocks are on disk or queued. Any writer of the object may have
     * added the last block.
     */
    private void finishIfWhole() {
        if (body.ticket().isStored() && !isFailed() && body.completeIfAllSubmitted()) {
            changes.partials().refreshHead(target, object);
            changes.counters().writesCompleted.increment();
        }
    }

    @Override
    public boolean isWritable() {
        long pending = pendingBytes.get();
        Volume volume = target.volume();
        // A writer without pending bytes is always writable, because no completed write would call its waiter.
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
        if (extension) {
            length(finalLength);
            keep();
            return;
        }
        if (ended) {
            return;
        }
        ended = true;
        H known = body.head();
        long length = body.length();
        boolean isLengthValid = finalLength >= 0 && finalLength <= target.bodyBytesMax();
        boolean stored = false;
        if (isLengthValid
                && known != null
                && !isFailed()
                && (length < 0 || length == finalLength)
                && body.covers(finalLength)) {
            stored = body.isInBlocks() ? completeInBlocks(known, finalLength) : completeInOne(known, (int) finalLength);
        }
        if (stored) {
            changes.counters().writesCompleted.increment();
        } else {
            giveUp();
            if (!refused) {
                changes.counters().writesFailed.increment();
            }
        }
        end();
    }

    @Override
    public void expectUnchanged() {
        if (extension) {
            throw new IllegalStateException("expectUnchanged() is only for new objects, not for: " + object.key());
        }
        changes.expectUnchanged(target);
    }

    @Override
    public boolean isOvertaken() {
        return !extension && target.ticket().isOvertaken();
    }

    private boolean completeInOne(H known, int finalLength) {
        EncodedHeads<H> heads = changes.encodedHeads();
        ByteBuf content = body.singleBody(finalLength, heads.length(known, finalLength));
        ObjectPlace place = ObjectPlace.unwritten(object.objectId(), object.volume());
        ResidentObject<H> resident = heads.object(object.key(), known, content, place);
        boolean stored = changes.publishResident(target, resident, known);
        if (stored) {
            body.complete(finalLength);
        }
        resident.release();
        return stored;
    }

    private boolean completeInBlocks(H known, long finalLength) {
        if (!body.setLength(finalLength)) {
            return false;
        }
        flushLast(finalLength);
        body.complete(finalLength);
        boolean stored = !failed
                && publish(known, volume -> {
                    BodyPlace place = body.place();
                    if (failed || place == null || !place.isWhole()) {
                        throw new IOException("a block could not be written");
                    }
                    return place;
                });
        if (!stored) {
            body.revoke();
        }
        return stored;
    }

    /**
     * A function that returns the place of the body on disk. It runs on the volume's thread, after the queued blocks.
     */
    private interface PlaceOf {
        BodyPlace on(Volume volume) throws IOException;
    }

    private boolean publish(H known, PlaceOf place) {
        FillingObject<H> published = object.withHead(known, 0);
        try {
            return changes.publishInBlocks(
                    target, published, volume -> changes.appender().head(volume, object, known, place.on(volume)));
        } finally {
            published.release();
        }
    }

    @Override
    public void keep() {
        if (ended) {
            return;
        }
        H known = body.head();
        if (body.covered(0) == target.blockBytes() && !isFailed()) {
            switchToBlocks();
        }
        if (extension) {
            ended = true;
            if (isFailed()) {
                changes.counters().writesFailed.increment();
            }
            changes.partials().refreshHead(target, object);
            end();
        } else if (isFailed() || known == null || body.wholeBlocks() == 0) {
            abort();
        } else {
            ended = true;
            if (!keepNew(known)) {
                giveUp();
                changes.counters().writesFailed.increment();
            }
            end();
        }
    }

    private boolean keepNew(H known) {
        if (partialPublished && !body.ticket().isReplaced()) {
            body.ticket().markStored();
            finishIfWhole();
            return changes.partials().refreshHead(target, object);
        }
        return publish(known, volume -> {
            BodyPlace place = body.place();
            if (place == null) {
                throw new IOException("no block could be written");
            }
            return place;
        });
    }

    @Override
    public void abort() {
        if (ended) {
            return;
        }
        ended = true;
        if (extension) {
            failed = true;
            body.forgetOpen(this);
            changes.partials().removeBlocks(target, object, (BitSet) submitted.clone());
        } else {
            giveUp();
        }
        end();
    }

    private void giveUp() {
        fail();
        if (target.volume() != null && body.isInBlocks()) {
            changes.partials().withdraw(target, object, partialPublished);
        }
    }

    private void end() {
        body.end(this);
        object.release();
    }

    /** Fails the writer: it discards all further content. */
    void fail() {
        failed = true;
        if (!extension) {
            body.abort();
        }
        wake();
    }

    @Override
    public boolean isFailed() {
        return failed || body.isAborted() || target.ticket().isInvalidated();
    }

    @Override
    public StoredObject<H> object() {
        return object.retain();
    }
}
