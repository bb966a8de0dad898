package io.millrace.store.engine;

import io.millrace.store.StoreConfig;
import io.millrace.store.disk.Volume;
import io.millrace.store.engine.object.ReadPool;
import io.millrace.store.engine.object.ResidentObject;
import io.millrace.store.engine.object.StoreCounters;
import io.millrace.store.engine.object.StoreObject;
import io.millrace.store.engine.volume.VolumeGroup;
import io.millrace.store.index.Location;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.ThreadTimes;
import io.millrace.store.memory.HottestKeys;
import io.millrace.store.memory.RamTier;
import io.millrace.store.recover.HotManifest;
import java.io.IOException;
import java.nio.LongBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Saves a list of the objects in RAM, and loads those objects into RAM after a start, most requested first.
 *
 * <p>{@link LoadPace} limits the rate of loading and its share of the processors, which shrinks while other threads
 * need the processors. The share is smaller for objects that were not requested again after they were stored. Loading
 * pauses while requests wait for the I/O threads, and ends when the RAM tier is nearly full.
 *
 * <p>After a handover from a predecessor process, loading is faster for some seconds and does not pause for requests,
 * because the predecessor answered these requests from its RAM until then. Objects that were not requested again are
 * loaded afterwards.
 *
 * <pre>
 *   every minute, handover, close ──> hottest objects in RAM ──> file "hot" of the first working volume
 *   start ──> file ──> each hash ──index──> record's key ──> load as for a request ──> RAM
 * </pre>
 *
 * <p>Thread-safe.
 */
final class HotSet<H> {
    private static final Logger LOG = LoggerFactory.getLogger(HotSet.class);
    private static final long SAVE_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    /** Maximum number of objects that one task loads. The I/O thread can serve requests between two tasks. */
    private static final int OBJECTS_PER_TASK = 16;
    /**
     * Percentage of the RAM tier at which loading ends. The remaining space is left to objects that clients request
     * during the loading.
     */
    private static final int FILL_PERCENT = 90;
    /** Duration of faster loading after a handover. At its end, RAM should have its former content. */
    private static final long FAST_LOAD_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Time in which faster loading would fill the whole RAM tier; determines the faster rate. */
    private static final int FAST_LOAD_SECONDS_FOR_ALL = 8;
    /**
     * Maximum of the faster rate. Most devices are slower, and a higher rate would leave no processor time for
     * requests.
     */
    private static final long FAST_LOAD_BYTES_PER_SECOND_MAX = 512L << 20;

    private final FileIo io;
    private final StoreCounters counters;
    private final RamTier<ResidentObject<H>> ram;
    private final VolumeGroup volumes;
    private final ReadPool reads;
    private final Housekeeping housekeeping;
    private final long bytesPerSecond;
    private final Loader<H> loader;
    private final ReentrantLock saving = new ReentrantLock();
    /**
     * True if this store may write to the volumes; false after it has released them to another store. Guarded by
     * {@link #saving}.
     */
    private boolean ownsVolumes = true;

    /** The keys to load, from the key number {@link #next} on. Empty if loading has ended. */
    private volatile HottestKeys wanted = HottestKeys.NONE;

    /** Number of keys of {@link #wanted} that are loaded already. */
    private volatile int next;
    /** True while a loading task is queued or runs. */
    private volatile boolean busy;
    /** End of the faster loading, in {@link System#nanoTime}. Unused if {@link #handedOver} is false. */
    private long fastLoadEndNanos;

    /** True if a predecessor process still read the volumes when this store started. */
    private boolean handedOver;
    /** While {@link #busy} is true, only the loading task uses this object; otherwise only the housekeeping thread. */
    private final LoadPace pace = new LoadPace(TICK_NANOS, Runtime.getRuntime().availableProcessors());

    /** Loads an object from disk into RAM, like a request for the object. */
    interface Loader<H> {
        /**
         * Returns the object of the key, retained for the caller. Returns null if the key does not have the given hash,
         * or if the object cannot be loaded or is in RAM already.
         */
        @Nullable
        StoreObject<H> load(byte[] key, long hashHigh, long hashLow);
    }

    HotSet(
            FileIo io,
            StoreConfig config,
            StoreCounters counters,
            RamTier<ResidentObject<H>> ram,
            VolumeGroup volumes,
            ReadPool reads,
            Housekeeping housekeeping,
            Loader<H> loader) {
        this.io = io;
        this.counters = counters;
        this.ram = ram;
        this.volumes = volumes;
        this.reads = reads;
        this.housekeeping = housekeeping;
        this.bytesPerSecond = config.refillBytesPerSecond();
        this.loader = loader;
    }

    /** Begins to load the objects of the saved list, and to save the list periodically. */
    void start() {
        if (!volumes.isConfigured() || !ram.isEnabled() || bytesPerSecond == 0) {
            return;
        }
        Volume first = firstWorkingVolume();
        if (first != null) {
            handedOver = first.isReadElsewhere();
            fastLoadEndNanos = System.nanoTime() + FAST_LOAD_NANOS;
            wanted = HotManifest.read(io, first.directory(), volumes.hashSeed());
        }
        if (wanted.count() > 0) {
            LOG.info(
                    "loading objects into RAM that were there in the last run: {} that were requested again, and {} others",
                    wanted.requestedAgain(),
                    wanted.count() - wanted.requestedAgain());
            housekeeping.after(TICK_NANOS, this::tick);
        }
        housekeeping.every(SAVE_INTERVAL_NANOS, () -> reads.execute(this::saveUnlessLoadingHottest));
    }

    /** Returns the first working volume, whose directory holds the list; null if no volume works. */
    private @Nullable Volume firstWorkingVolume() {
        for (int i = 0; i < volumes.slots().length; i++) {
            Volume volume = volumes.working(i);
            if (volume != null) {
                return volume;
            }
        }
        return null;
    }

    private void saveUnlessLoadingHottest() {
        HottestKeys keys = wanted;
        if (keys.count() == 0 || next >= keys.requestedAgain()) {
            save();
        }
    }

    /** Writes the current list, unless the volumes are released to another store. Blocks on the disk. */
    void save() {
        Volume first = firstWorkingVolume();
        if (first == null || !ram.isEnabled() || bytesPerSecond == 0) {
            return;
        }
        saving.lock();
        try {
            if (ownsVolumes) {
                HotManifest.write(io, first.directory(), volumes.hashSeed(), keys());
            }
        } catch (IOException e) {
            LOG.warn(
                    "{}: the list of the most requested objects cannot be written: {}",
                    first.directory(),
                    e.toString());
        } finally {
            saving.unlock();
        }
    }

    /**
     * Returns the keys to save: first those that were requested again, then the others. Each of the two groups begins
     * with the objects in RAM. The objects that are not loaded yet follow.
     */
    private HottestKeys keys() {
        // Read before the objects in RAM, so that an object that is loaded meanwhile is listed twice instead of never.
        HottestKeys left = wanted;
        int from = Math.min(next, left.count());
        HottestKeys hottest = ram.hottest(HotManifest.KEYS_MAX);
        int fromOnce = Math.max(from, left.requestedAgain());
        int again = hottest.requestedAgain();
        LongBuffer hashes =
                LongBuffer.allocate(2 * Math.min(HotManifest.KEYS_MAX, hottest.count() + left.count() - from));
        add(hashes, hottest.hashes(), 0, again);
        add(hashes, left.hashes(), from, fromOnce);
        int requestedAgain = hashes.position() / 2;
        add(hashes, hottest.hashes(), again, hottest.count());
        add(hashes, left.hashes(), fromOnce, left.count());
        return new HottestKeys(hashes.array(), requestedAgain);
    }

    private static void add(LongBuffer hashes, long[] keys, int from, int to) {
        hashes.put(keys, from * 2, Math.min(hashes.remaining(), (to - from) * 2));
    }

    /** Saves the list and stops saving, because the volumes are being released to another store. */
    void handOver() {
        save();
        setOwned(false);
        wanted = HottestKeys.NONE;
    }

    /** Resumes saving after the volumes were taken back. */
    void resume() {
        setOwned(true);
    }

    private void setOwned(boolean now) {
        saving.lock();
        try {
            ownsVolumes = now;
        } finally {
            saving.unlock();
        }
    }

    /** Starts a loading task if the pace allows it. Runs on the housekeeping thread, once per tick. */
    private void tick() {
        HottestKeys keys = wanted;
        if (keys.count() == 0) {
            return;
        }
        if (!busy && next < limit(keys)) {
            boolean again = next < keys.requestedAgain();
            pace.tick(
                    isFastLoading() ? fastLoadRate() : bytesPerSecond,
                    again ? LoadPace.SHARE_OF_PROCESSORS : LoadPace.SHARE_FOR_REQUESTED_ONCE);
            if (pace.allowsTask() && !volumes.isOpening() && mayRead()) {
                busy = true;
                if (!reads.execute(this::loadSome)) {
                    busy = false;
                }
            }
        }
        housekeeping.after(TICK_NANOS, this::tick);
    }

    private boolean isFastLoading() {
        return handedOver && System.nanoTime() - fastLoadEndNanos < 0;
    }

    /**
     * Returns the number of keys that may be loaded now. During faster loading, only objects that were requested again
     * are loaded. Loading the other objects would take processor time that the new process may need for requests.
     */
    private int limit(HottestKeys keys) {
        return limit(keys, isFastLoading());
    }

    static int limit(HottestKeys keys, boolean fastLoading) {
        return fastLoading ? keys.requestedAgain() : keys.count();
    }

    private long fastLoadRate() {
        return Math.max(
                bytesPerSecond, Math.min(ram.bytesMax() / FAST_LOAD_SECONDS_FOR_ALL, FAST_LOAD_BYTES_PER_SECOND_MAX));
    }

    /**
     * Returns true if a loading task may use an I/O thread now. During faster loading it always may. At other times no
     * other task may be waiting for an I/O thread.
     */
    private boolean mayRead() {
        return isFastLoading() || reads.isIdle();
    }

    /** Loads up to {@link #OBJECTS_PER_TASK} objects. Runs on an I/O thread. */
    private void loadSome() {
        ThreadTimes before = ThreadTimes.ofCallingThread();
        try {
            HottestKeys keys = wanted;
            int at = next;
            int limit = limit(keys);
            for (int i = 0; i < OBJECTS_PER_TASK && at < limit && pace.allowsBytes() && !isFull(); i++) {
                long[] hashes = keys.hashes();
                pace.usedBytes(load(hashes[at * 2], hashes[at * 2 + 1], at < keys.requestedAgain()));
                at++;
                next = at;
            }
            pace.used(ThreadTimes.ofCallingThread().since(before));
            if (at >= keys.count() || isFull()) {
                wanted = HottestKeys.NONE;
                LOG.info("loading of the objects of the last run ended, objects in RAM={}", ram.entries());
            } else if (at < limit && pace.allowsTask() && mayRead() && reads.execute(this::loadSome)) {
                return;
            }
        } catch (RuntimeException | InternalError e) {
            LOG.warn("loading of the objects of the last run stopped after an error", e);
            wanted = HottestKeys.NONE;
        }
        busy = false;
    }

    private boolean isFull() {
        return ram.bytes() > ram.bytesMax() / 100 * FILL_PERCENT;
    }

    /** Loads one object; returns the number of bytes read for it. */
    private long load(long hashHigh, long hashLow, boolean requestedAgain) {
        for (int i = 0; i < volumes.slots().length; i++) {
            Volume volume = volumes.working(i);
            long location = volume == null ? Location.NONE : volume.find(hashHigh, hashLow);
            if (volume == null || location == Location.NONE) {
                continue;
            }
            byte[] key;
            try {
                key = ObjectLoader.keyAt(volume, location);
            } catch (IOException e) {
                // The next open of the object reports the error.
                continue;
            }
            StoreObject<H> object = key == null ? null : loader.load(key, hashHigh, hashLow);
            if (object != null) {
                try {
                    return Location.lengthHint(location) + refilled(object, requestedAgain);
                } finally {
                    object.release();
                }
            }
        }
        return 0;
    }

    private long refilled(StoreObject<H> object, boolean requestedAgain) {
        if (!(object instanceof ResidentObject<H> resident)) {
            return 0;
        }
        if (requestedAgain) {
            ram.creditEarlierHits(resident);
        }
        counters.objectsRefilled.increment();
        return resident.length();
    }
}
