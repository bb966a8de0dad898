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
import io.millrace.store.memory.RamTier;
import io.millrace.store.recover.HotManifest;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Saves a list of hot objects, and loads those objects into RAM after a start.
 *
 * <p>The hot objects are the most requested objects in RAM. {@link LoadPace} limits the rate of loading and its share
 * of the processors, which shrinks while other threads need the processors. Loading pauses while requests wait for the
 * I/O threads, and ends when the RAM tier is nearly full.
 *
 * <p>After a handover from a predecessor process, loading is faster for some seconds and does not pause for requests,
 * because the predecessor answered these requests from its RAM until then.
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
    private static final long HURRY_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** Time in which faster loading would fill the whole RAM tier; determines the faster rate. */
    private static final int HURRY_SECONDS_FOR_ALL = 8;
    /**
     * Maximum of the faster rate. Most devices are slower, and a higher rate would leave no processor time for
     * requests.
     */
    private static final long HURRY_BYTES_PER_SECOND_MAX = 512L << 20;

    private final FileIo io;
    private final StoreCounters counters;
    private final RamTier<ResidentObject<H>> ram;
    private final VolumeGroup volumes;
    private final ReadPool reads;
    private final Housekeeping housekeeping;
    private final long bytesPerSecond;
    private final Loader<H> loader;
    private final ReentrantLock saving = new ReentrantLock();
    /** True if this store may write to the volumes. Guarded by {@link #saving}. */
    private boolean owned = true;

    /**
     * Hashes of the keys to load, from index {@link #next} on. Each hash takes two elements: its high half, then its
     * low half. Empty if loading has ended.
     */
    private volatile long[] wanted = {};

    /** Index in {@link #wanted} of the next hash to load. */
    private volatile int next;
    /** True while a loading task is queued or runs. */
    private volatile boolean busy;
    /** End of the faster loading, in {@link System#nanoTime}. Unused if {@link #handedOver} is false. */
    private long hurryEndNanos;

    /** True if a predecessor process still read the volumes when this store started. */
    private boolean handedOver;
    /** Used by the housekeeping thread only; while {@link #busy}, by the loading task only. */
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
        Volume home = home();
        if (home != null) {
            handedOver = home.isReadElsewhere();
            hurryEndNanos = System.nanoTime() + HURRY_NANOS;
            wanted = HotManifest.read(io, home.directory(), volumes.hashSeed());
        }
        if (wanted.length > 0) {
            LOG.info("loading the {} most requested objects of the last run into RAM", wanted.length / 2);
            housekeeping.after(TICK_NANOS, this::tick);
        }
        housekeeping.every(SAVE_INTERVAL_NANOS, () -> reads.execute(this::saveUnlessLoading));
    }

    /** Returns the first working volume, whose directory holds the list; null if no volume works. */
    private @Nullable Volume home() {
        for (int i = 0; i < volumes.slots().length; i++) {
            Volume volume = volumes.working(i);
            if (volume != null) {
                return volume;
            }
        }
        return null;
    }

    private void saveUnlessLoading() {
        if (wanted.length == 0) {
            save();
        }
    }

    /** Writes the current list, unless the volumes are released to another store. Blocks on the disk. */
    void save() {
        Volume home = home();
        if (home == null || !ram.isEnabled() || bytesPerSecond == 0) {
            return;
        }
        saving.lock();
        try {
            if (owned) {
                HotManifest.write(io, home.directory(), volumes.hashSeed(), hashes());
            }
        } catch (IOException e) {
            LOG.warn(
                    "{}: the list of the most requested objects cannot be written: {}", home.directory(), e.toString());
        } finally {
            saving.unlock();
        }
    }

    /** Returns the hashes to save: of hot objects in RAM, then those not loaded yet. */
    private long[] hashes() {
        List<ResidentObject<H>> hottest = ram.hottest(HotManifest.KEYS_MAX);
        long[] left = wanted;
        int from = Math.min(next, left.length);
        int kept = Math.min(left.length - from, 2 * (HotManifest.KEYS_MAX - hottest.size()));
        long[] hashes = new long[hottest.size() * 2 + kept];
        int at = 0;
        for (ResidentObject<H> object : hottest) {
            hashes[at++] = object.hashHigh();
            hashes[at++] = object.hashLow();
        }
        System.arraycopy(left, from, hashes, at, kept);
        return hashes;
    }

    /** Saves the list and stops saving, because the volumes are being released to another store. */
    void handOver() {
        save();
        setOwned(false);
        wanted = new long[0];
    }

    /** Resumes saving after the volumes were taken back. */
    void resume() {
        setOwned(true);
    }

    private void setOwned(boolean now) {
        saving.lock();
        try {
            owned = now;
        } finally {
            saving.unlock();
        }
    }

    /** Starts a loading task if the pace allows it. Runs on the housekeeping thread, once per tick. */
    private void tick() {
        if (wanted.length == 0) {
            return;
        }
        if (!busy) {
            pace.tick(isHurried() ? hurriedRate() : bytesPerSecond);
            if (pace.allowsTask() && !volumes.isOpening() && mayRead()) {
                busy = true;
                if (!reads.execute(this::loadSome)) {
                    busy = false;
                }
            }
        }
        housekeeping.after(TICK_NANOS, this::tick);
    }

    private boolean isHurried() {
        return handedOver && System.nanoTime() - hurryEndNanos < 0;
    }

    private long hurriedRate() {
        return Math.max(bytesPerSecond, Math.min(ram.bytesMax() / HURRY_SECONDS_FOR_ALL, HURRY_BYTES_PER_SECOND_MAX));
    }

    /**
     * Returns true if a loading task may use an I/O thread now. During faster loading it always may. At other times no
     * other task may be waiting for an I/O thread.
     */
    private boolean mayRead() {
        return isHurried() || reads.isIdle();
    }

    /** Loads up to {@link #OBJECTS_PER_TASK} objects. Runs on an I/O thread. */
    private void loadSome() {
        ThreadTimes before = ThreadTimes.ofCallingThread();
        try {
            long[] hashes = wanted;
            int at = next;
            for (int i = 0; i < OBJECTS_PER_TASK && at < hashes.length && pace.allowsBytes() && !isFull(); i++) {
                pace.usedBytes(load(hashes[at], hashes[at + 1]));
                at += 2;
                next = at;
            }
            pace.used(ThreadTimes.ofCallingThread().since(before));
            if (at >= hashes.length || isFull()) {
                wanted = new long[0];
                LOG.info("loading of the most requested objects ended, objects in RAM={}", ram.entries());
            } else if (pace.allowsTask() && mayRead() && reads.execute(this::loadSome)) {
                return;
            }
        } catch (RuntimeException | InternalError e) {
            LOG.warn("loading of the most requested objects stopped after an error", e);
            wanted = new long[0];
        }
        busy = false;
    }

    private boolean isFull() {
        return ram.bytes() > ram.bytesMax() / 100 * FILL_PERCENT;
    }

    /** Loads one object; returns the number of bytes read for it. */
    private long load(long hashHigh, long hashLow) {
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
                    return Location.lengthHint(location) + refilled(object);
                } finally {
                    object.release();
                }
            }
        }
        return 0;
    }

    private long refilled(StoreObject<H> object) {
        if (!(object instanceof ResidentObject<H> resident)) {
            return 0;
        }
        ram.warm(resident);
        counters.objectsRefilled.increment();
        return resident.length();
    }
}
