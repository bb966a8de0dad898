package io.millrace.store;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A writer of one representation. It fills a new representation ({@link CacheStore#create}) or the missing blocks of a
 * partial one ({@link CacheStore#extend}; an <em>extension</em>). The caller ends it with exactly one call of
 * {@link #complete}, {@link #keep} or {@link #abort}, also after a failure.
 *
 * <p>Bodies are stored in blocks of {@link StoreConfig#blockBytes}; the last block may be shorter. Bytes may be written
 * in pieces of any size. Only the whole blocks of an incomplete body are kept. Several writers may fill one object
 * concurrently, each on its own thread; {@link #claim} distributes the blocks among them.
 *
 * <p>No method blocks or throws for a disk error. After a disk error the writer {@link #isFailed} and discards further
 * content. A new representation that fails is not stored. An extension that fails leaves the object with the blocks
 * that it had. A new object can be found after {@link #complete} or {@link #keep}, with {@link #allowPartial} also
 * before.
 *
 * <p>Confined to one thread at a time (the event loop of the fill), except {@link #isWritable}, {@link #isFailed} and
 * the callback of {@link #onWritable}. Readers from {@link #object} may be used on any thread.
 *
 * @param <H> the decoded head
 */
public interface ObjectWriter<H> {
    /**
     * Sets the head and the length of the body (-1 if unknown). Call once, before {@link #complete}; preferably before
     * the first {@link #write}, because a known length determines the buffer size.
     *
     * @throws IllegalStateException on an extension, whose object already has a head: {@link CacheStore#update} changes
     *     it
     */
    void head(H head, long length);

    /**
     * Returns the maximum body length in bytes for an object that may take {@code share} of its volume. The limits of
     * the store also apply.
     *
     * @param share fraction of the object's volume, from 0 to 1; no effect on an object that stays in RAM
     */
    long bytesMax(double share);

    /**
     * Sets the length of the body if it becomes known after the head, for example from Content-Range. The writer fails
     * if the length is shorter than the content written, or differs from a known length.
     */
    void length(long length);

    /**
     * Allows a part of this representation to be stored, because the representation can be identified later by a strong
     * validator. After its first whole block, a key that held no object holds the partial object. After kill -9 the
     * blocks of the last record remain; a record is written after 1, 2, 4 … 64 blocks and then after every 64. Call
     * after {@link #head}; no effect on an extension.
     */
    void allowPartial();

    /**
     * Claims the first run of blocks in {@code [position, position + length)} that are neither stored nor claimed. The
     * caller then fills them. The claim lasts until the blocks are written or the writer ends; other writers cannot
     * claim them.
     *
     * <p>A writer without any claim is assumed to fill all missing blocks in order. {@link StoredObject#onRange} waits
     * for such a writer, but other writers may still claim its blocks.
     *
     * @return whole blocks, usually slightly more than requested at both ends; null if no block is free. If the length
     *     is unknown, the claim may extend past the end of the body.
     */
    @Nullable
    Claim claim(long position, long length);

    /** A run of whole blocks that its writer fills: bytes {@code [position, position + length)} of the body. */
    record Claim(long position, long length) {}

    /**
     * Adds body bytes at {@code position}; takes ownership of {@code content}. Ranges may be written in any order;
     * ascending order is cheapest. A writer keeps at most 8 blocks open at once and fails beyond that. Bytes that were
     * already written are not overwritten.
     */
    void write(long position, ByteBuf content);

    /**
     * Returns false while more bytes of this writer wait for the disk than its window; the caller should then pause.
     * Callable from any thread.
     */
    boolean isWritable();

    /**
     * Calls back once, as soon as {@link #isWritable} is true (immediately if it is already) or the writer has failed.
     */
    void onWritable(Executor replyOn, Runnable callback);

    /**
     * Ends the writer: the body has {@code length} bytes and all of them were written. From now on {@code get},
     * {@code contains} and {@code open} find the object, which replaces the previous object of the key. No effect on a
     * failed writer. Missing bytes make the writer fail.
     *
     * <p>On an extension this sets the length and then acts like {@link #keep}, because other writers may still be
     * active. A partial object becomes complete when its last block is stored, by any writer.
     */
    void complete(long length);

    /**
     * Ends the writer before the body is whole. The key then holds the whole blocks as a partial object, which replaces
     * its previous object. {@link StoredObject#isComplete} is then false, {@link StoredObject#hasRange} shows the
     * stored ranges, and {@link CacheStore#extend} adds to the object. Acts like {@link #abort} if no block is whole,
     * if the head was not set, or if the writer has failed. Use it only if the same representation can be identified
     * later by a strong validator.
     */
    void keep();

    /**
     * Ends the writer without storing. A new object is not found from now on; its buffers are released when no reader
     * holds them. An extension loses the blocks that it wrote, and the object remains. Until then readers see these
     * blocks, and a start after kill -9 finds them. An extension must therefore write only content known to belong to
     * the same representation.
     */
    void abort();

    /**
     * Returns true after a disk error, if the object is too large, or if its key was removed. For an extension, also
     * true if the object was replaced. Later writes are discarded. Callable from any thread.
     */
    boolean isFailed();

    /**
     * Returns the object being filled, retained for the caller, who releases it. {@code hasRange} and {@code read} work
     * on the content written so far. Call before the writer ends.
     */
    StoredObject<H> object();
}
