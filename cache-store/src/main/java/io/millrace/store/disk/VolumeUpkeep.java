package io.millrace.store.disk;

import io.millrace.store.disk.segment.SegmentFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The background work of a volume's thread: completes the index after a start, lets it grow, and shrinks the volume.
 *
 * <p>Confined to the volume's thread after construction.
 */
public final class VolumeUpkeep {
    private final VolumeParts parts;
    private final SegmentFile segments;
    private final VolumeHealth health;
    private final VolumeMembership membership;
    /** Writes the batch of gathered objects. */
    private final Runnable writeBatch;

    /** Work that completes the index while the volume already runs. */
    @FunctionalInterface
    public interface Rebuild {
        /**
         * Performs a short step on the volume's thread. Returns false when the index is complete and marked as
         * complete.
         */
        boolean step() throws IOException;
    }

    VolumeUpkeep(
            VolumeParts parts,
            SegmentFile segments,
            VolumeHealth health,
            VolumeMembership membership,
            Runnable writeBatch) {
        this.parts = parts;
        this.segments = segments;
        this.health = health;
        this.membership = membership;
        this.writeBatch = writeBatch;
    }

    /**
     * Returns all background work.
     *
     * @param rebuild the remaining rebuild of the index, null if the index is complete
     * @param onDone called when the rebuild has completed the index
     */
    List<VolumeThread.BackgroundWork> works(SegmentLog log, @Nullable Rebuild rebuild, Runnable onDone) {
        List<VolumeThread.BackgroundWork> works = new ArrayList<>();
        if (rebuild != null) {
            works.add(afterBatch(() ->
                    step(rebuild, onDone) ? VolumeThread.BackgroundWork.AT_ONCE : VolumeThread.BackgroundWork.IDLE));
        }
        works.add(() -> tendIndex(log));
        works.add(log.pinned()::step);
        if (parts.table().usable() < parts.table().segments()) {
            works.add(afterBatch(new VolumeShrinker(parts, segments, log, new ShrinkerOwner())));
        }
        return works;
    }

    /** Wraps work that reads the log, so that the batch of gathered objects is written first. */
    private VolumeThread.BackgroundWork afterBatch(VolumeThread.BackgroundWork work) {
        return () -> {
            writeBatch.run();
            return work.step();
        };
    }

    private final class ShrinkerOwner implements VolumeShrinker.Owner {
        @Override
        public VolumeState state() {
            return health.state();
        }

        @Override
        public void cutOff(int segmentCount) throws IOException {
            membership.cutOff(segmentCount);
        }

        @Override
        public IOException failed(IOException e) {
            return health.failed(e);
        }
    }

    private boolean step(Rebuild rebuild, Runnable onDone) {
        if (health.state() != VolumeState.OPENING) {
            return false;
        }
        try {
            if (rebuild.step()) {
                return true;
            }
            if (health.opened()) {
                onDone.run();
            }
        } catch (IOException e) {
            health.failed(e);
            health.takeOffline(e);
        } catch (RuntimeException | Error e) {
            // Any exception takes the volume offline. If the volume stayed in the state OPENING, lookups would wait
            // forever.
            health.takeOffline(new IOException("rebuild of the index failed: " + e, e));
        }
        return false;
    }

    /** Grows the index and removes obsolete entries. */
    private long tendIndex(SegmentLog log) {
        try {
            boolean more = health.isWorking()
                    && (log.removeRetiredEntries() || parts.index().step());
            return more ? VolumeThread.BackgroundWork.AT_ONCE : VolumeThread.BackgroundWork.IDLE;
        } catch (RuntimeException | Error e) {
            health.indexFailed(e);
            return VolumeThread.BackgroundWork.IDLE;
        }
    }
}
