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
 * Verifies the records on disk in the background, in slices on I/O threads.
 *
 * <p>After each slice it pauses, so that it does not exceed the configured rate, and continues with the next volume.
 * Only one slice runs at a time, so a request's read waits for at most one slice.
 *
 * <p>Thread-safe: {@link #rate} may be called from any thread.
 */
final class Scrubber {
    /** Maximum bytes per slice. A slow disk reads them in a few milliseconds. */
    static final int SLICE_BYTES = 1 << 20;
    /** Bytes of memory reserved for a slice. */
    private static final int BUFFER_BYTES = 512 * 1024;
    /**
     * Pause if no record is due, if the scrubber is disabled, or if memory for a slice is missing.
     */
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** Value of {@link #pause} when no pause runs. */
    private static final long NONE = 0;

    private final VolumeGroup volumes;
    private final ReadPool reads;
    private final Housekeeping timer;
    private final StoreCounters counters;
    private final LongSupplier epochSeconds;
    /** The volumes to verify. Used only inside slices, which never overlap. */
    private final List<ScrubbedVolume> scrubbedVolumes = new ArrayList<>();

    /** Number of the current pause; {@link #NONE} while a slice is verified, and before the start. */
    private final AtomicLong pause = new AtomicLong(NONE);

    /** Number of pauses begun so far: the number of the latest pause. */
    private long pauses;
    /** Index in {@link #scrubbedVolumes} of the volume that was tried last. */
    private int lastTried;

    private volatile long bytesPerSecond;

    /** A volume with the progress of its verification. */
    private record ScrubbedVolume(Volume volume, VolumeScrub scrub) {}

    /** Creates a scrubber that is disabled until {@link #rate} is set. */
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

    /**
     * Sets the rate in bytes per second over all volumes; 0 to disable. A changed rate ends the current pause. Any
     * thread.
     */
    void rate(long value) {
        boolean isOther = bytesPerSecond != value;
        bytesPerSecond = value;
        long current = pause.get();
        if (isOther && current != NONE) {
            var unused = timer.after(0, () -> endPause(current));
        }
    }

    /** Starts the scrubber. It ends when the timer accepts no more tasks. */
    void start() {
        beginPause(IDLE_NANOS);
    }

    /** Begins a pause. Pauses and slices alternate: the thread that ends a pause begins the next slice. */
    private void beginPause(long delayNanos) {
        long current = ++pauses;
        pause.set(current);
        // The timer accepts no task when the store closes. No more slices are needed then.
        var unused = timer.after(delayNanos, () -> endPause(current));
    }

    /** Ends the pause with this number and begins the next slice. No effect if the pause has already ended. */
    private void endPause(long current) {
        if (!pause.compareAndSet(current, NONE)) {
            return;
        }
        if (bytesPerSecond == 0) {
            beginPause(IDLE_NANOS);
        } else {
            reads.read(BUFFER_BYTES, () -> beginPause(slice()), () -> beginPause(IDLE_NANOS));
        }
    }

    /** Verifies a slice; returns the pause before the next one in nanoseconds. Runs on an I/O thread, one at a time. */
    long slice() {
        updateVolumes(volumes.slots());
        long rate = bytesPerSecond;
        for (int tries = scrubbedVolumes.size(); tries > 0 && rate > 0; tries--) {
            lastTried = (lastTried + 1) % scrubbedVolumes.size();
            VolumeScrub scrub = scrubbedVolumes.get(lastTried).scrub();
            VolumeScrub.Step step = scrub.step((int) Math.min(SLICE_BYTES, rate), epochSeconds.getAsLong());
            if (!step.isIdle()) {
                counters.bytesScrubbed.add(step.bytesRead());
                counters.recordsDamagedByScrub.add(step.recordsDamaged());
                return step.bytesRead() * TimeUnit.SECONDS.toNanos(1) / rate;
            }
        }
        return IDLE_NANOS;
    }

    /** Updates the list of volumes to verify: adds new volumes and removes closed ones. */
    private void updateVolumes(VolumeGroup.Slot[] slots) {
        List<Volume> present = new ArrayList<>();
        for (VolumeGroup.Slot slot : slots) {
            if (slot.volume() != null) {
                present.add(slot.volume());
            }
        }
        scrubbedVolumes.removeIf(scrubbed -> !present.remove(scrubbed.volume()));
        for (Volume added : present) {
            scrubbedVolumes.add(new ScrubbedVolume(added, added.scrub()));
        }
    }
}
