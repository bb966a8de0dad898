package io.millrace.store.engine.object;

import io.millrace.store.CorruptHeadException;
import io.millrace.store.HeadCodec;
import io.millrace.store.StoreKey;
import io.millrace.store.memory.RamTier;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stores the heads of RAM objects in encoded form until their first use. A head is the caller's metadata of an object,
 * which the store does not interpret.
 *
 * <p>An encoded head is stored behind the body, off the heap. The first request decodes it, and it then stays decoded.
 * Objects that are never requested again therefore cost the garbage collector little.
 *
 * <pre>
 *   buffer  | body ... | head, as the codec encodes it |
 *           0          writer index
 * </pre>
 *
 * <p>A head is stored decoded if the buffer has no room for the encoded bytes, or if the head was already used in
 * decoded form.
 *
 * <p>Thread-safe; never blocks.
 *
 * @param <H> the decoded head
 */
public final class EncodedHeads<H> {
    private static final Logger LOG = LoggerFactory.getLogger(EncodedHeads.class);

    private final HeadCodec<H> codec;
    private final RamTier<ResidentObject<H>> ram;
    private final long bodyBytesMax;
    private final AtomicLong failures = new AtomicLong();

    /**
     * Creates the head storage of one RAM tier.
     *
     * @param bodyBytesMax longest body that the tier accepts
     */
    public EncodedHeads(HeadCodec<H> codec, RamTier<ResidentObject<H>> ram, long bodyBytesMax) {
        this.codec = codec;
        this.ram = ram;
        this.bodyBytesMax = bodyBytesMax;
    }

    /** Returns the length of the encoded head in bytes, or 0 if the tier keeps the head decoded. */
    public int length(H head, long bodyLength) {
        if (!ram.isEnabled() || bodyLength > bodyBytesMax) {
            return 0;
        }
        int length = codec.encodedLength(head);
        return length > HeadCodec.LENGTH_MAX ? 0 : length;
    }

    /**
     * Creates a RAM object. Encodes the head if the buffer has room for it after the body. Takes ownership of the body.
     */
    public ResidentObject<H> object(StoreKey key, H head, ByteBuf body, ObjectPlace place) {
        int length = length(head, body.writerIndex());
        boolean encoded = length > 0 && length <= body.capacity() - body.writerIndex() && encode(head, body, length);
        return encoded
                ? new ResidentObject<>(key, length, body, place)
                : new ResidentObject<>(key, head, codec.heapBytes(head), body, place);
    }

    private boolean encode(H head, ByteBuf body, int length) {
        ByteBuf out = body.slice(body.writerIndex(), length).setIndex(0, 0);
        try {
            codec.encode(head, out);
            return out.writerIndex() == length;
        } catch (RuntimeException e) {
            // If the object has a volume, the volume reports this error. RAM keeps the decoded head.
            LOG.debug("head of {} bytes cannot be encoded", length, e);
            return false;
        }
    }

    /**
     * Decodes the object's head if it is not decoded yet. Returns false if the head cannot be decoded.
     *
     * <p>After a failure the object is removed from RAM, unless it is a copy (see {@link RamTier#copy}), and the caller
     * treats it as absent. The caller holds a reference to the object, or an epoch-based read protects it.
     */
    public boolean ensureDecoded(ResidentObject<H> object) {
        return object.isDecoded() || decode(object);
    }

    /** Decodes the head. Two threads may decode it concurrently; the first result is kept. */
    private boolean decode(ResidentObject<H> object) {
        ByteBuf bytes = object.encodedHead();
        try {
            if (bytes == null) {
                throw new CorruptHeadException("the encoded head is missing");
            }
            H head = codec.decode(bytes);
            if (object.setDecoded(head)) {
                ram.addHeapBytes(object, codec.heapBytes(head));
            }
            return true;
        } catch (CorruptHeadException | RuntimeException e) {
            boolean removed = ram.remove(object);
            long count = failures.incrementAndGet();
            if (Long.bitCount(count) == 1) {
                LOG.warn(
                        "{}: the head in RAM cannot be decoded, so the object {} (occurrences: {})",
                        object.key(),
                        removed ? "was removed from RAM" : "is not used",
                        count,
                        e);
            }
            return false;
        }
    }
}
