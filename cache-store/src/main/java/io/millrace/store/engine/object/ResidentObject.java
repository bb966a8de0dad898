package io.millrace.store.engine.object;

import io.millrace.store.RangeCallback;
import io.millrace.store.ReadCallback;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.index.Location;
import io.millrace.store.memory.EntryFactory;
import io.millrace.store.memory.RamEntry;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * An object whose whole body is in one buffer in RAM. It is in the RAM tier, not yet in it, or already evicted.
 *
 * <p>Its head is decoded, or stored in encoded form after the body. {@link EncodedHeads} decodes it before the object
 * is returned to a caller.
 *
 * <p>The RAM tier keeps an object that was not requested in compact form, without an instance, and creates an instance
 * at the first request. An instance stores its values in its own fields and not in further objects, so that the garbage
 * collector processes few objects.
 *
 * <p>Thread-safe.
 */
public final class ResidentObject<H> extends RamEntry implements StoreObject<H> {
    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<ResidentObject, Object> HEAD =
            AtomicReferenceFieldUpdater.newUpdater(ResidentObject.class, Object.class, "head");

    private final long hashHigh;
    private final long objectId;
    private final int volume;
    /** Place on disk from which the object was read; null if it was not read from disk. */
    private final @Nullable ObjectPlace diskPlace;
    /** Bytes of the encoded head after the body; 0 if there is none. */
    private final int headLength;
    /** The decoded head; null until it is decoded. */
    private volatile @Nullable H head;

    /** Takes ownership of the body, whose readable bytes start at 0; the caller holds the first reference. */
    public ResidentObject(StoreKey key, H head, int headBytes, ByteBuf body, ObjectPlace place) {
        super(key.bytes(), key.hashLow(), body, headBytes);
        this.head = head;
        headLength = 0;
        hashHigh = key.hashHigh();
        objectId = place.objectId();
        volume = place.volume();
        diskPlace = place.isUnwritten() ? null : place;
    }

    /**
     * Like the other constructor, but with an encoded head.
     *
     * @param headLength bytes of the head, after the readable bytes of the body
     */
    public ResidentObject(StoreKey key, int headLength, ByteBuf body, ObjectPlace place) {
        super(key.bytes(), key.hashLow(), body, 0);
        this.headLength = headLength;
        hashHigh = key.hashHigh();
        objectId = place.objectId();
        volume = place.volume();
        diskPlace = place.isUnwritten() ? null : place;
    }

    /** Creates an object from the data that {@link #writeDetails} has written; see {@link EntryFactory}. */
    public ResidentObject(byte[] keyBytes, long hashHigh, long hashLow, ByteBuf body, int headLength, ByteBuf details) {
        super(keyBytes, hashLow, body, 0);
        this.hashHigh = hashHigh;
        this.headLength = headLength;
        objectId = details.getLong(0);
        volume = details.getInt(Long.BYTES);
        diskPlace = null;
    }

    @Override
    protected int bytesAfterBody() {
        return head == null && diskPlace == null && headLength > 0 ? headLength : -1;
    }

    @Override
    protected void writeDetails(ByteBuf out) {
        out.writeLong(objectId);
        out.writeInt(volume);
    }

    @Override
    public ResidentObject<H> withHead(H newHead, int headBytes) {
        ObjectPlace place = diskPlace != null ? diskPlace : ObjectPlace.unwritten(objectId, volume);
        return new ResidentObject<>(key(), newHead, headBytes, body().retain(), place);
    }

    @Override
    public long location() {
        return diskPlace == null ? Location.NONE : diskPlace.location();
    }

    /** Returns the body; borrowed. */
    ByteBuf content() {
        return body();
    }

    /** Returns the key; creates a new instance at each call. */
    @Override
    public StoreKey key() {
        return new StoreKey(keyBytes(), hashHigh, hashLow());
    }

    @Override
    public long hashHigh() {
        return hashHigh;
    }

    /** Returns the key as a {@link DiskKey}, the key type of volumes; a new instance at each call. */
    DiskKey diskKey() {
        return new DiskKey(keyBytes(), hashHigh, hashLow());
    }

    /** Returns true if {@link #head} may be called. */
    boolean isDecoded() {
        return head != null;
    }

    /**
     * Returns the encoded head, borrowed; null if the object was created with a decoded head. The caller holds a
     * reference or is in a read section (epoch-based reclamation).
     */
    @Nullable
    ByteBuf encodedHead() {
        return headLength == 0 ? null : body().slice(body().writerIndex(), headLength);
    }

    /** Sets the decoded head; false if another thread has set it already. */
    boolean setDecoded(H decoded) {
        return HEAD.compareAndSet(this, null, decoded);
    }

    @Override
    public H head() {
        H decodedHead = head;
        if (decodedHead == null) {
            throw new IllegalStateException("the object was opened with a head that cannot be decoded: " + key());
        }
        return decodedHead;
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
        return diskPlace == null ? 0 : diskPlace.sequence();
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
                    replyOn,
                    reply,
                    new IOException("read at byte " + position + " of a body of " + length() + " bytes"));
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
        return objectId;
    }

    @Override
    public int volume() {
        return volume;
    }
}
