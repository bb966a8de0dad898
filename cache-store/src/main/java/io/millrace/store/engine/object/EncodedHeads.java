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
 * Heads of objects in RAM: bytes behind the body, outside of the heap, from when the object is stored; decoded when it is first asked
 * for, and kept so from then on. What is never asked for again costs the collector little.
 *
 * <pre>
 *   buffer  | body ... | head, as the codec encodes it |
 *           0          writer index
 * </pre>
 *
 * Objects whose buffer has no room for it, and those that came with a head that somebody has asked for, have it decoded from the start.
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
     * For objects of one tier.
     *
     * @param bodyBytesMax longest body that it takes
     */
    public EncodedHeads(HeadCodec<H> codec, RamTier<ResidentObject<H>> ram, long bodyBytesMax) {
        this.codec = codec;
        this.ram = ram;
        this.bodyBytesMax = bodyBytesMax;
    }

    /** Bytes that the head wants behind a body of that length; 0 when it will not be there. */
    public int length(H head, long bodyLength) {
        if (!ram.isEnabled() || bodyLength > bodyBytesMax) {
            return 0;
        }
        int length = codec.encodedLength(head);
        return length > HeadCodec.LENGTH_MAX ? 0 : length;
    }

    /** An object with that head, encoded if there is room behind the body; takes over the body, as {@link ResidentObject} does. */
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
            // The volume says so, if there is one; in RAM it does as it is.
            LOG.debug("head of {} bytes cannot be encoded", length, e);
            return false;
        }
    }

    /**
     * Makes sure that the object's head can be asked; for who has a reference, or reads. False when it cannot be decoded: then the object
     * is no more in RAM, and is to be treated as absent.
     */
    public boolean isDecoded(ResidentObject<H> object) {
        return object.isDecoded() || decode(object);
    }

    /** Two threads may do so at once: the first that is done is heard. */
    private boolean decode(ResidentObject<H> object) {
        ByteBuf bytes = object.encodedHead();
        try {
            if (bytes == null) {
                throw new CorruptHeadException("there is none");
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
                        "{}: head in RAM cannot be decoded, so it is not there (the {}th such object)",
                        object.key(),
                        count,
                        e);
            }
            return false;
        }
    }
}
