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
 * Keeps a list of what is hot in RAM on disk, and after a start loads what is on it: hottest first, at a bounded rate,
 * only while no request waits for the I/O threads, and no further than the RAM tier has room. Beside a predecessor that still
 * reads the volumes it hurries: clients were answered from its RAM a moment ago.
 *
 * <pre>
 *   every minute, hand-over, close ──> hottest of RAM ──> file "hot" of the first volume that works
 *   start ──> file ──> each hash ──index──> record's key ──> the load that a request would do ──> RAM
 * </pre>
 *
 * <p>Thread-safe.
 */
final class HotSet<H> {
    private static final Logger LOG = LoggerFactory.getLogger(HotSet.class);
    private static final long SAVE_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long TICKS_PER_SECOND = TimeUnit.SECONDS.toNanos(1) / TICK_NANOS;
    /** Objects read by one task, so that requests get their turn. */
    private static final int OBJECTS_PER_TASK = 16;
    /** Of the RAM tier, in hundredths, what may be filled so; the rest is for what is asked for meanwhile. */
    private static final int FILL_PERCENT = 90;
    /** After a hand-over, the time in which RAM is to be what it was before. */
    private static final long HURRY_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final int HURRY_SECONDS_FOR_ALL = 8;
    /** Faster than most devices, and more than this leaves requests no CPU. */
    private static final long HURRY_BYTES_PER_SECOND_MAX = 512L << 20;
    /** Ticks for which bytes are saved up that could not be read in their own. */
    private static final int SAVED_TICKS = 12;

    private final FileIo io;
    private final StoreCounters counters;
    private final RamTier<ResidentObject<H>> ram;
    private final VolumeGroup volumes;
    private final ReadPool reads;
    private final Housekeeping housekeeping;
    private final long bytesPerSecond;
    private final Loader<H> loader;
    private final ReentrantLock saving = new ReentrantLock();
    /** Whether the volumes are this store's to write to. Guarded by {@link #saving}. */
    private boolean owned = true;

    /** What is still to be loaded, from {@link #next} on; high and low in turn. Empty when nothing is. */
    private volatile long[] wanted = {};

    private volatile int next;
    private volatile boolean busy;
    /** Until when it hurries; of no meaning where {@link #handedOver} is false. */
    private long hurryEndNanos;

    private boolean handedOver;
    /** Bytes that may be read now. Housekeeping's, or the task's while {@link #busy}. */
    private long allowance;

    /** What a request does that does not find its object in RAM. */
    interface Loader<H> {
        /** The object of the key's bytes if its hash is this one, retained for the caller. */
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

    /** Begins to load what the last run left, and to save. */
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
            LOG.info("{} objects were hot, loading them again", wanted.length / 2);
            housekeeping.after(TICK_NANOS, this::tick);
        }
        housekeeping.every(SAVE_INTERVAL_NANOS, () -> reads.execute(this::saveUnlessLoading));
    }

    /** The first volume that works has the file. */
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

    /** Writes the list as of now. Blocks on the disk. */
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
            LOG.warn("{}: list of hot objects not written: {}", home.directory(), e.toString());
        } finally {
            saving.unlock();
        }
    }

    /** What is hot in RAM, then what was hot and is not loaded yet. */
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

    /** The volumes are about to be another's: saves, and no more from then on. */
    void handOver() {
        save();
        owned(false);
        wanted = new long[0];
    }

    /** The volumes are back. */
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

    /** On the housekeeping thread. */
    private void tick() {
        if (wanted.length == 0) {
            return;
        }
        if (!busy) {
            long rate = isHurried() ? hurriedRate() : bytesPerSecond;
            long perTick = rate / TICKS_PER_SECOND + 1;
            allowance = Math.min(allowance + perTick, perTick * SAVED_TICKS);
            if (allowance > 0 && !volumes.isOpening() && mayRead()) {
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

    /** It has one thread of several at a time; else requests go before. */
    private boolean mayRead() {
        return isHurried() || reads.isIdle();
    }

    /** On an I/O thread. */
    private void loadSome() {
        try {
            long[] hashes = wanted;
            int at = next;
            for (int i = 0; i < OBJECTS_PER_TASK && at < hashes.length && allowance > 0 && !isFull(); i++) {
                allowance -= load(hashes[at], hashes[at + 1]);
                at += 2;
                next = at;
            }
            if (at >= hashes.length || isFull()) {
                wanted = new long[0];
                LOG.info("hot objects loaded: {} are in RAM", ram.entries());
            } else if (allowance > 0 && mayRead() && reads.execute(this::loadSome)) {
                return;
            }
        } catch (RuntimeException | InternalError e) {
            LOG.warn("loading of hot objects given up", e);
            wanted = new long[0];
        }
        busy = false;
    }

    private boolean isFull() {
        return ram.bytes() > ram.bytesMax() / 100 * FILL_PERCENT;
    }

    /** Loads one object; returns how many bytes were read for it. */
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
                // Whoever asks for it will find out.
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

    /** Whether all that was hot was looked at. */
    boolean isLoaded() {
        return wanted.length == 0 && !busy;
    }
}
