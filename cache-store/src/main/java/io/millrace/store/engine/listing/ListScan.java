package io.millrace.store.engine.listing;

import io.millrace.store.ListVisitor;
import io.millrace.store.ListedObject;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeState;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.index.Location;
import io.millrace.store.inventory.InventoryEntry;
import io.millrace.store.inventory.ObjectList;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the lists of one volume for listings, block by block.
 *
 * <p>Confined to the inventory's thread.
 */
final class ListScan {
    private static final Logger LOG = LoggerFactory.getLogger(ListScan.class);

    private final VolumeInventory<?> inventory;
    private final Volume volume;

    /**
     * An object that a scan has found.
     *
     * @param after the position after its entry
     */
    record Found(ListedObject object, ListCursor after) {}

    /**
     * The result of a scan of one block.
     *
     * @param isWhole whether the list of the segment is complete
     * @param next the position after the block
     */
    record Scanned(List<Found> found, boolean isWhole, ListCursor next) {}

    ListScan(VolumeInventory<?> inventory) {
        this.inventory = inventory;
        this.volume = inventory.volume();
    }

    /**
     * Returns the sequence number of the last segment that a new listing visits: the newest segment plus the number of
     * segments of the volume. Objects that the reclaimer moves during the listing are in one of these segments.
     */
    long lastSegmentOfListing() {
        return volume.newestSegment() + volume.segments();
    }

    /**
     * Reads the next block of entries, and returns the objects that are still stored and that the visitor wants. Null at
     * the end of the volume.
     *
     * @param end the end of the newest list for this listing
     */
    @Nullable
    Scanned scan(ListCursor from, ListVisitor visitor, NewestEnd end) {
        long newest = volume.newestSegment();
        SegmentTable.Begun segment = volume.firstBegunAfter(from.segment() - 1);
        if (segment == null || segment.sequence() > from.last()) {
            return null;
        }
        long sequence = segment.sequence();
        ListCursor at = sequence == from.segment() ? from : from.atSegment(sequence);
        boolean lapped = isLapped(from, sequence);
        if (end.isPassed(sequence, at.block())) {
            return new Scanned(List.of(), isComplete(sequence, lapped), at.atSegment(sequence + 1));
        }
        try {
            ObjectList list = inventory.list(sequence);
            ObjectList.Block block = list == null ? null : list.read(at.block());
            if (block != null && list != null) {
                List<Found> found = found(list, block, at, visitor);
                return new Scanned(found, isComplete(sequence, lapped), at.inBlock(block.next(), 0));
            }
            if (sequence >= newest && !end.isReached(volume, sequence, () -> drainedTo(sequence))) {
                return new Scanned(List.of(), isComplete(sequence, lapped), at);
            }
            if (sequence < newest && inventory.drain() > 0) {
                // An object may have been moved from an earlier segment to this one. Its entry may still have been
                // among the recent entries, which are not written yet.
                list = inventory.list(sequence);
                if (list != null && list.read(at.block()) != null) {
                    return new Scanned(List.of(), isComplete(sequence, lapped), at);
                }
            }
            return new Scanned(List.of(), isComplete(sequence, lapped), at.atSegment(sequence + 1));
        } catch (IOException e) {
            ObjectList list = inventory.list(sequence);
            return list == null ? new Scanned(List.of(), false, at.atSegment(sequence + 1)) : afterDamage(list, at, e);
        }
    }

    /** Returns true if the list now has all objects of the segment, and the objects can be found. */
    private boolean isComplete(long sequence, boolean lapped) {
        return !lapped && inventory.isOpen() && inventory.isComplete(sequence) && volume.state() == VolumeState.ONLINE;
    }

    /** Writes the recent entries, and returns the bytes of the list of a segment. */
    private long drainedTo(long sequence) {
        inventory.drain();
        ObjectList list = inventory.list(sequence);
        return list == null ? 0 : list.bytes();
    }

    /**
     * The end of the list of the newest segment for one listing. A record that is in the index may not be reported yet.
     * Therefore the listing waits until the volume's thread has run a task: then all earlier records are reported. Records
     * that are stored later are not listed, so that a listing ends while objects are stored all the time.
     *
     * <p>Confined to the inventory's thread, except {@link #reported}.
     */
    static final class NewestEnd {
        private static final long WAIT_NANOS = 50_000;

        private long segment;
        private volatile boolean reported;
        /** Bytes of the list that the listing visits; -1 until all earlier records are reported. */
        private long bytes = -1;

        /** Returns true if a position in the list of a segment is after the part that the listing visits. */
        boolean isPassed(long sequence, long position) {
            return segment == sequence && bytes >= 0 && position >= bytes;
        }

        /**
         * Called if there is no further block before this end. Returns true if the listing has visited all objects;
         * false if it must read again.
         */
        boolean isReached(Volume volume, long sequence, LongSupplier drainedTo) {
            if (volume.state() != VolumeState.ONLINE) {
                return true;
            }
            if (segment != sequence) {
                segment = sequence;
                bytes = -1;
                reported = false;
                if (!volume.execute(() -> reported = true)) {
                    segment = 0;
                }
            } else if (reported && bytes < 0) {
                bytes = drainedTo.getAsLong();
            } else if (bytes >= 0) {
                return true;
            }
            if (!reported) {
                LockSupport.parkNanos(this, WAIT_NANOS);
            }
            return false;
        }
    }

    /**
     * Returns true if segments that were begun during the listing were reclaimed before the listing has visited them:
     * objects that were moved to these segments may be missing.
     */
    private boolean isLapped(ListCursor from, long nextSegment) {
        long newestAtBegin = from.last() - volume.segments();
        return nextSegment > Math.max(from.segment(), newestAtBegin + 1);
    }

    /** Returns true if a listing that has ended at this position has visited all objects. */
    boolean isWhole(ListCursor end) {
        // If newer segments exist, an object may have been moved to a segment that the listing did not visit.
        return inventory.isWhole() && volume.newestSegment() <= end.last();
    }

    /** Returns the continuation of a scan for which a block could not be read. */
    private Scanned afterDamage(ObjectList list, ListCursor at, IOException why) {
        try {
            // If all blocks are intact, the position belongs to an older list, which this list has replaced.
            ListFill.described(list, () -> !inventory.isStopping());
            return new Scanned(List.of(), false, at.atSegment(at.block() == 0 ? at.segment() + 1 : at.segment()));
        } catch (IOException e) {
            LOG.info(
                    "{}: the list of the stored objects of one segment is damaged and is written again: {}",
                    volume.directory(),
                    why.getMessage());
            inventory.markIncomplete(at.segment());
            return new Scanned(List.of(), false, at.atSegment(at.segment() + 1));
        }
    }

    private List<Found> found(ObjectList list, ObjectList.Block block, ListCursor at, ListVisitor visitor) {
        List<Found> found = new ArrayList<>();
        ByteBuffer in = block.entries();
        int position = 0;
        int number = 1;
        for (int length = InventoryEntry.length(in, 0); length > 0; length = InventoryEntry.length(in, position)) {
            if (number > at.entry() && visitor.mayMatch(InventoryEntry.key(in, position))) {
                long location =
                        volume.find(InventoryEntry.hashHigh(in, position), InventoryEntry.hashLow(in, position));
                InventoryEntry entry = VolumeInventory.isAt(location, InventoryEntry.offset(in, position), list.tag())
                        ? InventoryEntry.decode(in, position)
                        : null;
                if (entry != null) {
                    found.add(new Found(object(entry, location), at.inBlock(at.block(), number)));
                }
            }
            position += length;
            number++;
        }
        return found;
    }

    private ListedObject object(InventoryEntry entry, long location) {
        return new ListedObject(
                entry.key(),
                volume.directory(),
                Location.segment(location),
                entry.offset(),
                entry.headLength(),
                entry.bodyLength(),
                entry.isWhole(),
                Integer.toUnsignedLong(entry.expiry()),
                ObjectDescriptions.summary(entry));
    }
}
