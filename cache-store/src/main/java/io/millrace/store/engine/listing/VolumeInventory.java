package io.millrace.store.engine.listing;

import io.millrace.store.HeadCodec;
import io.millrace.store.HeadSummary;
import io.millrace.store.ListVisitor;
import io.millrace.store.ListedObject;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeState;
import io.millrace.store.disk.record.DiskRecord;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.index.Location;
import io.millrace.store.inventory.Inventory;
import io.millrace.store.inventory.InventoryEntry;
import io.millrace.store.io.FileIo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One volume's inventory at work: what goes in, what of it still counts, and how it becomes whole again.
 *
 * <p>An entry counts when the volume's index says that its record is the newest of its key. So nothing tells the
 * inventory of removals and of segments given up: a sweep takes out what does not count any more. Whatever it missed it
 * learns from the segments, at a bounded rate.
 *
 * <p>Confined to the inventory's thread, but for what says otherwise.
 */
final class VolumeInventory<H> {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeInventory.class);
    /** Bytes of volume for each entry that a new inventory has room for; it is rebuilt when objects are smaller. */
    private static final long BYTES_PER_ENTRY = 32 * 1024;
    /** As above, for the most that it ever has room for. */
    private static final long BYTES_PER_ENTRY_MIN = 2 * 1024;
    /** Entries that do not count which are put up with: this many, and one part of the objects. */
    private static final long STALE_MAX = 256;

    private static final long STALE_PART = 8;

    private final FileIo io;
    private final HeadCodec<H> codec;
    private final Volume volume;
    private final LongAdder missed = new LongAdder();
    private volatile @Nullable Inventory inventory;
    private volatile @Nullable String obstacle = "the inventory is not open yet";
    private volatile boolean stopping;
    /** Set from any thread: a change was not taken in. */
    private volatile boolean behind;
    /** Whether every stored object has an entry, but for those that wait in the queue. */
    private volatile boolean whole;

    private boolean tried;
    private long droppedBefore;
    private int sweepAt = -1;
    private long swept;
    /** Sequence of the segment that was entered last, 0 before the first; -1 when nothing is to be entered. */
    private long filledTo = -1;

    private long droppedBeforeFill;
    /** Since filling began, room was made for what it may have found none for. */
    private boolean roomMade;

    private @Nullable SegmentSummary filling;
    private int fillingNext;

    VolumeInventory(FileIo io, HeadCodec<H> codec, Volume volume) {
        this.io = io;
        this.codec = codec;
        this.volume = volume;
    }

    Volume volume() {
        return volume;
    }

    /** A change did not get into the queue. Any thread. */
    void missed() {
        missed.increment();
        behind = true;
    }

    /** What is under way shall end soon. Any thread. */
    void stopSoon() {
        stopping = true;
    }

    /** Whether there is an inventory. Any thread. */
    boolean isOpen() {
        return inventory != null;
    }

    /** Why there is none. Any thread. */
    @Nullable
    String obstacle() {
        return inventory == null ? volume.directory() + ": " + obstacle : null;
    }

    /** Whether it knows every object. Any thread. */
    boolean isWhole() {
        return inventory != null && whole && !behind && volume.state() == VolumeState.ONLINE;
    }

    /** Entries held. Any thread. */
    long entries() {
        Inventory open = inventory;
        return open == null ? 0 : open.entries();
    }

    /** Bytes of the file. Any thread. */
    long fileBytes() {
        Inventory open = inventory;
        return open == null ? 0 : open.fileBytes();
    }

    /** Entries that did not fit and changes missed. Any thread. */
    long dropped() {
        Inventory open = inventory;
        return missed.sum() + droppedBefore + (open == null ? 0 : open.dropped());
    }

    int segments() {
        Inventory open = inventory;
        return open == null ? 0 : open.segments();
    }

    /** Opens it, unless that was tried before. */
    void open() {
        if (!tried) {
            tried = true;
            open(Math.max(Inventory.ENTRIES_MIN, volume.bytesMax() / BYTES_PER_ENTRY));
        }
    }

    private void open(long entriesExpected) {
        try {
            Inventory opened = Inventory.open(io, volume.directory(), volume.id(), entriesExpected, () -> !stopping);
            whole = opened.isUpTo(volume.applied());
            inventory = opened;
            filledTo = -1;
            if (!whole) {
                beginFill(opened);
            }
            LOG.debug("{}: inventory of {} entries is open, whole={}", volume.directory(), opened.entries(), whole);
        } catch (IOException | RuntimeException | Error e) {
            giveUp(e);
        }
    }

    private void giveUp(Throwable why) {
        obstacle = why.getMessage() == null ? why.toString() : why.getMessage();
        LOG.warn("{}: no inventory: {}", volume.directory(), obstacle);
        LOG.debug("no inventory", why);
        Inventory open = inventory;
        inventory = null;
        if (open != null) {
            try {
                open.abandon();
            } catch (IOException | RuntimeException | Error e) {
                LOG.warn("{}: inventory cannot be deleted: {}", volume.directory(), e.toString());
            }
        }
    }

    /**
     * What a record says of an object, known without reading it. The key is borrowed and never changed.
     *
     * @param headBytes heap of the key and the head
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Description<H>(RecordHeader header, byte[] key, H head, int headBytes) {}

    /**
     * An object's newest record lies at the location, or did when this was queued.
     *
     * @param known what the record says; null when it is to be read
     */
    void stored(long hashHigh, long hashLow, long location, @Nullable Description<H> known) {
        Inventory open = inventory;
        long now = open == null ? Location.NONE : volume.find(hashHigh, hashLow);
        if (open == null || now == Location.NONE) {
            return;
        }
        try {
            if (now == location) {
                enter(open, hashHigh, hashLow, known == null ? describe(location) : describe(known, location));
            } else if (open.location(hashHigh, hashLow) == Location.NONE) {
                // Replaced, which is told later, or moved, which nobody tells.
                enter(open, hashHigh, hashLow, describe(now));
            }
        } catch (RuntimeException | Error e) {
            giveUp(e);
        }
    }

    private void enter(Inventory open, long hashHigh, long hashLow, @Nullable InventoryEntry entry) {
        if (entry != null) {
            put(open, hashHigh, hashLow, entry);
        }
    }

    private void put(Inventory open, long hashHigh, long hashLow, InventoryEntry entry) {
        if (!open.put(hashHigh, hashLow, entry)) {
            whole = false;
            sweepAt = sweepAt < 0 ? 0 : sweepAt;
        }
    }

    /** What the record there says; null when it cannot be read or is no object's. */
    private @Nullable InventoryEntry describe(long location) {
        int segment = Location.segment(location);
        long tag = volume.pin(segment);
        if (tag == 0) {
            return null;
        }
        try {
            DiskRecord record = volume.reader().readHead(segment, Location.offset(location), tag);
            try {
                RecordHeader header = record.header();
                boolean isObject = header.type() == RecordType.COMPLETE || header.type() == RecordType.HEAD;
                return isObject ? entry(record.key(), header, codec.decode(record.head()), location) : null;
            } finally {
                record.release();
            }
        } catch (IOException | RuntimeException e) {
            // Whoever asks for the object finds that out, and what is to be done about it.
            LOG.debug("{}: {}: {}", volume.directory(), Location.describe(location), e.toString());
            return null;
        } finally {
            volume.unpin(segment);
        }
    }

    private @Nullable InventoryEntry describe(Description<H> known, long location) {
        try {
            return entry(known.key(), known.header(), known.head(), location);
        } catch (RuntimeException e) {
            // As with a head that is read: one that cannot be described costs no other entry.
            LOG.debug("{}: {}: {}", volume.directory(), Location.describe(location), e.toString());
            return null;
        }
    }

    private InventoryEntry entry(byte[] key, RecordHeader header, H head, long location) {
        HeadSummary summary = codec.summary(head);
        long storedAt = Math.max(0, Math.min(summary.storedAtSeconds(), 0xFFFF_FFFFL));
        return new InventoryEntry(
                location,
                header.bodyLength(),
                header.headLength(),
                header.expiry(),
                (int) storedAt,
                header.has(RecordHeader.FLAG_WHOLE),
                key,
                summary.text(),
                summary.tags());
    }

    /**
     * Goes through a segment of the map: takes out what does not count, brings up to date what moved, and returns what
     * the visitor wants of the rest.
     */
    List<InventoryListing.Found> scan(int segment, ListCursor after, ListVisitor visitor) {
        List<InventoryListing.Found> found = new ArrayList<>();
        Inventory open = inventory;
        if (open == null) {
            return found;
        }
        List<long[]> moved = new ArrayList<>();
        boolean online = volume.state() == VolumeState.ONLINE;
        open.forEach(segment, (high, low, encoded) -> {
            long now = volume.find(high, low);
            if (now == Location.NONE) {
                swept += online ? 1 : 0;
                return !online;
            }
            if (now != Inventory.location(encoded)) {
                moved.add(new long[] {high, low, now});
            } else if (after.isBefore(high, low)) {
                byte[] key = Inventory.key(encoded);
                InventoryEntry entry = key != null && visitor.wants(key) ? Inventory.decode(encoded) : null;
                add(found, high, low, entry);
            }
            return true;
        });
        for (long[] entry : moved) {
            InventoryEntry now = describe(entry[2]);
            enter(open, entry[0], entry[1], now);
            boolean wanted = now != null && after.isBefore(entry[0], entry[1]) && visitor.wants(now.key());
            add(found, entry[0], entry[1], wanted ? now : null);
        }
        return found;
    }

    private void add(List<InventoryListing.Found> found, long high, long low, @Nullable InventoryEntry entry) {
        if (entry != null) {
            ListedObject object = new ListedObject(
                    entry.key(),
                    volume.directory(),
                    Location.segment(entry.location()),
                    Location.offset(entry.location()),
                    entry.headLength(),
                    entry.bodyLength(),
                    entry.isWhole(),
                    Integer.toUnsignedLong(entry.expiry()),
                    new HeadSummary(Integer.toUnsignedLong(entry.storedAt()), entry.text(), entry.tags()));
            found.add(new InventoryListing.Found(high, low, object));
        }
    }

    /**
     * Does a little of what makes it whole and keeps it small.
     *
     * @param records how many records may be looked at
     * @return whether there is more to do
     */
    boolean work(int records) {
        Inventory open = inventory;
        if (open == null || volume.state() != VolumeState.ONLINE) {
            return false;
        }
        try {
            startWhatIsDue(open);
            // Another one, when it was enlarged.
            open = inventory;
            if (open != null && sweepAt >= 0) {
                sweep(open);
            } else if (open != null && filledTo >= 0) {
                fill(open, records);
            }
        } catch (RuntimeException | Error e) {
            giveUp(e);
        }
        return isOpen() && (sweepAt >= 0 || filledTo >= 0);
    }

    private void startWhatIsDue(Inventory open) {
        long objects = volume.entries();
        if (sweepAt < 0 && open.entries() > objects + objects / STALE_PART + STALE_MAX) {
            sweepAt = 0;
        }
        if (behind) {
            behind = false;
            whole = false;
            beginFill(open);
        }
        long most = Math.max(Inventory.ENTRIES_MIN, volume.bytesMax() / BYTES_PER_ENTRY_MIN);
        if (open.dropped() > 0 && objects > open.entriesMax() && open.entriesMax() < most) {
            enlarge(open, Math.min(most, objects * 2));
        }
    }

    /** More objects than it was made for: a larger one is written from the segments. */
    private void enlarge(Inventory open, long entriesExpected) {
        droppedBefore += open.dropped();
        inventory = null;
        try {
            open.abandon();
            sweepAt = -1;
            open(entriesExpected);
        } catch (IOException e) {
            giveUp(e);
        }
    }

    private static final ListVisitor NOBODY = new ListVisitor() {
        @Override
        public boolean wants(byte[] key) {
            return false;
        }

        @Override
        public boolean object(ListedObject object) {
            return false;
        }
    };

    private void sweep(Inventory open) {
        scan(sweepAt, ListCursor.START, NOBODY);
        sweepAt++;
        if (sweepAt >= open.segments()) {
            sweepAt = -1;
            // What found no room may find it now.
            if (swept > 0 && !whole && filledTo < 0) {
                beginFill(open);
            } else {
                roomMade |= swept > 0;
            }
            swept = 0;
        }
    }

    private void beginFill(Inventory open) {
        filledTo = 0;
        filling = null;
        droppedBeforeFill = open.dropped();
        roomMade = false;
    }

    /**
     * Enters what the segments hold and it does not know. The oldest segments first: what is carried meanwhile goes from an old
     * one to the newest, and so is met in one of them.
     */
    private void fill(Inventory open, int records) {
        int left = records;
        while (left > 0 && filledTo >= 0) {
            SegmentSummary summary = filling;
            if (summary == null) {
                left--;
                beginSegment(open);
            } else if (fillingNext == summary.size()) {
                filling = null;
            } else {
                left -= look(open, summary.entry(fillingNext++));
            }
        }
    }

    private void beginSegment(Inventory open) {
        int segment = volume.segmentBegunAfter(filledTo);
        if (segment < 0) {
            filledTo = -1;
            whole = open.dropped() == droppedBeforeFill;
            LOG.debug("{}: inventory of {} entries is written, whole={}", volume.directory(), open.entries(), whole);
            if (!whole && roomMade) {
                beginFill(open);
            }
            return;
        }
        long tag = volume.pin(segment);
        if (tag == 0) {
            // Given up or moved this very moment: the next look finds what is first now.
            return;
        }
        try {
            // Else it was started again before it was pinned.
            if (volume.segmentBegunAfter(filledTo) != segment) {
                return;
            }
            filledTo = volume.sequence(segment);
            filling = volume.records(segment, tag);
            fillingNext = 0;
        } catch (IOException e) {
            LOG.debug("{}: segment {}: {}", volume.directory(), segment, e.toString());
        } finally {
            volume.unpin(segment);
        }
    }

    /** Returns what it cost, in records read. */
    private int look(Inventory open, SegmentSummary.@Nullable Entry record) {
        if (record == null || (record.type() != RecordType.COMPLETE && record.type() != RecordType.HEAD)) {
            return 0;
        }
        // Wherever it is now: the object may have been moved since the segment was listed.
        long now = volume.find(record.hashHigh(), record.hashLow());
        if (now != Location.NONE && open.location(record.hashHigh(), record.hashLow()) != now) {
            enter(open, record.hashHigh(), record.hashLow(), describe(now));
            return 1;
        }
        return 0;
    }

    /**
     * Closes it in order.
     *
     * @param forced whether to force it to the device
     */
    void close(boolean forced) {
        Inventory open = inventory;
        if (open == null) {
            return;
        }
        obstacle = "the volume is handed over or closed";
        inventory = null;
        try {
            if (volume.state() == VolumeState.ONLINE) {
                open.close(volume.applied(), whole && !behind, forced);
            } else {
                open.abandon();
            }
        } catch (IOException | RuntimeException | Error e) {
            LOG.warn("{}: inventory is not closed, it will be rewritten: {}", volume.directory(), e.toString());
        }
    }
}
