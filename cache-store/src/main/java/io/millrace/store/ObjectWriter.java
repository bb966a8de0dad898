package io.millrace.store;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.Executor;

/**
 * Fills one new representation. Ends with {@link #complete} or {@link #abort}, exactly one of them, whatever happens in
 * between.
 *
 * <p>Nothing here blocks, and no trouble of the disk is ever thrown: the writer then {@link #isFailed}, drops what it
 * is given, and nothing of it will be found. The object becomes findable by completion only.
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
     */
    void head(H head, long length);

    /**
     * Adds body bytes at {@code position}; takes ownership of {@code content}. Ranges may come in any order; in order is
     * cheapest (a writer keeps a few blocks open at once and fails beyond that). Bytes already written win over
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
     */
    void complete(long length);

    /** Gives the object up: nothing of it is ever found, its buffers are released once no reader holds them. */
    void abort();

    /** Disk error, object too large, or its key removed meanwhile: later writes are dropped. Any thread. */
    boolean isFailed();

    /**
     * The object being filled, retained for the caller, who releases it: {@code hasRange} and {@code read} work on what
     * was written so far. To be called before {@link #complete} or {@link #abort}.
     */
    StoredObject<H> object();
}
