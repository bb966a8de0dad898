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
 * Saves the list of hot objects in RAM to disk, and loads the listed objects after a start. It loads the hottest
 * objects first, at a limited rate and with a limited share of the processors, which shrinks while other threads need
 * the processors. It pauses while a request waits for the I/O threads, and ends when the RAM tier is filled. It loads faster while a predecessor still reads the volumes,
 * because the predecessor's RAM has answered the clients so far.
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
    /** Objects read by one task, so that requests are served in between. */
    private static final int OBJECTS_PER_TASK = 16;
    /** Percentage of the RAM tier that may be filled by loading; the rest remains for requests in the meantime. */
    private static final int FILL_PERCENT = 90;
    /** After a handover, the period of faster loading, in which RAM should reach its former content. */
    private static final long HURRY_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final int HURRY_SECONDS_FOR_ALL = 8;
    /** Limit of the faster rate: above the rate of most devices, and a higher rate would leave no CPU for requests. */
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

    /** Hashes to load, from {@link #next} on; high and low halves alternate. Empty if loading has ended. */
    private volatile long[] wanted = {};

    private volatile int next;
    private volatile boolean busy;
    /** End of the faster loading; unused if {@link #handedOver} is false. */
    private long hurryEndNanos;

    private boolean handedOver;
    /** Owned by the housekeeping thread, and by the loading task while {@link #busy}. */
    private final LoadPace pace = new LoadPace(TICK_NANOS, Runtime.getRuntime().availableProcessors());

    /** Loads an object like a request that misses RAM. */
    interface Loader<H> {
        /**
         * Returns the object with the key's bytes if its hash equals the given one, retained for the caller; otherwise
         * null.
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

    /** Begins to load the list of the last run, and to save periodically. */
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

    /** Returns the first working volume, which holds the file. */
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

    /** Writes the current list. Blocks on the disk. */
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

    /** Returns the hashes of hot objects in RAM, followed by those not loaded yet. */
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
        owned(false);
        wanted = new long[0];
    }

    /** Resumes saving after the volumes were taken back. */
    void takeBack() {
        owned(true);
    }

    private void owned(boolean now) {
        saving.lock();
        try {
            owned = now;
        } finally {
            saving.unlock();
        }
    }

    /** Loads the next objects if the rate allows; runs on the housekeeping thread. */
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

    /** During faster loading the task uses one of several I/O threads; otherwise requests have priority. */
    private boolean mayRead() {
        return isHurried() || reads.isIdle();
    }

    /** Loads up to one task's objects; runs on an I/O thread. */
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
