package io.millrace.store.engine;

import io.millrace.store.disk.Volume;
import io.millrace.store.engine.object.ReadPool;
import io.millrace.store.engine.object.StoreCounters;
import io.millrace.store.engine.volume.VolumeGroup;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Forces the written bytes of the volumes to their devices, like {@code fsync}.
 *
 * <p>Thread-safe.
 */
final class VolumeForcing {
    private final VolumeGroup volumes;
    private final ReadPool threads;
    private final StoreCounters counters;

    /** @param threads the I/O threads, which force in the background */
    VolumeForcing(VolumeGroup volumes, ReadPool threads, StoreCounters counters) {
        this.volumes = volumes;
        this.threads = threads;
        this.counters = counters;
    }

    private List<Volume> working() {
        List<Volume> working = new ArrayList<>();
        for (VolumeGroup.Slot slot : volumes.slots()) {
            if (slot.volume() != null && slot.volume().isWorking()) {
                working.add(slot.volume());
            }
        }
        return working;
    }

    /** Forces all volumes on I/O threads. */
    void forceAllSoon() {
        working().forEach(this::forceSoon);
    }

    /** Forces a volume on an I/O thread. */
    void forceSoon(Volume volume) {
        threads.execute(() -> {
            try {
                volume.force();
            } catch (IOException e) {
                // The volume counts its errors and goes offline after repeated ones.
                counters.writesFailed.increment();
            }
        });
    }

    /** Waits for the queued changes of all volumes, and forces them. Blocks. */
    void drainAndForce() throws IOException {
        for (Volume volume : working()) {
            volume.drain();
            volume.force();
        }
    }
}
