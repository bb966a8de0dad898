package io.millrace.store;

import io.netty.buffer.ByteBuf;

/**
 * Turns the caller's head of a stored object into bytes and back; the store never looks inside one.
 *
 * <p>Thread-safe: called on the store's I/O threads and on callers' threads at the same time. A head is shared between
 * readers, so {@code H} must be immutable.
 *
 * @param <H> the decoded head
 */
public interface HeadCodec<H> {
    /** Longest encoded head in bytes; a writer given a longer one fails. */
    int LENGTH_MAX = 1 << 20;

    /** Appends the bytes of {@code head} to {@code out}; borrows {@code out}. The bytes carry their own version. */
    void encode(H head, ByteBuf out);

    /**
     * How many bytes {@link #encode} appends for {@code head}, and asks {@code out} to have room for. Where that is told the RAM tier keeps the head as these bytes, outside of
     * the heap, until somebody asks for the object; 0, that it is not known, keeps it as it is.
     */
    default int encodedLength(H head) {
        return 0;
    }

    /**
     * The head that {@code in}'s readable bytes stand for; borrows {@code in}, keeps nothing of it.
     *
     * @throws CorruptHeadException when the bytes are none of this codec's; the object is then treated as absent.
     *     Any unchecked exception counts as the same.
     */
    H decode(ByteBuf in) throws CorruptHeadException;

    /** Estimated bytes of heap that {@code head} retains, counted against the RAM tier's budget. */
    int heapBytes(H head);

    /** When the object stops being worth keeping, in seconds since the epoch; kept in the index beside the object. */
    long expiresAtSeconds(H head);

    /**
     * Until when the object is pinned, in seconds since the epoch: the disk takes it whatever its admission says, and keeps
     * it until then as though it were asked for. 0 when it is not. Says nothing else of the object.
     */
    default long pinnedUntilSeconds(H head) {
        return 0;
    }

    /** What the inventory says of an object with this head. Called off every request path. */
    default HeadSummary summary(H head) {
        return HeadSummary.NONE;
    }
}
