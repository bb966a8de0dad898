package io.millrace.store;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A reference counted handle to one stored representation: its head and its body, in RAM, on disk, or still being
 * filled.
 *
 * <p>Whoever receives one owns one reference and releases it. While any is held the bytes stay readable, also when the
 * object is replaced, removed or evicted meanwhile: its RAM is not freed and its disk segments are not overwritten. So
 * do not hold one longer than the response takes. This holds for the first {@value #PINNED_BLOCKS_MAX} blocks of a body;
 * those behind them are looked up when they are read, since holding on to all of a very long body would keep the ring
 * from turning: such a block may turn out to be gone, and its read then fails.
 *
 * <p>An object may be <em>partial</em>: some blocks of its body are stored and others are not, because no more was
 * fetched, or because some were lost to the ring or to damage. {@link CacheStore#extend} fills the gaps.
 *
 * <p>Thread-safe: any number of threads may use it while they own a reference.
 *
 * @param <H> the decoded head
 */
public interface StoredObject<H> {
    /** Most bytes that one {@link #read} answers with. */
    int READ_LENGTH_MAX = 256 * 1024;

    /** Blocks, from the start of the body, that a handle keeps readable. */
    int PINNED_BLOCKS_MAX = 1024;

    /** The key under which it is, or was, stored. */
    StoreKey key();

    /**
     * The head as of when the handle was given out.
     *
     * @throws IllegalStateException on an object being filled whose writer was not yet told the head
     */
    H head();

    /** Length of the whole body in bytes, -1 while it is unknown. */
    long length();

    /**
     * Whether every byte of the body has been stored, as far as known: of the blocks behind the first
     * {@value #PINNED_BLOCKS_MAX} only a sample is looked up. False for good when the writer was aborted or failed.
     */
    boolean isComplete();

    /**
     * Whether {@code [position, position + length)} can be read now; as far as known, as in {@link #isComplete}. An
     * empty range within the body always can. Never blocks; a look into the index for each block behind the first
     * {@value #PINNED_BLOCKS_MAX}, up to as many.
     */
    boolean hasRange(long position, long length);

    /**
     * Calls back once: as soon as the range can be read, or as soon as that is not to be expected, because part of it is
     * neither stored, nor claimed by a writer at work, nor is a writer at work that claims nothing. The part behind the
     * body's end, once that is known, is not waited for. The reference must be held until the call.
     */
    void onRange(long position, long length, Executor replyOn, RangeCallback reply);

    /** The place in its volume's log: a later record has a higher one. 0 when it never reached a disk. */
    long sequence();

    /**
     * The whole body, contiguous, when it is resident in RAM and complete; null when it is on disk or being filled.
     * Borrowed: take a {@code retainedSlice}, and never move this one's indices.
     */
    @Nullable
    ByteBuf residentBody();

    /**
     * Returns bytes of the body that are in RAM, from {@code position} on and at most {@code length}, retained for the caller;
     * null when RAM has none and {@link #read} is needed. Never blocks.
     */
    @Nullable
    ByteBuf residentPart(long position, int length);

    /**
     * Reads up to {@code length} bytes (at most {@link #READ_LENGTH_MAX} are given at once) from {@code position}.
     * Never blocks. A read outside what {@link #hasRange} promises, damage, or a disk error is answered with a failure.
     * The reference must be held until the answer.
     */
    void read(long position, int length, Executor replyOn, ReadCallback reply);

    /** Adds a reference; only for who holds one already. */
    StoredObject<H> retain();

    /** Gives up one reference; true when it was the last. */
    boolean release();
}
