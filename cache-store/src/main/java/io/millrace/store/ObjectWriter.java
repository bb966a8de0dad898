package io.millrace.store;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Fills one representation: a new one ({@link CacheStore#create}) or what is missing of a partial one
 * ({@link CacheStore#extend}; an <em>extension</em>). Ends with {@link #complete}, {@link #keep} or {@link #abort},
 * exactly one of them, whatever happens in between.
 *
 * <p>Bodies are stored in blocks of {@link StoreConfig#blockBytes}, the last one shorter. Bytes may be written in any
 * pieces; what is kept of an incomplete body is its whole blocks. Several writers may fill one object at the same time,
 * each from a thread of its own; {@link #claim} shares the blocks out among them.
 *
 * <p>Nothing here blocks, and no trouble of the disk is ever thrown: the writer then {@link #isFailed} and drops what it
 * is given. Of a new representation nothing will then be found; an extension that fails leaves the object with the
 * blocks that it had. A new object becomes findable by {@link #complete} or {@link #keep}, after {@link #allowPartial}
 * before that.
 *
 * <p>Confined to one thread at a time (the event loop of the fill); {@link #isWritable}, {@link #isFailed} and
 * {@link #onWritable}'s callback excepted. Readers got by {@link #object} may live on any thread.
 *
 * @param <H> the decoded head
 */
public interface ObjectWriter<H> {
    /**
     * Says what the head is and how long the body will be (-1 when unknown). To be called once, before
     * {@link #complete}; best before the first {@link #write}, as a known length sizes the buffer.
     *
     * @throws IllegalStateException on an extension, whose object has a head: {@link CacheStore#update} changes it
     */
    void head(H head, long length);

    /**
     * Longest body in bytes that this writer takes when one object may have that share of its storage. The store's own
     * bounds apply too.
     *
     * @param share of the volume that the object goes to, from 0 to 1; without effect on an object that stays in RAM
     */
    long bytesMax(double share);

    /**
     * Says how long the body is, when that becomes known after the head: from a Content-Range, say. A length that is
     * shorter than what is there, or other than the one known, makes the writer fail.
     */
    void length(long length);

    /**
     * Says that a part of this representation is worth having, because it can be told again later (it has a strong
     * validator). From its first whole block on, a key that held nothing then holds the partial object, and a kill -9
     * leaves what was last recorded: after 1, 2, 4 … 64 blocks and then after every 64. To be called after
     * {@link #head}; without effect on an extension.
     */
    void allowPartial();

    /**
     * Takes the first run of blocks that {@code [position, position + length)} touches and that are neither stored nor
     * claimed: the caller now fills them, until they are written or the writer ends. Others' claims leave them out.
     *
     * <p>A writer that never claims anything is taken to fill what is missing from end to end, which counts for those
     * who wait in {@link StoredObject#onRange}, but keeps nobody from claiming.
     *
     * @return whole blocks, so mostly somewhat more than asked for at both ends; null when there is none to take. With
     *     the length unknown it may end behind the body's end.
     */
    @Nullable
    Claim claim(long position, long length);

    /** A run of whole blocks that its writer fills: bytes {@code [position, position + length)} of the body. */
    record Claim(long position, long length) {}

    /**
     * Adds body bytes at {@code position}; takes ownership of {@code content}. Ranges may come in any order; in order is
     * cheapest (a writer keeps at most 8 blocks open at once and fails beyond that). Bytes already written win over
     * repeated ones.
     */
    void write(long position, ByteBuf content);

    /** False while more bytes wait for the disk than the writer's window; the filler should then pause. Any thread. */
    boolean isWritable();

    /** Calls back once, as soon as {@link #isWritable} holds (at once if it does) or the writer has failed. */
    void onWritable(Executor replyOn, Runnable callback);

    /**
     * The body is {@code length} bytes long and all of it was written. From here on {@code get}, {@code contains} and
     * {@code open} find the object, in place of what the key held before. Without effect on a failed writer; missing
     * bytes make it fail.
     *
     * <p>On an extension: says the length, then as {@link #keep}, since others may still be at work. A partial object
     * becomes complete by itself when its last block has come, whichever writer that came from.
     */
    void complete(long length);

    /**
     * Ends before the body is whole. The key holds the blocks that are, in place of what it held before, as a partial
     * object: {@link StoredObject#isComplete} is false, {@link StoredObject#hasRange} tells what is there, and
     * {@link CacheStore#extend} adds to it. As {@link #abort} when no block is whole, the head was not told, or the
     * writer has failed. Only for a caller who can tell the same representation again, by a strong validator.
     */
    void keep();

    /**
     * Gives up: of a new object nothing is found from here on, its buffers are released once no reader holds them. Of
     * an extension the blocks that it wrote are given up, the object stays. Until then they count, for readers and for
     * who finds the object after a kill: so an extension is given only what is known to be of the same representation.
     */
    void abort();

    /**
     * Disk error, object too large, its key removed meanwhile, or (extensions) replaced: later writes are dropped. Any
     * thread.
     */
    boolean isFailed();

    /**
     * The object being filled, retained for the caller, who releases it: {@code hasRange} and {@code read} work on what
     * is there so far. To be called before the writer ends.
     */
    StoredObject<H> object();
}
