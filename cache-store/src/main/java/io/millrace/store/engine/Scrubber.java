package io.millrace.store.engine;

import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeScrub;
import io.millrace.store.engine.object.ReadPool;
import io.millrace.store.engine.object.StoreCounters;
import io.millrace.store.engine.volume.VolumeGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Verifies what lies on disk in the background: a slice at a time on an I/O thread, the volumes in turn, with pauses that
 * hold the rate. One slice is under way at most, so reads that somebody waits for never find more than one before them.
 *
 * <p>Thread-safe: {@link #rate} from any thread; slices follow each other.
 */
final class Scrubber {
    /** Bytes of a slice: a few milliseconds of a slow disk. */
    static final int SLICE_BYTES = 1 << 20;
    /** Memory that a slice takes at once. */
    private static final int BUFFER_BYTES = 512 * 1024;
    /** How soon it looks again when nothing is due, it is turned off, or there is no room to read. */
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** No pause. */
    private static final long NONE = 0;

    private final VolumeGroup volumes;
    private final ReadPool reads;
    private final Housekeeping timer;
    private final StoreCounters counters;
    private final LongSupplier epochSeconds;
    /** Confined to the slices. */
    private final List<Turn> turns = new ArrayList<>();

    /** The pause under way, by its number; {@link #NONE} while a slice is verified, and before the start. */
    private final AtomicLong pause = new AtomicLong(NONE);

    private long pauses;
    private int nextTurn;
    private volatile long bytesPerSecond;

    private record Turn(Volume volume, VolumeScrub scrub) {}

    /** A scrubber that is off until it is given a {@link #rate}. */
    Scrubber(
            VolumeGroup volumes,
            ReadPool reads,
            Housekeeping timer,
            StoreCounters counters,
            LongSupplier epochSeconds) {
        this.volumes = volumes;
        this.reads = reads;
        this.timer = timer;
        this.counters = counters;
        this.epochSeconds = epochSeconds;
    }

    /** Sets the rate in bytes per second over all volumes; 0 for none. Another rate than before ends a pause; any thread. */
    void rate(long value) {
        boolean isOther = bytesPerSecond != value;
        bytesPerSecond = value;
        long current = pause.get();
        if (isOther && current != NONE) {
            var unused = timer.after(0, () -> end(current));
        }
    }

    /** Starts to look, for as long as the timer runs. */
    void start() {
        again(IDLE_NANOS);
    }

    /** One pause or slice after the other: whoever ends a pause begins what follows. */
    private void again(long delayNanos) {
        long current = ++pauses;
        pause.set(current);
        // False at the end of the store: then no more slices are wanted.
        var unused = timer.after(delayNanos, () -> end(current));
    }

    /** Ends a pause, unless it has ended. */
    private void end(long current) {
        if (!pause.compareAndSet(current, NONE)) {
            return;
        }
        if (bytesPerSecond == 0) {
            again(IDLE_NANOS);
        } else {
            reads.read(BUFFER_BYTES, () -> again(slice()), () -> again(IDLE_NANOS));
        }
    }

    /** Verifies a slice; returns the nanoseconds to pause before the next one. On an I/O thread, one at a time. */
    long slice() {
        follow(volumes.slots());
        long rate = bytesPerSecond;
        for (int tries = turns.size(); tries > 0 && rate > 0; tries--) {
            nextTurn = (nextTurn + 1) % turns.size();
            VolumeScrub.Step step =
                    turns.get(nextTurn).scrub().step((int) Math.min(SLICE_BYTES, rate), epochSeconds.getAsLong());
            if (!step.isIdle()) {
                counters.bytesScrubbed.add(step.bytesRead());
                counters.recordsDamagedByScrub.add(step.recordsDamaged());
                return step.bytesRead() * TimeUnit.SECONDS.toNanos(1) / rate;
            }
        }
        return IDLE_NANOS;
    }

    /** Volumes come and go. */
    private void follow(VolumeGroup.Slot[] slots) {
        List<Volume> present = new ArrayList<>();
        for (VolumeGroup.Slot slot : slots) {
            if (slot.volume() != null) {
                present.add(slot.volume());
            }
        }
        turns.removeIf(turn -> !present.remove(turn.volume()));
        for (Volume added : present) {
            turns.add(new Turn(added, added.scrub()));
        }
    }
}
