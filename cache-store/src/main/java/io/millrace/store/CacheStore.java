package io.millrace.store;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store of keyed objects in RAM and on disk.
 *
 * <p>A lookup asks {@link #get} (RAM, never blocks), then {@link #contains} (the disk's index, never blocks), and only
 * when that says true {@link #open} (reads on an I/O thread). There is one owner per storage path: a second
 * opening of it, in this process or another, fails with a message that names the first.
 *
 * <p>Thread-safe: every method may be called from any thread. Of operations on one key each takes effect at one point
 * between call and return, {@code open} at the latest when it answers.
 *
 * @param <H> the decoded head of an object
 */
public interface CacheStore<H> extends Closeable {
    /** The key of these bytes, which are copied. At most {@link StoreKey#LENGTH_MAX}. */
    StoreKey key(byte[] bytes, int offset, int length);

    /** The key of these bytes, which are copied. */
    default StoreKey key(byte[] bytes) {
        return key(bytes, 0, bytes.length);
    }

    /** The key of these bytes, which become the key's: nobody changes them from now on. At most {@link StoreKey#LENGTH_MAX}. */
    StoreKey keyOver(byte[] bytes);

    /**
     * The object when it is in RAM, retained for the caller, who releases it. Null says nothing about the disk. Never
     * blocks.
     */
    @Nullable
    StoredObject<H> get(StoreKey key);

    /** A thread's reader of what is in RAM, which holds nothing. The caller closes it. */
    ResidentReader<H> residentReader();

    /** Whether {@link #get} would find it now; counts as no request for it. Never blocks. */
    boolean isInRam(StoreKey key);

    /**
     * Whether the key may be stored: false means surely not. True may turn out wrong in {@link #open} (damage, or a
     * volume whose index is still being rebuilt). Never blocks.
     */
    boolean contains(StoreKey key);

    /**
     * Finds the object wherever it is and checks it: full key, segment, sequence, CRC32C. What is complete and fits the
     * RAM tier is promoted to it. The object may be partial ({@link StoredObject#isComplete}). Answers null when it is
     * absent or damaged, when the I/O queue is full, or when a volume's index was not ready within
     * {@link StoreConfig#openWaitNanos}.
     */
    void open(StoreKey key, Executor replyOn, OpenCallback<H> reply);

    /**
     * Starts a new representation for the key; what is stored under it stays until the writer completes. Never blocks,
     * never throws for I/O trouble (the writer is then failed).
     */
    default ObjectWriter<H> create(StoreKey key) {
        return create(key, VolumeConfig.DEFAULT_NAME);
    }

    /**
     * As {@link #create(StoreKey)}, for the volumes of a name; where none of them works, for the default ones. Lookups need
     * no name: what is stored is found wherever it is.
     */
    ObjectWriter<H> create(StoreKey key, String volumeName);

    /**
     * Fills more of the same representation: what is missing of a partial object, or, together with its own writer, of
     * one that is being filled. Any number of writers may do so at the same time, on threads of their own; who holds
     * the object reads what they write. The writer is failed at once, or fails later, when the key holds another object
     * or none. On a complete object it finds nothing to do. Never blocks; borrows the object.
     */
    ObjectWriter<H> extend(StoredObject<H> object);

    /**
     * Gives the stored representation a new head; the body stays. Costs one small record on disk, and shows at once
     * in RAM. Ignored when the object was replaced or removed meanwhile. Handles given out before keep the old head.
     */
    void update(StoredObject<H> object, H newHead);

    /**
     * Removes whatever is stored under the key. When this method returns, no later {@code get}, {@code contains} or
     * {@code open} finds it, and writers in flight for the key have failed. The reply comes when the tombstone is
     * appended, which makes the removal survive kill -9.
     */
    void remove(StoreKey key, Executor replyOn, RemoveCallback reply);

    /**
     * Removes the object, unless its key is known to hold another one by now, which then stays: for what has turned out to
     * be of no use while it was read. Otherwise as {@link #remove}. Borrows the object.
     */
    void discard(StoredObject<H> object);

    /**
     * Shows what the volumes hold, in no particular order, off every request path; objects in RAM alone are not shown.
     * Written behind: what was stored just now may be missing, what was removed is not shown.
     *
     * @param after {@link ListResult#next} of the call before; null to begin
     * @param visitor called on the inventory's thread
     * @throws IllegalArgumentException when {@code after} is none
     */
    void list(@Nullable String after, ListVisitor visitor, Executor replyOn, ListCallback reply);

    /** What outlives the process beside the objects. Without volumes it is forgotten with them. */
    Journal journal();

    /** Sizes of the inventory. */
    InventoryStatistics inventory();

    /** Sizes, states and counters as of now; cheap enough for a scrape, not for a request. */
    StoreStatistics statistics();

    /** Whether what is read from disk and being sent has nearly all the memory that it may have. Cheap; any thread. */
    boolean isReadMemoryTight();

    /**
     * Hands the volumes over: what is queued is written and synced, writers in flight fail, and the lease is released, so
     * that another process may open the paths. Handles held stay readable and RAM goes on answering; new {@code open}s
     * from disk answer null, as the log now belongs to another. May block; not for event loops.
     */
    void suspendWrites() throws IOException;

    /**
     * As {@link #suspendWrites}, but what is on disk is found and read until that is called, and removals and journal entries
     * are passed on. The successor overwrites nothing meanwhile. May block; not for event loops.
     *
     * @param successor told of what this store cannot make durable any more
     */
    void releaseWrites(Successor successor) throws IOException;

    /**
     * Makes a change that the store before this one has passed on.
     *
     * @param removing told of the key before it is removed; not told of journal entries
     * @param reply told once, on any thread: null when the change is durable
     */
    void applyChange(byte[] change, Consumer<StoreKey> removing, Consumer<@Nullable IOException> reply);

    /** Holds back the replies to removals and journal entries until {@code stage} is complete; for a store that has a predecessor. */
    void replyToChangesAfter(CompletionStage<?> stage);

    /**
     * Takes the volumes back after {@link #suspendWrites} or {@link #releaseWrites}. May block; not for event loops.
     *
     * @param unchanged whether a store that had the volumes meanwhile served nothing: then what is in RAM stays
     * @throws IOException when another store holds the lease; this one then stays suspended
     */
    void resumeWrites(boolean unchanged) throws IOException;

    /** Sets what says which pinned objects are still to be kept for that; before, all are. */
    void pinCheck(PinCheck<H> check);

    /** Sets how many bytes of records are verified in the background per second, over all volumes; 0 for none. */
    void scrubRate(long bytesPerSecond);

    /**
     * Takes a storage path out of use until {@link #online} or the next start, with the shares of named volumes in the
     * directories below it: what is queued is written and synced, leases are given back and files are closed. Objects
     * whose home was there are stored in the others from now on; reads of handles to its objects fail. Never blocks;
     * completed on a thread of the store.
     *
     * @param path the storage path as configured; or the directory of one share, for that alone
     * @param reason for the statistics
     * @return the paths of the volumes that were changed; fails with an {@link IOException} that says why not; with {@link java.nio.file.NoSuchFileException} when no
     *     volume has that path
     */
    CompletionStage<List<Path>> offline(Path path, String reason);

    /**
     * Brings back a storage path, and the shares below it, that was taken out, was given up after errors, or could not be
     * opened at the start. A volume that was taken out keeps its content, less what changed meanwhile, if nobody else used
     * it and it did not miss too much; every other one starts empty. Never blocks; completed on a thread of the store.
     *
     * @return as of {@link #offline}
     */
    CompletionStage<List<Path>> online(Path path);

    /** Waits until everything handed over before is appended and forced to the device. Not for event loops. */
    void sync() throws IOException;

    /**
     * Writes and syncs what is queued, marks the indexes clean and releases the lease. Writers in flight fail. Handles
     * still held keep their RAM; their disk reads fail. May block; not for event loops.
     */
    @Override
    void close() throws IOException;
}
