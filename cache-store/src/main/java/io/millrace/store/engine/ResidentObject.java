package io.millrace.store.engine;

import io.millrace.store.RangeCallback;
import io.millrace.store.ReadCallback;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.memory.RamEntry;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * An object whose whole body is in one buffer in RAM, in the RAM tier or on its way in or out of it.
 *
 * <p>Thread-safe.
 */
final class ResidentObject<H> extends RamEntry implements StoreObject<H> {
    private final StoreKey key;
    private final H head;
    private final ObjectPlace place;

    /** Takes ownership of the body, whose readable bytes start at 0; the caller holds the first reference. */
    ResidentObject(StoreKey key, H head, int headBytes, ByteBuf body, ObjectPlace place) {
        super(key.bytes(), key.hashLow(), body, headBytes);
        this.key = key;
        this.head = head;
        this.place = place;
    }

    @Override
    public ResidentObject<H> withHead(H newHead, int headBytes) {
        return new ResidentObject<>(key, newHead, headBytes, body().retain(), place);
    }

    @Override
    public long location() {
        return place.location();
    }

    /** The body; borrowed. */
    ByteBuf content() {
        return body();
    }

    @Override
    public StoreKey key() {
        return key;
    }

    @Override
    public H head() {
        return head;
    }

    @Override
    public long length() {
        return body().writerIndex();
    }

    @Override
    public boolean isComplete() {
        return true;
    }

    @Override
    public boolean hasRange(long position, long length) {
        return position >= 0 && length >= 0 && length <= length() - position;
    }

    @Override
    public void onRange(long position, long count, Executor replyOn, RangeCallback reply) {
        long end = Math.min(length(), position >= 0 && count <= length() - position ? position + count : length());
        Replies.range(replyOn, reply, hasRange(position, end - position));
    }

    @Override
    public long sequence() {
        return place.sequence();
    }

    @Override
    public @Nullable ByteBuf residentBody() {
        return body();
    }

    @Override
    public @Nullable ByteBuf residentPart(long position, int length) {
        if (position < 0 || position >= length() || length <= 0) {
            return null;
        }
        return body().retainedSlice((int) position, (int) Math.min(length, length() - position));
    }

    @Override
    public void read(long position, int length, Executor replyOn, ReadCallback reply) {
        if (position < 0 || position >= length() || length <= 0) {
            Replies.failed(
                    replyOn, reply, new IOException("read at " + position + " of a body of " + length() + " bytes"));
            return;
        }
        int count = (int) Math.min(Math.min(length, READ_LENGTH_MAX), length() - position);
        Replies.content(replyOn, reply, body().retainedSlice((int) position, count));
    }

    @Override
    public StoredObject<H> retain() {
        retainEntry();
        return this;
    }

    @Override
    public boolean release() {
        return releaseEntry();
    }

    @Override
    public long objectId() {
        return place.objectId();
    }

    @Override
    public int volume() {
        return place.volume();
    }
}
