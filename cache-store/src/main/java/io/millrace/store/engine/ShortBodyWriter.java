package io.millrace.store.engine;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.Volume;
import io.millrace.store.engine.filling.FillTarget;
import io.millrace.store.engine.object.ObjectPlace;
import io.millrace.store.engine.object.Replies;
import io.millrace.store.engine.object.ResidentObject;
import io.millrace.store.memory.CountingAllocator;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The writer of a new object, for short bodies that arrive in order.
 *
 * <p>The content goes to one buffer, which has room for the encoded head and is the object's final place in RAM. So a
 * short object needs neither blocks, nor claims (promises to fill blocks), nor readers that wait. The ticket of the
 * object (its entry in {@code FillRegister}) shows whether the key was removed or changed in the meantime.
 *
 * <p>A {@link FillWriter} takes over as soon as a caller needs blocks, claims or waiting readers, or if the body is
 * long or its length is unknown. It receives the content written so far.
 *
 * <p>Confined to one thread, except {@link #isWritable} and {@link #isFailed}. Owns the buffer until the object is
 * complete.
 */
final class ShortBodyWriter<H> implements ObjectWriter<H> {
    private final WriterFactory<H> factory;
    private final ObjectChanges<H> changes;
    private final CountingAllocator allocator;
    private final FillTarget target;
    private final ObjectPlace place;

    private @Nullable H head;
    /** Length of the body in bytes; -1 before {@link #head}. */
    private int length = -1;
    /** Content written so far; null before the first write. */
    private @Nullable ByteBuf body;

    private boolean ended;
    private volatile boolean failed;
    /** The writer that has taken over; null for none. */
    private volatile @Nullable FillWriter<H> successor;

    ShortBodyWriter(
            WriterFactory<H> factory,
            ObjectChanges<H> changes,
            CountingAllocator allocator,
            FillTarget target,
            ObjectPlace place) {
        this.factory = factory;
        this.changes = changes;
        this.allocator = allocator;
        this.target = target;
        this.place = place;
        failed = target.isRefused();
    }

    /** Returns the writer that takes over, with the content written so far. */
    private FillWriter<H> handOver() {
        FillWriter<H> writer = successor;
        if (writer != null) {
            return writer;
        }
        if (ended) {
            throw new IllegalStateException("the writer has ended: " + target.key());
        }
        writer = factory.fill(target, place);
        H knownHead = head;
        if (knownHead != null) {
            writer.head(knownHead, length);
        }
        ByteBuf content = body;
        body = null;
        if (content != null) {
            writer.write(0, content);
        }
        if (failed) {
            writer.fail();
        }
        successor = writer;
        return writer;
    }

    @Override
    public void head(H newHead, long newLength) {
        FillWriter<H> writer = successor;
        if (writer == null && isShort(newLength)) {
            head = newHead;
            length = (int) newLength;
        } else {
            handOver().head(newHead, newLength);
        }
    }

    /**
     * Returns true if the body is short, is accepted, and has less than one block. A body of at least one block can be
     * kept in part by {@link #keep}, so it needs a {@link FillWriter}.
     */
    private boolean isShort(long bodyLength) {
        return bodyLength >= 0
                && bodyLength <= SHORT_BODY_BYTES_MAX
                && bodyLength < target.blockBytes()
                && bodyLength <= target.bodyBytesMax();
    }

    @Override
    public long bytesMax(double share) {
        Volume volume = target.volume();
        long most = Math.max(0, target.bodyBytesMax());
        return volume == null ? most : Math.min(most, (long) (share * volume.bytesMax()));
    }

    @Override
    public void length(long newLength) {
        if (successor != null || (!ended && newLength != length)) {
            handOver().length(newLength);
        }
    }

    @Override
    public void allowPartial() {
        if (successor != null || !ended) {
            handOver().allowPartial();
        }
    }

    @Override
    public @Nullable Claim claim(long position, long count) {
        return successor == null && ended ? null : handOver().claim(position, count);
    }

    @Override
    public void write(long position, ByteBuf content) {
        FillWriter<H> writer = successor;
        int written = body == null ? 0 : body.writerIndex();
        if (writer != null || (!ended && !isFailed() && (length < 0 || position != written))) {
            handOver().write(position, content);
            return;
        }
        try {
            int count = content.readableBytes();
            if (count > 0 && !ended && !isFailed()) {
                append(content, count);
            }
        } finally {
            content.release();
        }
    }

    private void append(ByteBuf content, int count) {
        ByteBuf buffer = body;
        if (count > length - (buffer == null ? 0 : buffer.writerIndex())) {
            fail();
            return;
        }
        if (buffer == null) {
            buffer = allocator.tryEntryBuffer(capacity());
            if (buffer == null) {
                fail();
                return;
            }
            body = buffer;
        }
        buffer.writeBytes(content, content.readerIndex(), count);
    }

    /** Returns the bytes of the body, the encoded head and the key. */
    private int capacity() {
        H knownHead = head;
        int headLength = knownHead == null ? 0 : changes.encodedHeads().length(knownHead, length);
        return length + headLength + (headLength == 0 ? 0 : target.key().length());
    }

    @Override
    public boolean isWritable() {
        FillWriter<H> writer = successor;
        // No byte waits for the disk before the object is complete.
        return writer == null || writer.isWritable();
    }

    @Override
    public void onWritable(Executor replyOn, Runnable callback) {
        FillWriter<H> writer = successor;
        if (writer == null) {
            Replies.deliver(replyOn, callback);
        } else {
            writer.onWritable(replyOn, callback);
        }
    }

    @Override
    public void complete(long finalLength) {
        FillWriter<H> writer = successor;
        if (writer != null) {
            writer.complete(finalLength);
            return;
        }
        if (ended) {
            return;
        }
        ended = true;
        H knownHead = head;
        int written = body == null ? 0 : body.writerIndex();
        boolean whole = knownHead != null && finalLength == length && written == length;
        boolean stored = false;
        try {
            stored = knownHead != null && whole && !isFailed() && store(knownHead);
        } finally {
            if (stored) {
                changes.counters().writesCompleted.increment();
            } else {
                fail();
                changes.counters().writesFailed.increment();
            }
            end();
        }
    }

    private boolean store(H knownHead) {
        ByteBuf content = body == null ? bufferOfEmptyBody() : body;
        body = content;
        ResidentObject<H> object = changes.encodedHeads().object(target.key(), knownHead, content, place);
        body = null;
        try {
            return changes.publishResident(target, object, knownHead);
        } finally {
            object.release();
        }
    }

    /** Returns a buffer for the head of an empty body, which is stored even if the budget has no space for bodies. */
    private ByteBuf bufferOfEmptyBody() {
        int capacity = Math.max(1, capacity());
        ByteBuf content = allocator.tryEntryBuffer(capacity);
        return content == null ? allocator.directBuffer(capacity) : content;
    }

    @Override
    public void expectUnchanged() {
        changes.expectUnchanged(target);
    }

    @Override
    public boolean isOvertaken() {
        return target.ticket().isOvertaken();
    }

    /** Ends the writer without storing: a short body has no whole block that could be kept. */
    @Override
    public void keep() {
        FillWriter<H> writer = successor;
        if (writer == null) {
            abort();
        } else {
            writer.keep();
        }
    }

    @Override
    public void abort() {
        FillWriter<H> writer = successor;
        if (writer != null) {
            writer.abort();
        } else if (!ended) {
            ended = true;
            fail();
            end();
        }
    }

    private void fail() {
        failed = true;
        ByteBuf content = body;
        body = null;
        if (content != null) {
            content.release();
        }
    }

    private void end() {
        changes.fills().end(target.key(), target.ticket());
    }

    @Override
    public boolean isFailed() {
        FillWriter<H> writer = successor;
        return writer == null ? failed || target.ticket().isInvalidated() : writer.isFailed();
    }

    @Override
    public StoredObject<H> object() {
        return handOver().object();
    }
}
