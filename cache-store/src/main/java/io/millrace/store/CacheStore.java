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
 * <p>A lookup takes up to three steps. {@link #get} searches the RAM tier and never blocks. {@link #contains} searches
 * the index of the disk and never blocks. If it returns true, {@link #open} reads the object on an I/O thread. Each
 * storage path has one owner. A second store that opens a path, in this or another process, fails with a message that
 * names the owner.
 *
 * <p>Thread-safe: every method may be called from any thread. Each operation on a key takes effect at one point between
 * call and return; {@code open} takes effect when it replies at the latest.
 *
 * @param <H> the decoded head of an object
 */
public interface CacheStore<H> extends Closeable {
    /** Returns the key of these bytes, which are copied. The length is at most {@link StoreKey#LENGTH_MAX}. */
    StoreKey key(byte[] bytes, int offset, int length);

    /** Returns the key of these bytes, which are copied. */
    default StoreKey key(byte[] bytes) {
        return key(bytes, 0, bytes.length);
    }

    /**
     * Returns a key that uses the array without a copy; the caller must not change it any more. The length is at most
     * {@link StoreKey#LENGTH_MAX}.
     */
    StoreKey keyOver(byte[] bytes);

    /**
     * Returns the object if it is in RAM, retained for the caller, who releases it. Null if it is not in RAM; the
     * object may still be on disk. Never blocks.
     */
    @Nullable
    StoredObject<H> get(StoreKey key);

    /**
     * Returns a reader of objects in RAM that takes no references. It is confined to one thread. The caller closes it.
     */
    ResidentReader<H> residentReader();

    /**
     * Returns true if {@link #get} would find the object now. Does not count as a request for the object. Never blocks.
     */
    boolean isInRam(StoreKey key);

    /**
     * Returns false only if the key is not stored. After true, {@link #open} may still find nothing: the record may be
     * damaged, or the index of a volume may be incomplete while it is rebuilt. Never blocks.
     */
    boolean contains(StoreKey key);

    /**
     * Finds the object in RAM or on disk and checks it: full key, segment, sequence, CRC32C. A complete object that
     * fits the RAM tier is promoted to it. The object may be partial ({@link StoredObject#isComplete}). Replies null if
     * the object is absent or damaged, or if the I/O queue is full. Also replies null if the index of a volume was not
     * ready within {@link StoreConfig#openWaitNanos}.
     */
    void open(StoreKey key, Executor replyOn, OpenCallback<H> reply);

    /**
     * Begins a new representation for the key. The object stored under the key remains until the writer completes.
     * Never blocks. Never throws for an I/O error: the returned writer is then failed.
     */
    default ObjectWriter<H> create(StoreKey key) {
        return create(key, VolumeConfig.DEFAULT_NAME);
    }

    /**
     * Like {@link #create(StoreKey)}, but stores on the volumes with this name, or on the default volumes if none of
     * the named volumes works. Lookups need no volume name.
     */
    ObjectWriter<H> create(StoreKey key, String volumeName);

    /**
     * Returns a writer that adds to the body of the same representation. It adds the missing blocks of a partial
     * object, or blocks of an object that another writer is filling. Any number of writers may do so concurrently, each
     * on its own thread; holders of the object can read the blocks that they write. The writer fails, immediately or
     * later, if the key holds another object or none. A complete object has no missing block. Never blocks; borrows the
     * object.
     */
    ObjectWriter<H> extend(StoredObject<H> object);

    /**
     * Replaces the head of the stored representation; the body remains. Writes one small record to disk, and takes
     * effect in RAM immediately. Ignored if the object was replaced or removed in the meantime. Existing handles keep
     * the old head.
     */
    void update(StoredObject<H> object, H newHead);

    /**
     * Removes the object stored under the key, if any. After this method returns, no {@code get}, {@code contains} or
     * {@code open} finds the object, and writers in flight for the key have failed. The reply is sent when the
     * tombstone is appended, so that the removal survives kill -9.
     */
    void remove(StoreKey key, Executor replyOn, RemoveCallback reply);

    /**
     * Removes the object, unless its key is known to hold another object by now, which then remains. Intended for an
     * object that was found to be useless while it was read. Otherwise like {@link #remove}. Borrows the object.
     */
    void discard(StoredObject<H> object);

    /**
     * Fails the writers in flight that would replace the object of the key. The object itself and the writers that
     * {@link #extend} it are unaffected. After this method returns, none of the failed writers completes.
     */
    void failWriters(StoreKey key);

    /**
     * Lists the objects on the volumes, in no particular order and outside every request path. Objects that are only in
     * RAM are not listed. The inventory is written with a delay: recently stored objects may be missing, but removed
     * objects are never listed.
     *
     * @param after {@link ListResult#next} of the previous call; null for the first call
     * @param visitor called on the inventory's thread
     * @throws IllegalArgumentException if {@code after} is not such a value
     */
    void list(@Nullable String after, ListVisitor visitor, Executor replyOn, ListCallback reply);

    /**
     * Visits the keys of all objects in memory: first keys with writers in flight, then keys with changes that the
     * volumes do not have yet, then keys of the RAM tier. Objects pass through these places in this order, so that a
     * key that is in memory during the whole call is visited. Takes no lock; the time grows with the number of keys.
     */
    void visitMemory(MemoryKeyVisitor visitor);

    /**
     * Returns the journal: durable entries beside the objects. Without volumes the journal is lost when the process
     * ends.
     */
    Journal journal();

    /** Returns the sizes of the inventory. */
    InventoryStatistics inventory();

    /**
     * Returns current sizes, states and counters. Cheap enough for a metrics scrape, too expensive for every request.
     */
    StoreStatistics statistics();

    /**
     * Returns true if data read from disk and not yet sent uses nearly all of the memory allowed for it. Cheap;
     * callable from any thread.
     */
    boolean isReadMemoryTight();

    /**
     * Releases the volumes: writes and syncs queued records, fails writers in flight, and releases the lease, so that
     * another process may open the paths. Existing handles remain readable and the RAM tier continues to answer. A new
     * {@code open} from disk replies null, because another process now owns the log. May block; not for event loops.
     */
    void suspendWrites() throws IOException;

    /**
     * Like {@link #suspendWrites}, but objects on disk remain readable until {@code suspendWrites} is called, and
     * removals and journal entries are passed to the successor. The successor overwrites nothing until then. May block;
     * not for event loops.
     *
     * @param successor receives the changes that this store can no longer make durable
     */
    void releaseWrites(Successor successor) throws IOException;

    /**
     * Applies a change that the predecessor of this store has passed on.
     *
     * @param removing receives the key before it is removed; not called for journal entries
     * @param reply called once, on any thread: null when the change is durable
     */
    void applyChange(byte[] change, Consumer<StoreKey> removing, Consumer<@Nullable IOException> reply);

    /**
     * Delays the replies to removals and journal entries until {@code stage} completes. For a store that has a
     * predecessor.
     */
    void replyToChangesAfter(CompletionStage<?> stage);

    /**
     * Takes the volumes back after {@link #suspendWrites} or {@link #releaseWrites}. May block; not for event loops.
     *
     * @param unchanged true if no store served objects from the volumes in the meantime; the RAM tier then keeps its
     *     objects
     * @throws IOException if another store holds the lease; this store then remains suspended
     */
    void resumeWrites(boolean unchanged) throws IOException;

    /** Sets the check of pinned objects at reclaim. Before this call every pinned object keeps its pin. */
    void pinCheck(PinCheck<H> check);

    /** Sets the rate of background verification in bytes of records per second, over all volumes; 0 to disable. */
    void scrubRate(long bytesPerSecond);

    /**
     * Takes a storage path out of use until {@link #online} or the next start, together with the shares of named
     * volumes in the directories below it. Queued records are written and synced, leases are released and files are
     * closed. New objects for these volumes are stored on the other volumes. Reads through handles to objects of these
     * volumes fail. Never blocks; the stage is completed on a thread of the store.
     *
     * @param path the storage path as configured, or the directory of one share to take only that share offline
     * @param reason shown in the statistics
     * @return the paths of the changed volumes. Fails with an {@link IOException} that states the reason, or with
     *     {@link java.nio.file.NoSuchFileException} if no volume has that path
     */
    CompletionStage<List<Path>> offline(Path path, String reason);

    /**
     * Brings back a storage path and the shares below it. The path was taken offline, failed after errors, or could not
     * be opened at the start. A volume that was taken offline keeps its content, without the objects changed in the
     * meantime. This requires that no other store used it and that it did not miss too many changes. Every other volume
     * starts empty. Never blocks; the stage is completed on a thread of the store.
     *
     * @return as for {@link #offline}
     */
    CompletionStage<List<Path>> online(Path path);

    /**
     * Waits until all changes submitted before this call are appended and forced to the device. Blocks; not for event
     * loops.
     */
    void sync() throws IOException;

    /**
     * Writes and syncs queued records, marks the indexes clean and releases the lease. Writers in flight fail. Handles
     * that are still held keep their RAM; their disk reads fail. May block; not for event loops.
     */
    @Override
    void close() throws IOException;

    /**
     * Closes like {@link #close}, but frees no memory, because the process ends. To free a full RAM tier entry by entry
     * takes seconds of CPU time, which a successor needs for requests.
     */
    void closeBeforeExit() throws IOException;
}
