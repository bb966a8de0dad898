package io.millrace.store;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A writer of one representation. A writer from {@link CacheStore#create} fills a new representation. A writer from
 * {@link CacheStore#extend}, called an <em>extension</em>, adds the missing blocks of a partial representation. The
 * caller ends a writer with exactly one call of {@link #complete}, {@link #keep} or {@link #abort}, also after a
 * failure.
 *
 * <p>Bodies are stored in blocks of {@link StoreConfig#blockBytes}; the last block may be shorter. Bytes may be written
 * in pieces of any size. Of an incomplete body only whole blocks are kept. Several writers may fill one object
 * concurrently, each on its own thread; {@link #claim} distributes the blocks among them: a claim is the promise to
 * fill a range of blocks.
 *
 * <p>No method blocks or throws for a disk error. After a disk error {@link #isFailed} returns true, and the writer
 * discards further content. A new representation that fails is not stored. An extension that fails leaves the object
 * with the blocks that it had. Lookups find a new object after {@link #complete} or {@link #keep}; with {@link
 * #allowPartial} also earlier.
 *
 * <p>Confined to one thread at a time (the event loop of the fill), except {@link #isWritable}, {@link #isFailed} and
 * the callback of {@link #onWritable}. Readers from {@link #object} may be used on any thread.
 *
 * @param <H> the decoded head
 */
public interface ObjectWriter<H> {
    /**
     * Maximum length of a short body in bytes. A new object with a short body needs one buffer and no blocks if its
     * length is known, its content is written in order, and the caller uses neither {@link #object} nor {@link #claim}.
     */
    int SHORT_BODY_BYTES_MAX = 32 * 1024;

    /**
     * Sets the head and the length of the body (-1 if unknown). Call once, before {@link #complete}; preferably before
     * the first {@link #write}, because a known length determines the buffer size.
     *
     * @throws IllegalStateException on an extension, whose object already has a head: {@link CacheStore#update} changes
     *     it
     */
    void head(H head, long length);

    /**
     * Returns the maximum body length in bytes. The object may use the fraction {@code share} of its volume. The result
     * also respects the limits of the store.
     *
     * @param share fraction of the object's volume, from 0 to 1; ignored for an object that is stored in RAM only
     */
    long bytesMax(double share);

    /**
     * Sets the length of the body in bytes. Call if it becomes known after the head, for example from Content-Range.
     * The writer fails if more content was already written, or if a different length was set before.
     */
    void length(long length);

    /**
     * Allows the store to keep a part of this representation before the body is complete. The caller states that a
     * strong validator can identify the representation later. If the key held no object, lookups find the partial
     * object after its first whole block. The list of stored blocks is written to disk after 1, 2, 4 … 64 blocks and
     * then after every 64. After kill -9 the blocks of the last written list remain. Call after {@link #head}; no
     * effect on an extension.
     */
    void allowPartial();

    /**
     * Claims the first run of blocks in {@code [position, position + length)} that are neither stored nor claimed. The
     * caller then fills them. The claim lasts until the blocks are written or the writer ends; other writers cannot
     * claim them.
     *
     * <p>The store assumes that a writer without any claim fills all missing blocks in order.
     * {@link StoredObject#onRange} waits for that writer, but other writers may still claim the blocks.
     *
     * @return whole blocks, usually slightly more than requested at both ends; null if no block is free. If the length
     *     is unknown, the claim may extend past the end of the body.
     */
    @Nullable
    Claim claim(long position, long length);

    /** A run of whole blocks that one writer fills: bytes {@code [position, position + length)} of the body. */
    record Claim(long position, long length) {}

    /**
     * Adds body bytes at {@code position}; takes ownership of {@code content}. Ranges may be written in any order;
     * ascending order is cheapest. A writer keeps at most 8 blocks open at once and fails beyond that. Bytes that are
     * already stored are skipped, not overwritten.
     */
    void write(long position, ByteBuf content);

    /**
     * Returns false if the caller should pause, because too many bytes wait for the disk. The limits are
     * {@link StoreConfig#writeWindowBytes} for this writer and {@link StoreConfig#writeQueueBytesMax} for the volume.
     * Also false if memory for bodies is nearly used up. Callable from any thread.
     */
    boolean isWritable();

    /** Calls back once, as soon as {@link #isWritable} is true or the writer has failed. This may be immediately. */
    void onWritable(Executor replyOn, Runnable callback);

    /**
     * Ends the writer: the body has {@code length} bytes, and all of them were written. From now on {@code get},
     * {@code contains} and {@code open} find the object, which replaces the previous object of the key. A failed writer
     * stores nothing. The writer fails if bytes are missing.
     *
     * <p>On an extension this method sets the length and then acts like {@link #keep}, because other writers may still
     * be active. A partial object becomes complete when any writer stores its last missing block.
     */
    void complete(long length);

    /**
     * Makes {@link #complete} and {@link #keep} conditional: they store nothing if the key's object changes after this
     * call. A change is another stored object or a new head ({@link CacheStore#update}); an eviction does not count. To
     * replace only an older object, call this method, then look the key up, compare, and complete. A second call starts
     * the check again: changes before the second call do not count. Not for a writer with {@link #allowPartial}.
     *
     * @throws IllegalStateException on an extension
     */
    void expectUnchanged();

    /**
     * Returns true if {@link #expectUnchanged} was called, the key's object has changed since, and this writer has
     * stored nothing. Callable from any thread.
     */
    boolean isOvertaken();

    /**
     * Ends the writer before the body is complete. The key then holds the whole blocks as a partial object, which
     * replaces the previous object of the key. {@link StoredObject#isComplete} is then false,
     * {@link StoredObject#hasRange} shows the stored ranges, and {@link CacheStore#extend} adds to the object. Acts
     * like {@link #abort} if no block is whole, if the head was not set, or if the writer has failed. Use it only if
     * the same representation can be identified later by a strong validator.
     */
    void keep();

    /**
     * Ends the writer without storing. From now on lookups do not find the new object. Its buffers are released when no
     * reader holds them. If the writer is an extension, the blocks that it wrote are dropped, and the extended object
     * remains. Before the abort, readers can read these blocks, and a start after kill -9 finds them. Therefore an
     * extension must only write content that is known to belong to the same representation.
     */
    void abort();

    /**
     * Returns true if the writer has failed: after a disk error, if the object is too large, or if its key was removed.
     * An extension also fails if its object was replaced. A failed writer discards later writes. Callable from any
     * thread.
     */
    boolean isFailed();

    /**
     * Returns the object being filled, retained for the caller, who releases it. {@code hasRange} and {@code read} work
     * on the content written so far. Call before the writer ends.
     */
    StoredObject<H> object();
}
