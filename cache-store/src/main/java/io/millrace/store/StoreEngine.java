package io.millrace.store;

import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hasher128;
import com.dynatrace.hash4j.hashing.Hashing;
import io.millrace.store.disk.BodyPlace;
import io.millrace.store.disk.DamagedRecordException;
import io.millrace.store.disk.DiskKey;
import io.millrace.store.disk.Volume;
import io.millrace.store.index.Location;
import io.millrace.store.io.FileIo;
import io.millrace.store.memory.RamTier;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The store: RAM tier, volumes, and what is between them.
 *
 * <pre>
 *   caller ── complete/update/remove ──> pending changes ── one task each ──> volume's thread: log, then index
 *     │                                        │
 *     └─ get/contains/open ──> RAM tier ──> pending changes ──> index ── I/O thread ──> record
 * </pre>
 *
 * <p>The index of a volume knows a change only when the log has it. Until then the change stands in {@link #pending},
 * which every lookup asks first. All changes of one key are made inside {@code pending.compute(key)}, which orders them,
 * and are queued to the volume there, so that memory, log and index see them in the same order. A pending change is
 * taken out by the task that applied it, unless a newer one has taken its place.
 *
 * <p>Writers in flight are found by a stamp, not by a list: a removal raises the stamp of its key (striped: some other
 * key's writer may fail with it, which costs that object its place in the cache and nothing else).
 *
 * <p>Thread-safe.
 */
final class StoreEngine<H> implements CacheStore<H> {
    private static final int STAMPS = 1 << 14;
    /** Bits of an object id that count within one opening of the store; the rest counts openings. */
    private static final int OBJECT_ID_BITS = 40;

    private static final int LOAD_TRIES = 3;
    /** Removals made while the volumes are handed over, remembered until they are back. */
    private static final int DEFERRED_REMOVALS_MAX = 1 << 16;

    private final StoreConfig config;
    private final HeadCodec<H> codec;
    private final ByteBufAllocator allocator;
    private final StoreCounters counters = new StoreCounters();
    private final ConcurrentHashMap<StoreKey, PendingChange<H>> pending = new ConcurrentHashMap<>();
    private final AtomicLongArray stamps = new AtomicLongArray(STAMPS);
    private final AtomicLong objectIds;
    private final ReadPool reads;
    private final Housekeeping housekeeping;
    private final RamTier<ResidentObject<H>> ram;
    private final VolumeGroup volumes;
    private final ObjectLoader<H> loader;
    private final WaitingOpens waiting;
    private final Hasher128 hasher;
    private final ReentrantLock lifeCycle = new ReentrantLock();
    private volatile boolean suspended;
    private volatile boolean closed;

    /** What a change does to a volume's log and index, on the volume's thread. */
    @FunctionalInterface
    interface VolumeWrite {
        void apply(Volume volume) throws IOException;
    }

    StoreEngine(StoreConfig config, HeadCodec<H> codec, FileIo io) throws IOException {
        this.config = config;
        this.codec = codec;
        ByteBufAllocator given = config.allocator();
        allocator = given != null ? given : ownAllocator();
        reads = new ReadPool(config.ioThreads(), counters);
        housekeeping = new Housekeeping();
        ram = new RamTier<>(config.ramBytes(), housekeeping);
        volumes = new VolumeGroup(io, config, allocator, new VolumeListener());
        loader = new ObjectLoader<>(codec, allocator, reads, config.ramObjectBytesMax());
        waiting = new WaitingOpens(housekeeping, config.openWaitNanos());
        boolean opened = false;
        try {
            volumes.open();
            opened = true;
        } finally {
            if (!opened) {
                reads.close();
                housekeeping.close();
            }
        }
        hasher = Hashing.xxh3_128(volumes.hashSeed());
        objectIds = new AtomicLong(volumes.openCount() << OBJECT_ID_BITS);
        housekeeping.every(config.syncIntervalNanos(), this::forceSoon);
    }

    /** Direct memory of the store's own, without thread caches: what one thread puts in another takes out. */
    private static ByteBufAllocator ownAllocator() {
        int arenas = Math.max(2, Runtime.getRuntime().availableProcessors());
        return new PooledByteBufAllocator(true, 0, arenas, 8192, 9, 0, 0, false);
    }

    private final class VolumeListener implements Volume.Listener {
        @Override
        public void segmentSealed(Volume volume) {
            forceSoon(volume);
        }

        @Override
        public void opened(Volume volume) {
            waiting.retry();
        }

        @Override
        public void offline(Volume volume) {
            volumes.lost(volume);
            waiting.retry();
        }
    }

    StoreConfig config() {
        return config;
    }

    HeadCodec<H> codec() {
        return codec;
    }

    StoreCounters counters() {
        return counters;
    }

    @Override
    public StoreKey key(byte[] bytes, int offset, int length) {
        if (length > StoreKey.LENGTH_MAX) {
            throw new IllegalArgumentException("key of " + length + " bytes, limit=" + StoreKey.LENGTH_MAX);
        }
        byte[] copy = Arrays.copyOfRange(bytes, offset, offset + length);
        HashValue128 hash = hasher.hashBytesTo128Bits(copy);
        return new StoreKey(copy, hash.getMostSignificantBits(), hash.getLeastSignificantBits());
    }

    private static DiskKey diskKey(StoreKey key) {
        return new DiskKey(key.bytes(), key.hashHigh(), key.hashLow());
    }

    private static int stampOf(StoreKey key) {
        return (int) (key.hashHigh() >>> 40) & (STAMPS - 1);
    }

    boolean isInvalidated(FillTarget target) {
        return stamps.get(stampOf(target.key())) != target.stamp();
    }

    @Override
    public @Nullable StoredObject<H> get(StoreKey key) {
        ResidentObject<H> object = closed ? null : ram.get(key.hashLow(), key.bytes());
        (object == null ? counters.ramMisses : counters.ramHits).increment();
        return object;
    }

    @Override
    public boolean contains(StoreKey key) {
        if (closed) {
            return false;
        }
        PendingChange<H> change = pending.get(key);
        if (change != null) {
            return change.object() != null;
        }
        return ram.peek(key.hashLow(), key.bytes()) != null || volumes.mayHold(key);
    }

    @Override
    public void open(StoreKey key, Executor replyOn, OpenCallback<H> reply) {
        if (closed) {
            Replies.opened(replyOn, reply, null);
            return;
        }
        PendingChange<H> change = pending.get(key);
        StoreObject<H> known = change == null ? ram.get(key.hashLow(), key.bytes()) : retained(change);
        if (known != null || (change != null && change.object() == null)) {
            Replies.opened(replyOn, reply, known);
        } else if (!reads.execute(() -> openNow(key, replyOn, reply))) {
            counters.opensRefused.increment();
            Replies.opened(replyOn, reply, null);
        }
    }

    private @Nullable StoreObject<H> retained(PendingChange<H> change) {
        StoreObject<H> object = change.object();
        return object != null && object.tryRetain() ? object : null;
    }

    /** On an I/O thread. */
    private void openNow(StoreKey key, Executor replyOn, OpenCallback<H> reply) {
        StoreObject<H> found = load(key);
        if (found == null && volumes.isOpening() && !suspended) {
            boolean waits = waiting.add(
                    () -> {
                        if (!reads.execute(() -> answer(load(key), replyOn, reply))) {
                            answer(null, replyOn, reply);
                        }
                    },
                    () -> {
                        counters.opensRefused.increment();
                        answer(null, replyOn, reply);
                    });
            if (waits) {
                if (!volumes.isOpening()) {
                    // It became whole just before it was told of this one.
                    waiting.retry();
                }
                return;
            }
        }
        answer(found, replyOn, reply);
    }

    private void answer(@Nullable StoreObject<H> found, Executor replyOn, OpenCallback<H> reply) {
        (found == null ? counters.diskMisses : counters.diskHits).increment();
        Replies.opened(replyOn, reply, found);
    }

    private @Nullable StoreObject<H> load(StoreKey key) {
        int home = volumes.home(key);
        int count = volumes.slots().length;
        for (int i = 0; i < count; i++) {
            // The home first, then the others in order.
            int number = i == 0 ? home : i <= home ? i - 1 : i;
            Volume volume = volumes.working(number);
            if (volume == null) {
                continue;
            }
            long location = volume.find(key.hashHigh(), key.hashLow());
            for (int tries = 0; location != Location.NONE && tries < LOAD_TRIES; tries++) {
                StoreObject<H> found = load(volume, number, location, key);
                long now = volume.find(key.hashHigh(), key.hashLow());
                if (found != null) {
                    return found;
                }
                // A new head may have been appended, and the old one's segment given up, in between.
                location = now == location ? Location.NONE : now;
            }
        }
        return null;
    }

    private @Nullable StoreObject<H> load(Volume volume, int number, long location, StoreKey key) {
        StoreObject<H> object = null;
        try {
            object = loader.load(volume, number, location, key);
        } catch (DamagedRecordException e) {
            counters.recordsDamaged.increment();
            volume.execute(() -> volume.drop(diskKey(key), location));
        } catch (IOException e) {
            volume.failed(e);
        }
        return object == null ? null : promote(volume, location, object);
    }

    /** Keeps in RAM what was read, unless it is no longer what the key holds; answers with what the key holds. */
    private @Nullable StoreObject<H> promote(Volume volume, long location, StoreObject<H> object) {
        StoreKey key = object.key();
        List<@Nullable StoreObject<H>> result = new ArrayList<>(1);
        pending.compute(key, (k, change) -> {
            if (change != null) {
                result.add(retained(change));
            } else {
                boolean current = volume.find(key.hashHigh(), key.hashLow()) == location;
                if (current
                        && object instanceof ResidentObject<H> resident
                        && resident.length() <= config.ramObjectBytesMax()
                        && ram.peek(key.hashLow(), key.bytes()) == null) {
                    ram.put(resident);
                }
                object.tryRetain();
                result.add(object);
            }
            return change;
        });
        object.release();
        volume.hit(key.hashHigh(), key.hashLow());
        return result.get(0);
    }

    @Override
    public ObjectWriter<H> create(StoreKey key) {
        long stamp = stamps.get(stampOf(key));
        int home = suspended || closed ? StoreObject.NO_VOLUME : volumes.home(key);
        Volume volume = volumes.working(home);
        ObjectPlace place = ObjectPlace.unwritten(objectIds.incrementAndGet(), home);
        FillTarget target;
        BlockMap blocks = null;
        if (closed || (suspended && volumes.isConfigured())) {
            target = new FillTarget(key, stamp, null, config.blockBytes(), -1);
        } else if (volume == null) {
            int most = (int) Math.min(config.ramObjectBytesMax(), config.objectBytesMax());
            target = new FillTarget(key, stamp, null, Math.max(1, most), most);
        } else {
            int fits = Integer.highestOneBit(volume.recordLengthMax() / 2);
            int blockBytes = Math.min(config.blockBytes(), fits);
            long most = Math.min(config.objectBytesMax(), volume.bytesMax() / 4);
            target = new FillTarget(key, stamp, volume, blockBytes, most);
            blocks = BlockMap.ofBlocks(volume, place.objectId(), blockBytes);
        }
        FillingObject<H> object = new FillingObject<>(key, place, blocks, target.blockBytes(), allocator, reads);
        return new FillWriter<>(this, target, object, blocks);
    }

    /**
     * Makes the object what its key holds, unless the key was removed since the fill began.
     *
     * @return whether it did
     */
    boolean publish(FillTarget target, StoreObject<H> object, VolumeWrite write) {
        StoreKey key = target.key();
        boolean[] done = {false};
        pending.compute(key, (k, before) -> {
            if (isInvalidated(target) || closed) {
                return before;
            }
            PendingChange<H> change = null;
            Volume volume = target.volume();
            if (volume != null) {
                object.tryRetain();
                change = PendingChange.stored(object);
                if (!enqueue(volume, key, change, write)) {
                    change.release();
                    return before;
                }
            }
            hideElsewhere(key, volume);
            if (object instanceof ResidentObject<H> resident && resident.length() <= config.ramObjectBytesMax()) {
                ram.put(resident);
            } else {
                ram.remove(key.hashLow(), key.bytes());
            }
            done[0] = true;
            return change;
        });
        return done[0];
    }

    /** What other volumes hold of the key is superseded. */
    private void hideElsewhere(StoreKey key, @Nullable Volume volume) {
        if (volumes.slots().length < 2) {
            return;
        }
        for (VolumeGroup.Slot slot : volumes.slots()) {
            Volume other = slot.volume();
            if (other != null && other != volume && other.mayHold(key.hashHigh(), key.hashLow())) {
                other.execute(() -> {
                    try {
                        other.appendTombstone(diskKey(key));
                    } catch (IOException e) {
                        other.forget(diskKey(key));
                    }
                });
            }
        }
    }

    /** Queues the write that settles the change; false when it was not taken. */
    private boolean enqueue(Volume volume, StoreKey key, PendingChange<H> change, VolumeWrite write) {
        StoreObject<H> object = change.object();
        long bytes = object == null ? 0 : Math.max(0, object.length());
        if (volume.queuedBytes() > 2 * config.writeQueueBytesMax()) {
            return false;
        }
        volume.queued(bytes);
        boolean taken = volume.execute(() -> {
            try {
                write.apply(volume);
            } catch (IOException e) {
                counters.writesFailed.increment();
                // What was there before is superseded all the same.
                volume.forget(diskKey(key));
            } finally {
                volume.queued(-bytes);
                pending.remove(key, change);
                change.release();
            }
        });
        if (!taken) {
            volume.queued(-bytes);
        }
        return taken;
    }

    /** On the volume's thread. */
    void appendComplete(Volume volume, ResidentObject<H> object) throws IOException {
        ByteBuf head = encode(object.head());
        try {
            volume.appendComplete(
                    diskKey(object.key()), object.objectId(), expiry(object.head()), head, object.content());
        } finally {
            head.release();
        }
    }

    /** On the volume's thread. */
    void appendHead(Volume volume, StoreObject<H> object, H head, BodyPlace body) throws IOException {
        ByteBuf encoded = encode(head);
        try {
            volume.appendHead(diskKey(object.key()), object.objectId(), expiry(head), encoded, body);
        } finally {
            encoded.release();
        }
    }

    private ByteBuf encode(H head) throws IOException {
        ByteBuf out = allocator.directBuffer(512);
        boolean kept = false;
        try {
            codec.encode(head, out);
            if (out.readableBytes() > HeadCodec.LENGTH_MAX) {
                throw new CorruptHeadException(
                        "head of " + out.readableBytes() + " bytes, limit=" + HeadCodec.LENGTH_MAX);
            }
            kept = true;
            return out;
        } catch (RuntimeException e) {
            throw new IOException("head cannot be encoded", e);
        } finally {
            if (!kept) {
                out.release();
            }
        }
    }

    private int expiry(H head) {
        return (int) Math.max(0, Math.min(codec.expiresAtSeconds(head), 0xFFFF_FFFFL));
    }

    @Override
    public void update(StoredObject<H> object, H newHead) {
        if (!(object instanceof StoreObject<H> given)) {
            throw new IllegalArgumentException("not an object of this store: " + object);
        }
        StoreKey key = given.key();
        pending.compute(key, (k, before) -> {
            if (closed) {
                return before;
            }
            StoreObject<H> current = before != null ? before.object() : ram.peek(key.hashLow(), key.bytes());
            boolean other = current != null && current.objectId() != given.objectId();
            if (other || (before != null && current == null)) {
                return before;
            }
            counters.updates.increment();
            return updateCurrent(key, given, before, current, newHead);
        });
    }

    private @Nullable PendingChange<H> updateCurrent(
            StoreKey key,
            StoreObject<H> given,
            @Nullable PendingChange<H> before,
            @Nullable StoreObject<H> current,
            H newHead) {
        Volume volume = volumes.working(given.volume());
        StoreObject<H> updated = withHead(key, given, current, volume, newHead);
        if (updated instanceof ResidentObject<H> resident && ram.peek(key.hashLow(), key.bytes()) != null) {
            ram.put(resident);
        }
        if (volume == null) {
            if (updated != null) {
                updated.release();
            }
            return before;
        }
        VolumeWrite write = working -> {
            BodyPlace body = loader.bodyPlace(working, key, given.objectId());
            if (body != null) {
                appendHead(working, given, newHead, body);
            }
        };
        if (updated == null) {
            enqueueUpdate(volume, write);
            return before;
        }
        PendingChange<H> change = PendingChange.stored(updated);
        if (!enqueue(volume, key, change, write)) {
            change.release();
            return before;
        }
        return change;
    }

    /** What the key holds with the new head, to be released; null when it cannot be told without asking the disk. */
    private @Nullable StoreObject<H> withHead(
            StoreKey key, StoreObject<H> given, @Nullable StoreObject<H> current, @Nullable Volume volume, H newHead) {
        StoreObject<H> base = current;
        if (base == null) {
            boolean unchanged = volume != null
                    && given.location() != Location.NONE
                    && volume.find(key.hashHigh(), key.hashLow()) == given.location();
            base = unchanged ? given : null;
        }
        if (base == null || !base.tryRetain()) {
            return null;
        }
        StoreObject<H> updated = base.withHead(newHead, codec.heapBytes(newHead));
        if (updated == null && base instanceof FillingObject<H> filling) {
            filling.head(newHead, filling.length());
            return filling;
        }
        base.release();
        return updated;
    }

    /** An update that shows when it is appended. */
    private void enqueueUpdate(Volume volume, VolumeWrite write) {
        volume.execute(() -> {
            try {
                write.apply(volume);
            } catch (IOException e) {
                counters.writesFailed.increment();
            }
        });
    }

    @Override
    public void remove(StoreKey key, Executor replyOn, RemoveCallback reply) {
        counters.removals.increment();
        Removal<H> removal = new Removal<>(pending, key, replyOn, reply);
        pending.compute(key, (k, before) -> removeNow(key, removal, before));
        removal.done();
    }

    private @Nullable PendingChange<H> removeNow(StoreKey key, Removal<H> removal, @Nullable PendingChange<H> before) {
        stamps.incrementAndGet(stampOf(key));
        boolean inRam = ram.remove(key.hashLow(), key.bytes());
        if (inRam || (before != null && before.object() != null)) {
            removal.wasPresent();
        }
        if (volumes.isConfigured() && (suspended || closed)) {
            removal.refuse(new IOException("the volumes are handed over"));
            return pending.size() < DEFERRED_REMOVALS_MAX ? removal.change() : before;
        }
        boolean needed = false;
        for (VolumeGroup.Slot slot : volumes.slots()) {
            Volume volume = slot.volume();
            if (volume != null
                    && volume.isWorking()
                    && (before != null || volume.mayHold(key.hashHigh(), key.hashLow()))) {
                removal.appendTo(volume, diskKey(key));
                needed = true;
            }
        }
        return needed ? removal.change() : null;
    }

    private void forceSoon() {
        for (VolumeGroup.Slot slot : volumes.slots()) {
            if (slot.volume() != null && slot.volume().isWorking()) {
                forceSoon(slot.volume());
            }
        }
    }

    private void forceSoon(Volume volume) {
        reads.execute(() -> {
            try {
                volume.force();
            } catch (IOException e) {
                // Counted by the volume, which is given up when it goes on.
                counters.writesFailed.increment();
            }
        });
    }

    @Override
    public StoreStatistics statistics() {
        return StatisticsView.of(ram, volumes, counters);
    }

    @Override
    public void suspendWrites() throws IOException {
        lifeCycle.lock();
        try {
            if (!suspended && !closed) {
                suspended = true;
                volumes.suspend();
            }
        } finally {
            lifeCycle.unlock();
        }
    }

    @Override
    public void resumeWrites() throws IOException {
        lifeCycle.lock();
        try {
            if (!suspended || closed) {
                return;
            }
            if (volumes.isConfigured() && !volumes.reopen()) {
                // Another store had the volumes and may have removed or replaced what is in RAM here.
                ram.clear();
            }
            objectIds.accumulateAndGet(volumes.openCount() << OBJECT_ID_BITS, Math::max);
            suspended = false;
        } finally {
            lifeCycle.unlock();
        }
        pending.forEach((key, change) -> {
            if (change.object() == null) {
                remove(key, Runnable::run, (present, failure) -> {});
            }
        });
    }

    @Override
    public void sync() throws IOException {
        List<Volume> working = new ArrayList<>();
        for (VolumeGroup.Slot slot : volumes.slots()) {
            if (slot.volume() != null && slot.volume().isWorking()) {
                working.add(slot.volume());
            }
        }
        for (Volume volume : working) {
            volume.drain();
            volume.force();
        }
    }

    @Override
    public void close() throws IOException {
        lifeCycle.lock();
        try {
            if (closed) {
                return;
            }
            closed = true;
            waiting.close();
            try {
                reads.close();
            } finally {
                ram.clear();
                housekeeping.close();
                volumes.close(suspended);
            }
        } finally {
            lifeCycle.unlock();
        }
    }
}
