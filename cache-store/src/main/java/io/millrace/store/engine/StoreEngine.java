package io.millrace.store.engine;

import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hasher128;
import com.dynatrace.hash4j.hashing.Hashing;
import io.millrace.store.CacheStore;
import io.millrace.store.CorruptHeadException;
import io.millrace.store.HeadCodec;
import io.millrace.store.HeadSummary;
import io.millrace.store.InventoryStatistics;
import io.millrace.store.Journal;
import io.millrace.store.ListCallback;
import io.millrace.store.ListVisitor;
import io.millrace.store.MemoryKeyVisitor;
import io.millrace.store.ObjectWriter;
import io.millrace.store.OpenCallback;
import io.millrace.store.PinCheck;
import io.millrace.store.RemoveCallback;
import io.millrace.store.ResidentReader;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoreKey;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.Successor;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeListener;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordAppendCallback;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.engine.curve.CurveRecorder;
import io.millrace.store.engine.filling.BodyRegister;
import io.millrace.store.engine.filling.FillRegister;
import io.millrace.store.engine.listing.Inventories;
import io.millrace.store.engine.object.EncodedHeads;
import io.millrace.store.engine.object.HotPieces;
import io.millrace.store.engine.object.ObjectAppender;
import io.millrace.store.engine.object.ReadPool;
import io.millrace.store.engine.object.Replies;
import io.millrace.store.engine.object.ResidentObject;
import io.millrace.store.engine.object.StoreCounters;
import io.millrace.store.engine.object.StoreObject;
import io.millrace.store.engine.volume.PassedChange;
import io.millrace.store.engine.volume.StorageWatch;
import io.millrace.store.engine.volume.StoreJournal;
import io.millrace.store.engine.volume.VolumeGroup;
import io.millrace.store.engine.volume.VolumeSwitch;
import io.millrace.store.index.MappedIndex;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.SystemFileIo;
import io.millrace.store.memory.MemoryBudget;
import io.millrace.store.memory.RamTier;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The cache store: a RAM tier, the volumes, and the changes pending between them.
 *
 * <pre>
 *   caller ── complete/update/remove ──> pending changes ── one task each ──> volume's thread: log, then index
 *     │                                        │
 *     └─ get/contains/open ──> RAM tier ──> pending changes ──> index ── I/O thread ──> record
 * </pre>
 *
 * <p>Thread-safe.
 */
public final class StoreEngine<H> implements CacheStore<H> {
    /** Interval of the tasks that adjust the RAM tier to the memory in use. */
    private static final long RAM_RESIZE_NANOS = 500_000_000;
    /** Interval of the checks for volume files that were deleted or replaced. */
    private static final long STORAGE_WATCH_NANOS = TimeUnit.SECONDS.toNanos(10);
    /**
     * RAM hits per index update after the hit counter in the index is saturated. Until then each hit updates the index.
     */
    private static final int RAM_HITS_PER_INDEX_UPDATE = 8;

    private final StoreMemory memory;
    private final StoreCounters counters = new StoreCounters();
    private final ReadPool reads;
    private final Housekeeping housekeeping;
    private final RamTier<ResidentObject<H>> ram;
    private final EncodedHeads<H> heads;
    private final HotPieces pieces;
    private final StoreJournal journal;
    private final VolumeGroup volumes;
    private final VolumeForcing forcing;
    private final VolumeSwitch volumeSwitch;
    private final Inventories<H> inventories;
    private final WaitingOpens waiting;
    private final ObjectChanges<H> changes;
    private final ObjectOpening<H> opening;
    private final WriterFactory<H> writers;
    private final VolumeCommands commands;
    private final HotSet<H> hot;
    private final Scrubber scrubber;
    private final CurveRecorder curve;
    private final Hasher128 hasher;
    private final ReentrantLock lifeCycle = new ReentrantLock();

    /**
     * Opens the volumes, creates missing ones, and starts the I/O threads. A volume that cannot be opened because of an
     * I/O error is reported offline and not used. If no volume is left, the store works in RAM only.
     *
     * @throws IOException if another store holds the lease of one of the paths; the message names the path and, if
     *     known, the process that holds the lease
     */
    public static <H> CacheStore<H> open(StoreConfig config, HeadCodec<H> codec) throws IOException {
        return new StoreEngine<>(config, codec, new SystemFileIo());
    }

    StoreEngine(StoreConfig config, HeadCodec<H> codec, FileIo io) throws IOException {
        memory = new StoreMemory(config);
        reads = new ReadPool(config.ioThreads(), counters, memory.budget());
        housekeeping = new Housekeeping();
        ram = RamTier.withCompactEntries(
                config.ramBytes(), memory.budget(), this::runPolicyTask, memory.filling(), ResidentObject::new);
        heads = new EncodedHeads<>(codec, ram, config.ramObjectBytesMax());
        pieces = new HotPieces(config.ramBytes(), memory.budget(), this::runPolicyTask);
        journal = new StoreJournal(io, !config.volumes().isEmpty());
        volumes = new VolumeGroup(io, config, memory.reading(), journal, new VolumeEvents());
        forcing = new VolumeForcing(volumes, reads, counters);
        volumeSwitch = new VolumeSwitch(volumes);
        ram.onHit(this::hitInRam);
        ram.admitAll(config.ramAdmitsAll());
        curve = new CurveRecorder(ram, counters.ramHits::sum);
        FillRegister fills = new FillRegister();
        BodyRegister<H> bodies = new BodyRegister<>(fills, memory.filling(), reads);
        ObjectLoader<H> loader =
                new ObjectLoader<>(codec, memory.reading(), reads, pieces, config.ramObjectBytesMax(), bodies);
        ObjectAppender<H> appender = new ObjectAppender<>(codec, memory.writing());
        changes = new ObjectChanges<>(
                config, codec, counters, memory.budget(), ram, heads, volumes, loader, appender, fills);
        waiting = new WaitingOpens(housekeeping, config.openWaitNanos());
        opening = new ObjectOpening<>(
                config, counters, memory.budget(), ram, volumes, loader, changes, reads, waiting, this::inRam);
        commands = new VolumeCommands(lifeCycle, changes);
        inventories = new Inventories<>(
                io, codec, reasonWithoutInventory(config), config.inventoryDelayNanos(), config.inventoryRetryNanos());
        hot = new HotSet<>(io, config, counters, ram, volumes, reads, housekeeping, this::loadHot);
        scrubber = new Scrubber(volumes, reads, housekeeping, counters, () -> System.currentTimeMillis() / 1000);
        scrubber.rate(config.scrubBytesPerSecond());
        boolean opened = false;
        try {
            volumes.open();
            addInventories();
            opened = true;
        } finally {
            if (!opened) {
                inventories.close();
                reads.close();
                housekeeping.close();
            }
        }
        hasher = Hashing.xxh3_128(volumes.hashSeed());
        writers = new WriterFactory<>(config, changes, volumes, bodies);
        writers.storeOpened();
        housekeeping.every(config.syncIntervalNanos(), forcing::forceAllSoon);
        scrubber.start();
        housekeeping.every(config.syncIntervalNanos(), () -> reads.execute(volumes::shortenReaderLists));
        StorageWatch watch = new StorageWatch(io, volumes);
        watch.check();
        housekeeping.every(STORAGE_WATCH_NANOS, () -> reads.execute(watch::check));
        housekeeping.every(RAM_RESIZE_NANOS, ram::resize);
        housekeeping.every(RAM_RESIZE_NANOS, () -> memory.warnOfFullHeap(ram));
        housekeeping.every(RAM_RESIZE_NANOS, pieces::restoreLimit);
        hot.start();
    }

    /**
     * Returns the reason why the store has no inventory (table of stored objects for listings); null if the inventory
     * exists.
     */
    private static @Nullable String reasonWithoutInventory(StoreConfig config) {
        if (config.volumes().isEmpty()) {
            return "no storage volumes are configured; objects that are only in RAM are not listed";
        }
        return config.inventoryDelayNanos() < 0 ? "the inventory is turned off" : null;
    }

    /**
     * Runs a task of the RAM tier's eviction policy. If the caller is an I/O thread, the task runs there, which costs
     * less than waking the housekeeping thread.
     */
    private void runPolicyTask(Runnable task) {
        if (ReadPool.isReadThread()) {
            housekeeping.executeHere(task);
        } else {
            housekeeping.execute(task);
        }
    }

    private void addInventories() {
        for (VolumeGroup.Slot slot : volumes.slots()) {
            if (slot.volume() != null) {
                inventories.add(slot.volume());
            }
        }
    }

    VolumeGroup volumes() {
        return volumes;
    }

    private final class VolumeEvents implements VolumeListener {
        @Override
        public void forceDue(Volume volume) {
            forcing.forceSoon(volume);
        }

        @Override
        public void opened(Volume volume) {
            waiting.indexChanged();
        }

        @Override
        public void offline(Volume volume) {
            volumes.recordMemberLoss(volume);
            waiting.indexChanged();
        }

        @Override
        @SuppressWarnings("unchecked") // only this store's objects are appended here
        public void stored(
                Volume volume,
                RecordHeader header,
                DiskKey key,
                long location,
                @Nullable RecordAppendCallback receiver,
                @Nullable ByteBuf encodedHead) {
            H head = receiver instanceof ObjectStoring<?> change ? (H) change.head() : null;
            inventories.stored(volume, header, key, location, head, encodedHead);
        }

        @Override
        public void stopping(Volume volume, boolean closed) {
            inventories.stopping(volume);
        }
    }

    @Override
    public StoreKey key(byte[] bytes, int offset, int length) {
        requireLength(length);
        return keyOver(Arrays.copyOfRange(bytes, offset, offset + length));
    }

    @Override
    public StoreKey keyOver(byte[] bytes) {
        requireLength(bytes.length);
        HashValue128 hash = hasher.hashBytesTo128Bits(bytes);
        return new StoreKey(bytes, hash.getMostSignificantBits(), hash.getLeastSignificantBits());
    }

    private static void requireLength(int length) {
        if (length > StoreKey.LENGTH_MAX) {
            throw new IllegalArgumentException("key of " + length + " bytes, limit=" + StoreKey.LENGTH_MAX);
        }
    }

    @Override
    public @Nullable StoredObject<H> get(StoreKey key) {
        ResidentObject<H> object = changes.isClosed() ? null : decoded(ram.get(key.hashLow(), key.bytes()));
        (object == null ? counters.ramMisses : counters.ramHits).increment();
        return object;
    }

    /** Returns the given object if its head can be decoded. Otherwise releases the object and returns null. */
    private @Nullable ResidentObject<H> decoded(@Nullable ResidentObject<H> object) {
        if (object == null || heads.ensureDecoded(object)) {
            return object;
        }
        object.release();
        return null;
    }

    @Override
    public ResidentReader<H> residentReader() {
        return new RamReader<>(ram, heads, counters, changes);
    }

    @Override
    public boolean isInRam(StoreKey key) {
        return !changes.isClosed() && ram.contains(key.hashLow(), key.bytes());
    }

    /**
     * Counts a RAM hit in the index of the object's volume too. Without this count, the reclaimer could drop the disk
     * copy of an object that clients request from RAM. The object would then be lost when RAM evicts it. Never called
     * on an event loop.
     *
     * @param hits hits of the object in RAM so far
     */
    private void hitInRam(ResidentObject<H> object, int hits) {
        volumes.policies().recordRequest(object.volume(), object.hashLow());
        if (hits > MappedIndex.HITS_MAX && hits % RAM_HITS_PER_INDEX_UPDATE != 0) {
            return;
        }
        Volume volume = volumes.working(object.volume());
        if (volume != null) {
            volume.hit(object.hashHigh(), object.hashLow());
        }
    }

    @Override
    public boolean contains(StoreKey key) {
        if (changes.isClosed()) {
            return false;
        }
        PendingChange<H> change = changes.pending(key);
        if (change != null) {
            return change.object() != null;
        }
        return ram.contains(key.hashLow(), key.bytes()) || volumes.mayHold(key);
    }

    @Override
    public void countMiss(StoreKey key) {
        if (!contains(key)) {
            volumes.recordRequest(key);
        }
    }

    @Override
    public void open(StoreKey key, Executor replyOn, OpenCallback<H> reply) {
        if (changes.isClosed()) {
            Replies.opened(replyOn, reply, null);
            return;
        }
        PendingChange<H> change = changes.pending(key);
        StoreObject<H> inMemory =
                change == null ? decoded(ram.get(key.hashLow(), key.bytes())) : changes.retained(change);
        if (change != null) {
            volumes.recordRequest(key);
        }
        if (inMemory != null || (change != null && change.object() == null)) {
            Replies.opened(replyOn, reply, inMemory);
        } else {
            opening.start(key, replyOn, reply);
        }
    }

    /**
     * Returns the key's object in RAM, retained. Returns null if there is none, or if a change of the key is pending.
     */
    private @Nullable StoreObject<H> inRam(StoreKey key) {
        return changes.isClosed() || changes.pending(key) != null ? null : decoded(ram.get(key.hashLow(), key.bytes()));
    }

    /** Implements {@link HotSet.Loader#load}. */
    private @Nullable StoreObject<H> loadHot(byte[] bytes, long hashHigh, long hashLow) {
        StoreKey key = key(bytes);
        return key.hashHigh() == hashHigh && key.hashLow() == hashLow ? opening.loadForRam(key) : null;
    }

    @Override
    public ObjectWriter<H> create(StoreKey key, String volumeName) {
        return create(key, volumeName, 0);
    }

    /**
     * Like {@link #create(StoreKey, String)}, but with a body length that is always accepted.
     *
     * @param bodyBytesMin body length in bytes that is accepted even on a small volume
     */
    ObjectWriter<H> create(StoreKey key, String volumeName, long bodyBytesMin) {
        return writers.create(key, volumeName, bodyBytesMin);
    }

    @Override
    public ObjectWriter<H> extend(StoredObject<H> object) {
        return writers.extend(object);
    }

    @Override
    public void update(StoredObject<H> object, H newHead) {
        changes.heads().update(object, newHead);
    }

    @Override
    public void remove(StoreKey key, Executor replyOn, RemoveCallback reply) {
        changes.remove(key, replyOn, reply);
    }

    @Override
    public void discard(StoredObject<H> object) {
        changes.discard(object);
    }

    @Override
    public void abortWriters(StoreKey key) {
        changes.abortWriters(key);
    }

    @Override
    public void visitMemory(MemoryKeyVisitor visitor) {
        changes.fills().forEachKey(key -> visitor.key(key.bytes(), true));
        changes.forEachPendingKey(key -> visitor.key(key.bytes(), false));
        ram.forEachKey(bytes -> visitor.key(bytes, false));
    }

    @Override
    public void list(@Nullable String after, ListVisitor visitor, Executor replyOn, ListCallback reply) {
        inventories.list(after, visitor, replyOn, reply);
    }

    @Override
    public @Nullable HeadSummary summary(StoreKey key) {
        if (changes.isClosed() || !contains(key)) {
            return null;
        }
        HeadSummary inRam = changes.residentSummary(key);
        return inRam != null ? inRam : inventories.summary(key);
    }

    @Override
    public Journal journal() {
        return journal;
    }

    @Override
    public InventoryStatistics inventory() {
        return inventories.statistics();
    }

    @Override
    public boolean isReadMemoryTight() {
        return memory.budget().isTight(MemoryBudget.Part.READING);
    }

    @Override
    public StoreStatistics statistics() {
        return StatisticsView.of(ram, pieces, memory, volumes, counters);
    }

    @Override
    public void suspendWrites() throws IOException {
        lifeCycle.lock();
        try {
            releaseWrites(StoreEngine::refuse);
            if (!changes.isClosed()) {
                volumes.endReads();
            }
        } finally {
            lifeCycle.unlock();
        }
    }

    /** Implements {@link Successor#apply} for volumes without a known successor: refuses each change. */
    static void refuse(byte[] change, Consumer<@Nullable IOException> reply) {
        reply.accept(new IOException("the volumes are being handed over to another worker; try again"));
    }

    @Override
    public void releaseWrites(Successor successor) throws IOException {
        lifeCycle.lock();
        try {
            if (!changes.isSuspended() && !changes.isClosed()) {
                hot.handOver();
                changes.suspend(successor);
                journal.setSuccessor(successor);
                volumes.release();
            }
        } finally {
            lifeCycle.unlock();
        }
    }

    @Override
    public void applyChange(byte[] change, Consumer<StoreKey> removing, Consumer<@Nullable IOException> reply) {
        if (PassedChange.isRemoval(change)) {
            StoreKey key = keyOver(PassedChange.key(change));
            removing.accept(key);
            // remove() would pass the removal back to a predecessor that sent it.
            changes.removeHere(key, (present, failure) -> reply.accept(failure));
        } else if (PassedChange.isEntry(change)) {
            journal.append(PassedChange.entryOf(change), reply);
        } else {
            reply.accept(new IOException("unknown kind of change from another worker"));
        }
    }

    @Override
    public void predecessor(@Nullable Predecessor answering) {
        changes.predecessor(answering);
        journal.predecessor(answering);
    }

    @Override
    public void resumeWrites(boolean unchanged) throws IOException {
        lifeCycle.lock();
        try {
            if (!changes.isSuspended() || changes.isClosed()) {
                return;
            }
            if (volumes.isConfigured() && !volumes.reopen() && !unchanged) {
                // Another store had the volumes and may have removed or replaced objects that are in RAM here.
                ram.clear();
            }
            addInventories();
            writers.storeOpened();
            changes.resume();
            journal.resume();
            hot.resume();
        } finally {
            lifeCycle.unlock();
        }
    }

    @Override
    public void pinCheck(PinCheck<H> check) {
        HeadCodec<H> codec = changes.codec();
        volumes.policies().pinCheck((key, head) -> {
            try {
                return check.staysPinned(key, codec.decode(head));
            } catch (CorruptHeadException | RuntimeException e) {
                // The next open of the object detects the corrupt head.
                return true;
            }
        });
    }

    @Override
    public void ramAdmitsAll(boolean all) {
        ram.admitAll(all);
    }

    @Override
    public void scrubRate(long bytesPerSecond) {
        scrubber.rate(bytesPerSecond);
    }

    @Override
    public void simulateSizes(@Nullable Function<byte[], String> groupOf) {
        curve.simulate(groupOf);
    }

    @Override
    public StoreStatistics.@Nullable HitRatioCurve curve() {
        return curve.report();
    }

    @Override
    public CompletionStage<List<Path>> offline(Path path, String reason) {
        return commands.run(() -> volumeSwitch.takeOut(path, reason));
    }

    @Override
    public CompletionStage<List<Path>> online(Path path) {
        return commands.run(() -> {
            try {
                return volumeSwitch.bringBack(path);
            } finally {
                addInventories();
            }
        });
    }

    @Override
    public void sync() throws IOException {
        ram.drainHits();
        pieces.drainHits();
        forcing.drainAndForce();
    }

    @Override
    public void close() throws IOException {
        close(true);
    }

    @Override
    public void closeBeforeExit() throws IOException {
        close(false);
    }

    private void close(boolean freesMemory) throws IOException {
        lifeCycle.lock();
        try {
            if (changes.isClosed()) {
                return;
            }
            changes.close();
            curve.simulate(null);
            waiting.close();
            try {
                reads.close();
            } finally {
                if (!changes.isSuspended()) {
                    hot.save();
                }
                if (freesMemory) {
                    ram.clear();
                    pieces.clear();
                }
                // Threads that outlive the store may reference entries, and entries reference the RAM tier. The empty
                // callback removes the reference from the RAM tier to the store, so that the store can be collected.
                ram.onHit((object, hits) -> {});
                housekeeping.close();
                try {
                    volumes.close(changes.isSuspended());
                } finally {
                    inventories.close();
                    memory.close();
                }
            }
        } finally {
            lifeCycle.unlock();
        }
    }
}
