package io.millrace.store.engine;

import io.millrace.store.StoreStatistics;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeState;
import io.millrace.store.engine.object.HotPieces;
import io.millrace.store.engine.object.StoreCounters;
import io.millrace.store.engine.volume.OfflineVolume;
import io.millrace.store.engine.volume.VolumeGroup;
import io.millrace.store.io.FileFaults;
import io.millrace.store.memory.RamTier;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Builds the {@link StoreStatistics} of a store from the state of its parts. */
final class StatisticsView {
    private StatisticsView() {}

    static StoreStatistics of(
            RamTier<?> ram, HotPieces pieces, StoreMemory memory, VolumeGroup group, StoreCounters counters) {
        List<StoreStatistics.Volume> volumes = new ArrayList<>();
        long reclaimed = 0;
        for (VolumeGroup.Slot slot : group.slots()) {
            Volume volume = slot.volume();
            if (volume != null) {
                long refused = group.policies().refusals(slot.number());
                volumes.add(of(slot, volume, group.placement(slot), refused));
                reclaimed += volume.segmentsReclaimed();
            } else {
                volumes.add(offline(slot));
            }
        }
        return new StoreStatistics(
                new StoreStatistics.Ram(ram.bytes(), ram.bytesMax(), ram.entries(), ram.evictions(), pieces.bytes()),
                memory.statistics(),
                List.copyOf(volumes),
                counters.snapshot(reclaimed));
    }

    private static StoreStatistics.Volume of(VolumeGroup.Slot slot, Volume volume, double placement, long refused) {
        IOException last = volume.lastError();
        return new StoreStatistics.Volume(
                slot.config().path(),
                slot.config().name(),
                placement,
                state(volume.state()),
                volume.usedBytes(),
                volume.bytesMax(),
                volume.entries(),
                volume.pins().pinnedSegments(),
                volume.queuedBytes(),
                volume.indexEvictions(),
                volume.errors(),
                messageOf(last, volume.directory(), slot.config().path()),
                new StoreStatistics.Ring(
                        volume.bytesWritten(),
                        volume.bytesCarried(),
                        volume.segmentsReclaimed(),
                        refused,
                        volume.bytesPinned(),
                        volume.pinsBroken()));
    }

    /** Returns the statistics of an offline volume. It has failed, or a command took it offline. */
    private static StoreStatistics.Volume offline(VolumeGroup.Slot slot) {
        OfflineVolume offlineVolume = slot.offlineVolume();
        return new StoreStatistics.Volume(
                slot.config().path(),
                slot.config().name(),
                0,
                StoreStatistics.State.OFFLINE,
                0,
                slot.sizeBytes(),
                0,
                0,
                0,
                0,
                offlineVolume == null ? 1 : 0,
                offlineVolume == null
                        ? messageOf(slot.failure())
                        : "taken offline by command: " + offlineVolume.reason(),
                StoreStatistics.Ring.NONE);
    }

    private static @Nullable String messageOf(@Nullable IOException fault) {
        return fault == null ? null : FileFaults.messageOf(fault);
    }

    /**
     * Returns the message of a fault for the operator. If it begins with the directory of the index, replaces this
     * directory by the configured path. The two differ for a volume on a device or file.
     */
    private static @Nullable String messageOf(@Nullable IOException fault, Path directory, Path configured) {
        String message = messageOf(fault);
        String prefix = directory + ": ";
        return message == null || !message.startsWith(prefix)
                ? message
                : configured + ": " + message.substring(prefix.length());
    }

    private static StoreStatistics.State state(VolumeState state) {
        return switch (state) {
            case OPENING -> StoreStatistics.State.OPENING;
            case ONLINE -> StoreStatistics.State.ONLINE;
            case RELEASED, SUSPENDED -> StoreStatistics.State.SUSPENDED;
            case OFFLINE, CLOSED -> StoreStatistics.State.OFFLINE;
        };
    }
}
