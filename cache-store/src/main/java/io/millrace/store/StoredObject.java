package io.millrace.store;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A reference-counted handle to one stored representation: its head (metadata of the caller) and its body, in RAM, on
 * disk, or still being filled.
 *
 * <p>The receiver of a handle owns one reference and releases it. While a reference is held, the content stays
 * readable, even if the object is replaced, removed or evicted. Its RAM is not freed, and its disk segments are not
 * overwritten.
 * Therefore release the reference as soon as the response is sent. This guarantee covers the first
 * {@value #PINNED_BLOCKS_MAX} blocks of a body. A handle does not pin later blocks, because pinning a very long body
 * would prevent the reclaim of segments. Each read looks up these blocks again, and fails if a block was reclaimed.
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
     * Returns true if every byte of the body is stored. The result is a guess for very long bodies: of the blocks after
     * the first {@value #PINNED_BLOCKS_MAX}, only a sample is looked up. The result stays false after the writer was
     * aborted or failed.
     */
    boolean isComplete();

    /**
     * Returns true if {@code [position, position + length)} can be read now. An empty range within the body can always
     * be read. Never blocks. Of the blocks after the first {@value #PINNED_BLOCKS_MAX}, at most
     * {@value #PINNED_BLOCKS_MAX} are looked up in the index. So the result for a longer range is an estimate.
     */
    boolean hasRange(long position, long length);

    /**
     * Calls back once, as soon as the range can be read or no writer fills it any more. The range counts as being
     * filled while each missing part is claimed by an active writer (which promised to fill it). It also counts as
     * being filled while a writer is active that made no claims, because it fills the whole body. Once the length of
     * the body is known, the part of the range after its end is ignored. The reference must be held until the callback.
     */
    void onRange(long position, long length, Executor replyOn, RangeCallback reply);

    /**
     * Returns the sequence number of the object's record in the log of its volume. Later records have higher numbers. 0
     * if the object was never written to disk.
     */
    long sequence();

    /**
     * Returns the whole body as one contiguous buffer if it is in RAM. Null if the body is on disk or being filled.
     * Borrowed: take a {@code retainedSlice}, and never move the indices of this buffer.
     */
    @Nullable
    ByteBuf residentBody();

    /**
     * Returns body bytes from {@code position} that are in RAM, at most {@code length}. The caller releases the buffer.
     * Null if none are in RAM; the caller then uses {@link #read}. Never blocks.
     */
    @Nullable
    ByteBuf residentPart(long position, int length);

    /**
     * Reads up to {@code length} bytes from {@code position}; one call returns at most {@link #READ_LENGTH_MAX}. Never
     * blocks. The reply is a failure if {@link #hasRange} is false for the range, if the data is damaged, or after a
     * disk error. The reference must be held until the reply.
     */
    void read(long position, int length, Executor replyOn, ReadCallback reply);

    /** Adds a reference; only the holder of a reference may call it. */
    StoredObject<H> retain();

    /** Releases one reference; returns true if it was the last. */
    boolean release();
}
