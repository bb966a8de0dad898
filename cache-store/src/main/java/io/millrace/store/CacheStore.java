package io.millrace.store;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A store of keyed objects in RAM and on disk. The disk space consists of volumes. Each volume is the whole or a part
 * of one storage path. The objects of a volume share its space: when it is full, its oldest segment is reclaimed.
 *
 * <p>A lookup takes up to three steps. {@link #get} searches the RAM tier and never blocks. {@link #contains} searches
 * the index of the disk and never blocks. If it returns true, {@link #open} reads the object on an I/O thread. Only one
 * store at a time may use a storage path. A second store that opens the path, in this or another process, fails with a
 * message that names the owner.
 *
 * <p>Thread-safe: every method may be called from any thread. Operations on a key are linearizable: each takes effect
 * at one instant between its call and its return. {@code open} takes effect at one instant between its call and its
 * reply.
 *
 * @param <H> the decoded head of an object: metadata of the caller that the store keeps with the body
 */
public interface CacheStore<H> extends Closeable {
    /** Returns the key of these bytes, which are copied. The length is at most {@link StoreKey#LENGTH_MAX}. */
    StoreKey key(byte[] bytes, int offset, int length);

    /** Returns the key of these bytes, which are copied. */
    default StoreKey key(byte[] bytes) {
        return key(bytes, 0, bytes.length);
    }

    /**
     * Returns a key that uses the array without a copy; the caller must not change the array afterwards. The length is
     * at most {@link StoreKey#LENGTH_MAX}.
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
     * damaged, or the index of a volume may be incomplete while it is rebuilt. Does not count as a request for the key.
     * Never blocks.
     */
    boolean contains(StoreKey key);

    /**
     * Counts a request for a key that the store does not contain. The admission policies of the volumes use the count.
     * Call it once for each request whose response is to be stored, before {@link #create}. No effect if the store
     * contains the key, because {@link #open} counts such a request. Never blocks.
     */
    void countMiss(StoreKey key);

    /**
     * Finds the object in RAM or on disk, and checks what it reads from disk: key, segment, sequence number and CRC32C.
     * A complete object that fits into the RAM tier is promoted to the RAM tier. The object may be partial
     * ({@link StoredObject#isComplete}). Replies null if the object is absent or damaged, or if the I/O queue is full.
     * Also replies null if the index of a volume was not ready within {@link StoreConfig#openWaitNanos}.
     */
    void open(StoreKey key, Executor replyOn, OpenCallback<H> reply);

    /**
     * Returns a writer of a new representation for the key. The object stored under the key remains until the writer
     * completes. Never blocks. After an I/O error it returns a writer that has already failed; it does not throw.
     */
    default ObjectWriter<H> create(StoreKey key) {
        return create(key, VolumeConfig.DEFAULT_NAME);
    }

    /**
     * Like {@link #create(StoreKey)}, but stores the object on the volumes with this name. If none of these volumes
     * works, the default volumes are used. Lookups need no volume name.
     */
    ObjectWriter<H> create(StoreKey key, String volumeName);

    /**
     * Returns a writer that adds body blocks to the object. The object is partial, or another writer is still filling
     * it. Any number of writers may extend an object concurrently, each on its own thread. Holders of the object can
     * read the added blocks. The writer fails, immediately or later, if the key no longer holds this object. There is
     * nothing to add to a complete object. Never blocks; borrows the object.
     */
    ObjectWriter<H> extend(StoredObject<H> object);

    /**
     * Replaces the head of the stored representation; the body remains. Writes one small record to disk, and takes
     * effect in RAM immediately. Ignored if the object was replaced or removed in the meantime. Handles that callers
     * already have keep the old head.
     */
    void update(StoredObject<H> object, H newHead);

    /**
     * Removes the object stored under the key, if any. After this method returns, no {@code get}, {@code contains} or
     * {@code open} finds the object, and writers in flight for the key have failed. The reply is sent when the
     * tombstone (the record of the removal) is appended to the log, so that the removal survives kill -9.
     */
    void remove(StoreKey key, Executor replyOn, RemoveCallback reply);

    /**
     * Removes this object from its key; an object that has replaced it in the meantime remains. The caller uses it for
     * an object that turns out to be unusable while it is read. Otherwise like {@link #remove}, without a reply.
     * Borrows the object.
     */
    void discard(StoredObject<H> object);

    /**
     * Aborts the writers in flight that fill a new representation for the key. The object itself and the writers that
     * {@link #extend} it are unaffected. After this method returns, none of the aborted writers completes.
     */
    void abortWriters(StoreKey key);

    /**
     * Lists the objects on one volume after another, each in the order in which its objects were written. Runs on the
     * inventory's thread, not on threads that serve requests. Objects that are only in RAM, or not on the volume yet,
     * are not listed. An object that is replaced or moved on its volume during a listing may be listed twice. Removed
     * objects are never listed.
     *
     * @param after {@link ListResult#next} of the previous call; null for the first call
     * @param visitor called for each object, on the inventory's thread
     * @throws IllegalArgumentException if {@code after} is not a value of {@link ListResult#next}
     */
    void list(@Nullable String after, ListVisitor visitor, Executor replyOn, ListCallback reply);

    /**
     * Returns the codec's summary of the object now under the key, in RAM or on a volume. Does not count as a
     * request for the object. Reads at most one head from disk. Called by a
     * {@link ListVisitor} only, on its thread.
     *
     * @return null if the key is not stored, or if its summary is not known
     */
    @Nullable
    HeadSummary summary(StoreKey key);

    /**
     * Visits the keys of all objects in memory. First come keys with writers in flight, then keys with changes that are
     * not on the volumes yet, then keys of the RAM tier. An object moves through these three places in this order.
     * Therefore a key that is in memory during the whole call is visited. Takes no lock; its duration is proportional
     * to the number of keys.
     */
    void visitMemory(MemoryKeyVisitor visitor);

    /**
     * Returns the journal, which holds the caller's durable entries. A store without volumes loses the journal when the
     * process ends.
     */
    Journal journal();

    /** Returns the current sizes of the inventory, the list of objects that {@link #list} reads. */
    InventoryStatistics inventory();

    /**
     * Returns current sizes, states and counters. Call it for a metrics scrape, not for every request: its cost is
     * proportional to the number of volumes.
     */
    StoreStatistics statistics();

    /**
     * Returns true if nearly all memory for reads from disk is in use. The memory contains data that was read and not
     * sent yet. Cheap; callable from any thread.
     */
    boolean isReadMemoryTight();

    /**
     * Releases the volumes: writes and syncs queued records, fails writers in flight, and releases the lease (the lock
     * by which this process owns the paths), so that another process may open the paths. Handles that callers already
     * have remain readable, and the RAM tier continues to answer. A new {@code open} of an object on disk replies null,
     * because another process may own the log now. May block; not for event loops.
     */
    void suspendWrites() throws IOException;

    /**
     * Releases the volumes like {@link #suspendWrites}, but objects on disk remain readable until {@code suspendWrites}
     * is called. Until that call, this store passes removals and journal entries to the successor, and the successor
     * overwrites nothing on the volumes. May block; not for event loops.
     *
     * @param successor receives the changes that this store can no longer make durable
     */
    void releaseWrites(Successor successor) throws IOException;

    /**
     * Applies a change that another store passed on: the predecessor by {@link Successor#apply}, or the successor by
     * {@link Predecessor#apply}. A store whose volumes are released passes it to its successor too.
     *
     * @param removing receives the key before its object is removed; not called for journal entries
     * @param reply called once, on any thread: null when the change is durable
     */
    void applyChange(byte[] change, Consumer<StoreKey> removing, Consumer<@Nullable IOException> reply);

    /**
     * Passes new removals and journal entries also to the predecessor: the store that released the volumes to this one,
     * and still answers requests. Replies wait until the predecessor has applied them.
     *
     * @param answering null if no predecessor answers requests any more
     */
    void predecessor(@Nullable Predecessor answering);

    /** The store that released the volumes to this one, and still answers requests. */
    @FunctionalInterface
    interface Predecessor {
        /**
         * Passes on a change that this store has accepted. Called on any thread of the store or of its callers; must
         * not block.
         *
         * @param change the encoded change, for {@link CacheStore#applyChange} of the predecessor; never modified
         * @return a stage that completes, normally or exceptionally, when the predecessor has applied the change or
         *     does not answer requests any more
         */
        CompletionStage<?> apply(byte[] change);
    }

    /**
     * Takes the volumes back after {@link #suspendWrites} or {@link #releaseWrites}. May block; not for event loops.
     *
     * @param unchanged true if no store served objects from the volumes in the meantime; the RAM tier then keeps its
     *     objects
     * @throws IOException if another store holds the lease; this store then remains suspended
     */
    void resumeWrites(boolean unchanged) throws IOException;

    /**
     * Sets the check whether a pinned object, which a volume keeps until a given time, must still be kept when the
     * oldest disk space is reclaimed. Before this call every pin applies.
     */
    void pinCheck(PinCheck<H> check);

    /**
     * Sets whether the RAM tier keeps every new object and evicts the least recently requested one, or admits and
     * evicts by frequency. A change scans all objects in RAM, on the calling thread.
     */
    void ramAdmitsAll(boolean all);

    /** Sets the rate of background verification in bytes of records per second, over all volumes; 0 to disable. */
    void scrubRate(long bytesPerSecond);

    /**
     * Starts the simulation of other sizes of the RAM tier, or ends it. If a simulation is already running, a start has
     * no effect. Uses at most 8 MiB of heap and one thread; while it is off it costs nothing.
     *
     * @param groupOf returns the group of a key, such as its host, by the key's bytes, which it must not change; null
     *     to end the simulation
     */
    void simulateSizes(@Nullable Function<byte[], String> groupOf);

    /** Returns the result of the simulation, at most two seconds old; null while it is off. */
    StoreStatistics.@Nullable HitRatioCurve curve();

    /**
     * Takes a storage path out of use until {@link #online} or the next start. A named volume may have a share of the
     * path, in a directory below the path. These shares are also taken out of use. Queued records are written and
     * synced, leases are released and files are closed. New objects for these volumes are stored on the other volumes.
     * Reads through handles to objects of these volumes fail. Never blocks; the stage is completed on a thread of the
     * store.
     *
     * @param path the storage path as configured, or the directory of one share to take only that share offline
     * @param reason shown in the statistics
     * @return the paths of the changed volumes. The stage fails with an {@link IOException} that states the reason. It
     *     fails with a {@link java.nio.file.NoSuchFileException} if no volume has that path
     */
    CompletionStage<List<Path>> offline(Path path, String reason);

    /**
     * Brings back a storage path and the shares below it. The path was taken offline, failed after errors, or could not
     * be opened at the start. A volume that was taken offline keeps its content, without the objects changed in the
     * meantime. It starts empty if another store used it, or if it missed too many changes. A volume that failed or
     * could not be opened also starts empty. Never blocks; the stage is completed on a thread of the store.
     *
     * @return the paths of the changed volumes; the stage fails as for {@link #offline}
     */
    CompletionStage<List<Path>> online(Path path);

    /**
     * Waits until all changes submitted before this call are appended and forced to the device. Blocks; not for event
     * loops.
     */
    void sync() throws IOException;

    /**
     * Writes and syncs queued records, marks the indexes clean and releases the lease. Writers in flight fail. Handles
     * that callers still hold keep their RAM, but their disk reads fail. May block; not for event loops.
     */
    @Override
    void close() throws IOException;

    /**
     * Closes the store like {@link #close}, but frees no memory, because the process ends. Freeing a full RAM tier
     * entry by entry takes seconds of CPU time, which a successor process needs for requests.
     */
    void closeBeforeExit() throws IOException;
}
