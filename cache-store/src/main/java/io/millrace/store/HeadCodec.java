package io.millrace.store;

import io.netty.buffer.ByteBuf;

/**
 * Converts the head of a stored object to bytes and back. The head is metadata of the caller that the store keeps with
 * the body. The store never interprets it.
 *
 * <p>Thread-safe: called concurrently on I/O threads of the store and on callers' threads. Readers share a head, so
 * {@code H} must be immutable.
 *
 * @param <H> the decoded head
 */
public interface HeadCodec<H> {
    /** Maximum length of an encoded head in bytes. A writer with a longer head fails. */
    int LENGTH_MAX = 1 << 20;

    /**
     * Appends the bytes of {@code head} to {@code out}; borrows {@code out}. The bytes must contain their format
     * version, because a later version of the program may decode them.
     */
    void encode(H head, ByteBuf out);

    /**
     * Returns the number of bytes that {@link #encode} appends for {@code head}; 0 if the number is not known. With a
     * known length the RAM tier stores the encoded head off the heap until the object is requested. With 0 it stores
     * the decoded head.
     */
    default int encodedLength(H head) {
        return 0;
    }

    /**
     * Decodes the readable bytes of {@code in}; borrows {@code in} and keeps no reference to it.
     *
     * @throws CorruptHeadException if the bytes were not encoded by this codec; the object is then treated as absent.
     *     An unchecked exception has the same effect.
     */
    H decode(ByteBuf in) throws CorruptHeadException;

    /** Returns the estimated heap bytes that {@code head} retains, counted against the budget of the RAM tier. */
    int heapBytes(H head);

    /**
     * Returns the time at which the object is no longer worth keeping, in seconds since the epoch. The index stores
     * this time in the object's entry.
     */
    long expiresAtSeconds(H head);

    /**
     * Returns the end of the object's pin, in seconds since the epoch; 0 if the object is not pinned. A volume admits a
     * pinned object regardless of its admission rule. When the volume reclaims space, it keeps the object until the pin
     * ends. The pin has no other effect.
     */
    default long pinnedUntilSeconds(H head) {
        return 0;
    }

    /**
     * Returns the summary of an object with this head for listings. It is kept in the inventory, the table of stored
     * objects. Called outside every request path.
     */
    default HeadSummary summary(H head) {
        return HeadSummary.NONE;
    }
}
