package io.millrace.store.engine.volume;

import io.millrace.store.StoreKey;
import io.millrace.store.VolumeConfig;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.engine.object.ObjectAppender;
import io.millrace.store.engine.volume.VolumeGroup.Slot;
import io.millrace.store.recover.VolumeReturn;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes volumes out of the store that is at work, and brings them back.
 *
 * <p>Confined to who holds the store's life cycle lock.
 */
public final class VolumeSwitch {
    /** How often a volume that returns is told of changes before it is taken to be slower than they come. */
    private static final int CATCH_UP_ROUNDS = 10;

    private static final Logger LOG = LoggerFactory.getLogger(VolumeSwitch.class);

    private final VolumeGroup group;

    /** Takes volumes of that group out and brings them back. */
    public VolumeSwitch(VolumeGroup group) {
        this.group = group;
    }

    /**
     * Takes the path's volume out, and the shares below it that are not out: what is queued for them is written and
     * synced, the others are told that they will miss removals, their leases are given back and their files closed.
     * Holding the life cycle lock; blocks.
     *
     * @return the paths of those that are out now and were not
     * @throws IOException when there is no such volume, or all are out already
     */
    public List<Path> takeOut(Path path, String reason) throws IOException {
        List<Slot> found = withShares(path);
        List<Path> taken = new ArrayList<>();
        for (Slot slot : found) {
            if (slot.absence() == null) {
                // As it is now: one before it may have been its last companion.
                takeOut(group.slots()[slot.number()], reason);
                taken.add(slot.config().path());
            }
        }
        OfflineVolume known = found.get(0).absence();
        if (taken.isEmpty() && known != null) {
            throw new IOException(path + ": is offline already: " + known.reason());
        }
        return taken;
    }

    private void takeOut(Slot slot, String reason) {
        Path path = slot.config().path();
        OfflineVolume absence = new OfflineVolume(reason);
        Volume volume = slot.volume();
        if (volume == null) {
            group.put(slot.without(absence));
            return;
        }
        boolean inOrder = volume.isWorking();
        if (inOrder) {
            // Before it misses the first one: whenever the process dies from here on, the volume starts empty.
            volume.leaveSoon();
            group.lost(volume);
            group.drain();
        }
        group.put(slot.without(absence));
        try {
            volume.close();
        } catch (IOException e) {
            LOG.warn("{}: was not closed in order, and will start empty: {}", path, e.toString());
            inOrder = false;
        }
        if (inOrder && volume.hasLeft()) {
            absence.left(volume.superblock());
        }
        LOG.info("{}: taken out by command: {}", path, reason);
    }

    /**
     * Brings the path's volume back, and the shares below it, that were taken out, were given up, or could not be
     * opened. Each keeps what it held if that can be trusted, less what changed meanwhile; else it starts empty. Holding
     * the life cycle lock; blocks.
     *
     * @return the paths of those that are back
     * @throws IOException when all work already, or one cannot be opened; the others are back then all the same
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
            throw new IOException(path + ": is " + working.state().name().toLowerCase(Locale.ROOT) + " already");
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
                LOG.info("{}: closed for good: {}", path, e.toString());
            }
        }
        OfflineVolume absence = slot.absence() == null ? new OfflineVolume("given up") : slot.absence();
        // What changes from here on is noted, also for a volume that nothing was noted for before.
        group.put(slot.without(absence));
        VolumeReturn returned = group.open(slot, absence.isTooMany() ? null : absence.left());
        boolean joined = joinOrClose(slot, returned, absence);
        if (!joined) {
            returned.volume().close();
            returned = group.open(slot, null);
            joined = joinOrClose(slot, returned, absence);
        }
        if (!joined) {
            returned.volume().close();
            throw new IOException(path + ": failed again while it was brought back");
        }
        LOG.info("{}: back by command, {}", path, returned.kept() ? "with its content" : "empty");
    }

    /** As {@link #join}; one that fails is closed, and starts empty: what it was told of what it missed is not certain. */
    private boolean joinOrClose(Slot slot, VolumeReturn returned, OfflineVolume absence) throws IOException {
        boolean failed = true;
        try {
            boolean joined = join(slot, returned, absence);
            failed = false;
            return joined;
        } finally {
            if (failed) {
                absence.forgetLeft();
                closeFailed(returned.volume());
            }
        }
    }

    private static void closeFailed(Volume volume) {
        try {
            volume.close();
        } catch (IOException e) {
            LOG.info("{}: closed after it failed: {}", volume.directory(), e.toString());
        }
    }

    /** Tells a volume what it missed and makes it a member; false when that cannot be done. */
    private boolean join(Slot slot, VolumeReturn returned, OfflineVolume absence) throws IOException {
        Volume volume = returned.volume();
        // The others first: should it be missing at the next start, they know that it was there.
        group.announce(volume);
        group.drain();
        boolean empty = !returned.kept();
        for (int rounds = 0; rounds < CATCH_UP_ROUNDS && volume.isWorking(); rounds++) {
            if (!empty && !catchUp(volume, absence)) {
                return false;
            }
            if (absence.end(empty, keys -> enter(slot, volume, keys))) {
                volume.drain();
                return true;
            }
        }
        return false;
    }

    /** Tells the volume what it missed so far; false when nobody knows that. */
    private static boolean catchUp(Volume volume, OfflineVolume absence) throws IOException {
        for (List<StoreKey> keys = absence.take(); !keys.isEmpty(); keys = absence.take()) {
            volume.changedMeanwhile(diskKeys(keys));
            volume.drain();
        }
        // The removals are to be on the device before the superblock that says there are none missing.
        volume.force();
        return !absence.isTooMany();
    }

    private void enter(Slot slot, Volume volume, List<StoreKey> keys) {
        try {
            volume.changedMeanwhile(diskKeys(keys));
        } catch (IOException e) {
            // Given up this very moment: it finds nothing any more.
            LOG.warn("{}: failed while returning: {}", volume.directory(), e.toString());
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

    /** The volume of that path and the shares below it, which are directories of the shares' names; at least one. */
    private List<Slot> withShares(Path path) throws IOException {
        Path wanted = path.toAbsolutePath().normalize();
        List<Slot> found = new ArrayList<>();
        for (Slot slot : group.slots()) {
            Path own = slot.config().path().toAbsolutePath().normalize();
            String name = slot.config().name();
            boolean share = !name.equals(VolumeConfig.DEFAULT_NAME) && own.equals(wanted.resolve(name));
            if (own.equals(wanted) || share) {
                found.add(slot);
            }
        }
        if (found.isEmpty()) {
            throw new NoSuchFileException(path.toString(), null, "no storage path of this store");
        }
        return found;
    }
}
