package io.millrace.store.engine.object;

import io.millrace.store.CorruptHeadException;
import io.millrace.store.HeadCodec;
import io.millrace.store.StoreKey;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.KeepTimes;
import io.millrace.store.disk.record.RecordAppendCallback;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;

/**
 * Encodes heads (the callers' metadata of objects) and appends objects to a volume.
 *
 * <p>Thread-safe; each call runs on the thread of its volume.
 */
public final class ObjectAppender<H> {
    private static final int HEAD_BYTES_EXPECTED = 512;

    private final HeadCodec<H> codec;
    private final ByteBufAllocator allocator;

    /** Creates an appender that encodes heads into buffers of the allocator. */
    public ObjectAppender(HeadCodec<H> codec, ByteBufAllocator allocator) {
        this.codec = codec;
        this.allocator = allocator;
    }

    /** Returns the key's bytes and hashes as a {@link DiskKey}, the key type of volumes. */
    public static DiskKey diskKey(StoreKey key) {
        return new DiskKey(key.bytes(), key.hashHigh(), key.hashLow());
    }

    /** Appends an object as one COMPLETE record, with head and body; {@code callback} receives the result. */
    public void complete(Volume volume, ResidentObject<H> object, H head, RecordAppendCallback callback) {
        DiskKey key = object.diskKey();
        ByteBuf bytes;
        try {
            ByteBuf storedEncoded = object.encodedHead();
            bytes = storedEncoded == null ? encode(head) : storedEncoded.retain();
        } catch (IOException e) {
            volume.forget(key);
            callback.appended(e);
            return;
        }
        try {
            volume.appendComplete(key, object.objectId(), times(head), bytes, object.content(), callback);
        } finally {
            bytes.release();
        }
    }

    /** Appends the head of an object whose body is already on the volume. */
    public void head(Volume volume, StoreObject<H> object, H head, BodyPlace body) throws IOException {
        ByteBuf encoded = encode(head);
        try {
            volume.appendHead(diskKey(object.key()), object.objectId(), times(head), encoded, body);
        } finally {
            encoded.release();
        }
    }

    private ByteBuf encode(H head) throws IOException {
        ByteBuf out = allocator.directBuffer(HEAD_BYTES_EXPECTED);
        boolean kept = false;
        try {
            codec.encode(head, out);
            if (out.readableBytes() > HeadCodec.LENGTH_MAX) {
                throw new CorruptHeadException(
                        "head of " + out.readableBytes() + " bytes, limit=" + HeadCodec.LENGTH_MAX);
            }
            kept = true;
            return out;
        } catch (RuntimeException e) {
            throw new IOException("head cannot be encoded", e);
        } finally {
            if (!kept) {
                out.release();
            }
        }
    }

    private KeepTimes times(H head) {
        return KeepTimes.of(codec.expiresAtSeconds(head), codec.pinnedUntilSeconds(head));
    }
}
