package io.millrace.store.engine.volume;

import io.millrace.store.StoreKey;
import io.millrace.store.VolumeConfig;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.engine.object.ObjectAppender;
import io.millrace.store.engine.volume.VolumeGroup.Slot;
import io.millrace.store.recover.JoiningVolume;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes volumes of a running store offline and brings them back. A share is an additional volume with its own name, in
 * the subdirectory of that name below a storage path.
 *
 * <p>Confined to the holder of the store's life cycle lock.
 */
public final class VolumeSwitch {
    /**
     * Limit of rounds in which a returning volume applies missed changes. Beyond it changes arrive faster than the
     * volume applies them.
     */
    private static final int CATCH_UP_ROUNDS = 10;

    private static final Logger LOG = LoggerFactory.getLogger(VolumeSwitch.class);

    private final VolumeGroup group;

    /** Creates the switch for the volumes of that group. */
    public VolumeSwitch(VolumeGroup group) {
        this.group = group;
    }

    /**
     * Takes the path's volume offline, and the shares below it that are not offline. Writes and syncs their queued
     * records, releases their leases and closes their files. The other volumes record that these volumes miss removals.
     * Call with the life cycle lock held. Blocks.
     *
     * @return the paths of the volumes that this call took offline
     * @throws IOException if there is no such volume, or all are already offline
     */
    public List<Path> takeOut(Path path, String reason) throws IOException {
        List<Slot> found = withShares(path);
        List<Path> taken = new ArrayList<>();
        for (Slot slot : found) {
            if (slot.offlineVolume() == null) {
                // Reads the current slot, since the previous step may have changed it.
                takeOut(group.slots()[slot.number()], reason);
                taken.add(slot.config().path());
            }
        }
        OfflineVolume alreadyOffline = found.get(0).offlineVolume();
        if (taken.isEmpty() && alreadyOffline != null) {
            throw new IOException(path + ": the volume is already offline: " + alreadyOffline.reason());
        }
        return taken;
    }

    private void takeOut(Slot slot, String reason) {
        Path path = slot.config().path();
        OfflineVolume offlineVolume = new OfflineVolume(reason);
        Volume volume = slot.volume();
        if (volume == null) {
            group.put(slot.offline(offlineVolume));
            return;
        }
        boolean inOrder = volume.isWorking();
        if (inOrder) {
            // The volume leaves the store before it misses the first change. If the process dies from here on, the
            // volume starts empty.
            volume.leaveSoon();
            group.recordMemberLoss(volume);
            group.drain();
        }
        group.put(slot.offline(offlineVolume));
        try {
            volume.close();
        } catch (IOException e) {
            LOG.warn("{}: the volume cannot be closed cleanly and will start empty: {}", path, e.toString());
            inOrder = false;
        }
        if (inOrder && volume.hasLeft()) {
            offlineVolume.lastSuperblock(volume.superblock());
        }
        LOG.info("{}: volume taken offline by command: {}", path, reason);
    }

    /**
     * Brings back the path's volume and the shares below it that were taken offline, failed, or could not be opened. A
     * volume with trusted content keeps it, except for objects that changed in the meantime. Any other volume starts
     * empty. Call with the life cycle lock held. Blocks.
     *
     * @return the paths of the volumes brought back
     * @throws IOException if all volumes already work, or if a volume cannot be opened; the other volumes are still
     *     brought back
     */
    public List<Path> bringBack(Path path) throws IOException {
        List<Slot> found = withShares(path);
        List<Path> back = new ArrayList<>();
        IOException failure = null;
        for (Slot slot : found) {
            if (slot.volume() == null || !slot.volume().isWorking()) {
                try {
                    bringBack(slot);
                    back.add(slot.config().path());
                } catch (IOException e) {
                    failure = failure == null ? e : failure;
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
        Volume working = found.get(0).volume();
        if (back.isEmpty() && working != null) {
            throw new IOException(
                    path + ": the volume is " + working.state().name().toLowerCase(Locale.ROOT) + " already");
        }
        return back;
    }

    private void bringBack(Slot slot) throws IOException {
        Path path = slot.config().path();
        Volume before = slot.volume();
        if (before != null) {
            try {
                before.close();
            } catch (IOException e) {
                LOG.info("{}: the failed volume cannot be closed: {}", path, e.toString());
            }
        }
        OfflineVolume offlineVolume = slot.offlineVolume() == null ? new OfflineVolume("failed") : slot.offlineVolume();
        // From here on changes are recorded, even if none were recorded for this volume before.
        group.put(slot.offline(offlineVolume));
        JoiningVolume returned = group.open(slot, offlineVolume.isTooMany() ? null : offlineVolume.lastSuperblock());
        boolean joined = joinOrClose(slot, returned, offlineVolume);
        if (!joined) {
            returned.volume().close();
            returned = group.open(slot, null);
            joined = joinOrClose(slot, returned, offlineVolume);
        }
        if (!joined) {
            returned.volume().close();
            throw new IOException(path + ": the volume failed again while it was brought online");
        }
        LOG.info("{}: volume brought online by command, {}", path, returned.kept() ? "with its content" : "empty");
    }

    /**
     * Like {@link #join}, but closes a volume that fails. The failed volume starts empty the next time, because it may
     * lack some of the missed changes.
     */
    private boolean joinOrClose(Slot slot, JoiningVolume returned, OfflineVolume offlineVolume) throws IOException {
        boolean failed = true;
        try {
            boolean joined = join(slot, returned, offlineVolume);
            failed = false;
            return joined;
        } finally {
            if (failed) {
                offlineVolume.forgetSuperblock();
                closeFailed(returned.volume());
            }
        }
    }

    private static void closeFailed(Volume volume) {
        try {
            volume.close();
        } catch (IOException e) {
            LOG.info("{}: the volume cannot be closed after it failed: {}", volume.directory(), e.toString());
        }
    }

    /**
     * Applies the missed changes to a volume and makes it a member. False if the volume fails, misses too many changes,
     * or cannot catch up with new changes.
     */
    private boolean join(Slot slot, JoiningVolume returned, OfflineVolume offlineVolume) throws IOException {
        Volume volume = returned.volume();
        // The other members record the new member first, so that they detect its absence at the next start.
        group.announce(volume);
        group.drain();
        boolean empty = !returned.kept();
        for (int rounds = 0; rounds < CATCH_UP_ROUNDS && volume.isWorking(); rounds++) {
            if (!empty && !catchUp(volume, offlineVolume)) {
                return false;
            }
            if (offlineVolume.end(empty, keys -> enter(slot, volume, keys))) {
                volume.drain();
                return true;
            }
        }
        return false;
    }

    /** Applies the changes recorded so far; false if more keys changed than could be recorded. */
    private static boolean catchUp(Volume volume, OfflineVolume offlineVolume) throws IOException {
        for (List<StoreKey> keys = offlineVolume.takeKeys(); !keys.isEmpty(); keys = offlineVolume.takeKeys()) {
            volume.applyMissedChanges(diskKeys(keys));
            volume.drain();
        }
        // The removals must be on the device before the superblock that declares the volume complete.
        volume.force();
        return !offlineVolume.isTooMany();
    }

    private void enter(Slot slot, Volume volume, List<StoreKey> keys) {
        try {
            volume.applyMissedChanges(diskKeys(keys));
        } catch (IOException e) {
            // The volume has just failed, so it serves no lookups.
            LOG.warn("{}: the volume failed while it was brought online: {}", volume.directory(), e.toString());
        }
        group.enter(slot.with(volume));
    }

    private static List<DiskKey> diskKeys(List<StoreKey> keys) {
        List<DiskKey> diskKeys = new ArrayList<>(keys.size());
        for (StoreKey key : keys) {
            diskKeys.add(ObjectAppender.diskKey(key));
        }
        return diskKeys;
    }

    /**
     * Returns the volume with that path and the shares below it, in directories with the shares' names; at least one.
     */
    private List<Slot> withShares(Path path) throws IOException {
        Path requested = path.toAbsolutePath().normalize();
        List<Slot> found = new ArrayList<>();
        for (Slot slot : group.slots()) {
            Path slotPath = slot.config().path().toAbsolutePath().normalize();
            String name = slot.config().name();
            boolean share = !name.equals(VolumeConfig.DEFAULT_NAME) && slotPath.equals(requested.resolve(name));
            if (slotPath.equals(requested) || share) {
                found.add(slot);
            }
        }
        if (found.isEmpty()) {
            throw new NoSuchFileException(path.toString(), null, "no storage path of this store");
        }
        return found;
    }
}
