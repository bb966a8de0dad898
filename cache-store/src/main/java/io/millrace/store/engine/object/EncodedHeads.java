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
 * The heads of objects in RAM in encoded form. An encoded head is stored after the body, off the heap. It is decoded at
 * the first request and then stays decoded. Objects without further requests cost the garbage collector little.
 *
 * <pre>
 *   buffer  | body ... | head, as the codec encodes it |
 *           0          writer index
 * </pre>
 *
 * <p>A head is stored decoded if the buffer has no room for the bytes or if the head was already used in decoded form.
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
     * Creates the heads of one tier.
     *
     * @param bodyBytesMax longest body that the tier accepts
     */
    public EncodedHeads(HeadCodec<H> codec, RamTier<ResidentObject<H>> ram, long bodyBytesMax) {
        this.codec = codec;
        this.ram = ram;
        this.bodyBytesMax = bodyBytesMax;
    }

    /** Returns the bytes that the encoded head needs after a body of that length; 0 if the head is kept decoded. */
    public int length(H head, long bodyLength) {
        if (!ram.isEnabled() || bodyLength > bodyBytesMax) {
            return 0;
        }
        int length = codec.encodedLength(head);
        return length > HeadCodec.LENGTH_MAX ? 0 : length;
    }

    /**
     * Creates an object with that head, encoded if there is room after the body. Takes over the body like
     * {@link ResidentObject}.
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
            // The volume reports this error if there is one; RAM keeps the decoded head.
            LOG.debug("head of {} bytes cannot be encoded", length, e);
            return false;
        }
    }

    /**
     * Ensures that the object's head is decoded. The caller holds a reference or is in a read section. Returns false if
     * the head cannot be decoded: the object was then removed from RAM, and counts as absent.
     */
    public boolean isDecoded(ResidentObject<H> object) {
        return object.isDecoded() || decode(object);
    }

    /** Decodes the head. Two threads may do so concurrently; the first result is kept. */
    private boolean decode(ResidentObject<H> object) {
        ByteBuf bytes = object.encodedHead();
        try {
            if (bytes == null) {
                throw new CorruptHeadException("the encoded head is missing");
            }
            H head = codec.decode(bytes);
            if (object.decoded(head)) {
                ram.grew(object, codec.heapBytes(head));
            }
            return true;
        } catch (CorruptHeadException | RuntimeException e) {
            ram.remove(object);
            long count = failures.incrementAndGet();
            if (Long.bitCount(count) == 1) {
                LOG.warn(
                        "{}: the head in RAM cannot be decoded, so the object was removed from RAM (occurrences: {})",
                        object.key(),
                        count,
                        e);
            }
            return false;
        }
    }
}
