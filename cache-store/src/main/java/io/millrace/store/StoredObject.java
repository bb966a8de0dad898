package io.millrace.store;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A reference-counted handle to one stored representation: its head and its body, in RAM, on disk, or still being
 * filled.
 *
 * <p>The receiver of a handle owns one reference and releases it. While a reference is held the content stays readable,
 * even if the object is replaced, removed or evicted: its RAM is not freed and its disk segments are not overwritten.
 * Therefore hold a reference no longer than the response takes. This guarantee covers the first
 * {@value #PINNED_BLOCKS_MAX} blocks of a body. Later blocks are looked up at each read, because pinning all of a very
 * long body would prevent the reclaim of segments. A later block may have been reclaimed, and its read then fails.
 *
 * <p>An object may be <em>partial</em>: some blocks of its body are not stored, because they were not fetched, were
 * reclaimed or are damaged. {@link CacheStore#extend} adds the missing blocks.
 *
 * <p>Thread-safe: any number of threads may use it while they own a reference.
 *
 * @param <H> the decoded head
 */
public interface StoredObject<H> {
    /** Maximum bytes returned by one {@link #read}. */
    int READ_LENGTH_MAX = 256 * 1024;

    /** Number of blocks, from the start of the body, that a handle keeps readable. */
    int PINNED_BLOCKS_MAX = 1024;

    /** Returns the key under which the object is, or was, stored. */
    StoreKey key();

    /**
     * Returns the head at the time the handle was created.
     *
     * @throws IllegalStateException on an object being filled whose writer has not set the head yet
     */
    H head();

    /** Returns the length of the whole body in bytes, -1 while it is unknown. */
    long length();

    /**
     * Returns true if every byte of the body is stored, as far as known: only a sample of the blocks after the first
     * {@value #PINNED_BLOCKS_MAX} is looked up. The result stays false after the writer was aborted or failed.
     */
    boolean isComplete();

    /**
     * Returns true if {@code [position, position + length)} can be read now, as far as known (see {@link #isComplete}).
     * An empty range within the body can always be read. Never blocks. Of the blocks
     * after the first {@value #PINNED_BLOCKS_MAX}, looks up at most {@value #PINNED_BLOCKS_MAX} in the index.
     */
    boolean hasRange(long position, long length);

    /**
     * Calls back once, as soon as the range can be read or can no longer be expected. A range is expected while an
     * active writer has announced (claimed) each missing part, or while a writer is active that announces nothing. The
     * part after the end of the body, once the length is known, is not waited for. The reference must be held until
     * the callback.
     */
    void onRange(long position, long length, Executor replyOn, RangeCallback reply);

    /**
     * Returns the object's position in the log of its volume; a later record has a higher value. 0 if the object never
     * reached a disk.
     */
    long sequence();

    /**
     * Returns the whole body as one contiguous buffer if it is in RAM and complete; null if it is on disk or being
     * filled. Borrowed: take a {@code retainedSlice}, and never move the indices of this buffer.
     */
    @Nullable
    ByteBuf residentBody();

    /**
     * Returns body bytes that are in RAM, from {@code position} and at most {@code length}, retained for the caller;
     * null if none are in RAM, so that {@link #read} is needed. Never blocks.
     */
    @Nullable
    ByteBuf residentPart(long position, int length);

    /**
     * Reads up to {@code length} bytes from {@code position}; one call returns at most {@link #READ_LENGTH_MAX}. Never
     * blocks. The reply is a failure for a range without {@link #hasRange}, for damage and for a disk error. The
     * reference must be held until the reply.
     */
    void read(long position, int length, Executor replyOn, ReadCallback reply);

    /** Adds a reference; only the holder of a reference may call it. */
    StoredObject<H> retain();

    /** Releases one reference; returns true if it was the last. */
    boolean release();
}
