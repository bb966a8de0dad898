package io.millrace.store.engine.listing;

import io.millrace.store.HeadCodec;
import io.millrace.store.HeadSummary;
import io.millrace.store.ListVisitor;
import io.millrace.store.ListedObject;
import io.millrace.store.StoreKey;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeState;
import io.millrace.store.disk.record.DiskRecord;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.index.Location;
import io.millrace.store.inventory.Inventory;
import io.millrace.store.inventory.InventoryEntry;
import io.millrace.store.inventory.InventoryException;
import io.millrace.store.io.FileIo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the {@link Inventory} of one volume up to date. An inventory is a file with an entry for each stored object.
 * This class adds entries, removes obsolete ones, and completes the inventory after missed changes.
 *
 * <p>An entry is valid if the volume's index has the entry's record as the newest of its key. Removals and reclaimed
 * segments are not reported to the inventory. Instead, a sweep checks the entries and removes invalid ones. After
 * missed changes, a fill reads the records of the segments at a limited rate.
 *
 * <p>Confined to the inventory's thread, except where stated.
 */
final class VolumeInventory<H> {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeInventory.class);
    /** Volume bytes per entry of a new inventory. If objects are smaller, a larger inventory replaces it. */
    private static final long BYTES_PER_ENTRY = 32 * 1024;
    /** Volume bytes per entry of the largest possible inventory. */
    private static final long BYTES_PER_ENTRY_MIN = 2 * 1024;
    /** Divisor: an inventory begins to grow when less than this fraction of its space is free. */
    private static final long SPARE_DIVISOR = 4;
    /** Bytes of a larger inventory that a step of work allocates on the device. */
    private static final long ALLOCATED_BYTES = 4 << 20;
    /** Limit of obsolete entries before a sweep: this number plus the objects divided by {@link #STALE_DIVISOR}. */
    private static final long STALE_MAX = 256;

    private static final long STALE_DIVISOR = 8;

    private final FileIo io;
    private final HeadCodec<H> codec;
    private final Volume volume;
    private final LongAdder missed = new LongAdder();
    private volatile @Nullable Inventory inventory;
    private volatile @Nullable String obstacle = "the inventory is not open yet";
    private volatile boolean stopping;
    /** Set from any thread: a change was missed. */
    private volatile boolean behind;
    /** True if every stored object has an entry, except for changes in the queue. */
    private volatile boolean whole;

    private boolean tried;
    /** Number of entries that did not fit. */
    private volatile long dropped;
    /** True if this inventory lacks entries, but {@link #growth} contains all of them. */
    private boolean completeAfterGrowth;
    /** Time until which no work is done, on the scale of {@link System#nanoTime}. */
    private long pausedUntil = System.nanoTime();

    /** Segment of the map that is swept next; -1 if no sweep is in progress. */
    private int sweepAt = -1;
    /** Entries that scans have removed since the last sweep ended. */
    private long swept;
    /** Sequence of the segment that the fill began last, 0 before the first; -1 if no fill is in progress. */
    private long filledTo = -1;

    private long droppedBeforeFill;
    /** True if a sweep since the start of the fill made room for entries that did not fit. */
    private boolean roomMade;

    private @Nullable SegmentSummary filling;
    private int fillingNext;
    /** A larger inventory, to which the entries are copied; null if none is needed. */
    private @Nullable Inventory growth;
    /** True if the blocks of {@link #growth} are allocated on the device. Then it gets all new entries too. */
    private boolean growthAllocated;

    /** Segment of the map that is copied next. */
    private int copiedTo;
    /** True if no larger inventory could be created at the last attempt. */
    private boolean growthFailed;

    private long growthFailedAtNanos;
    private final long retryNanos;

    /** @param retryNanos time from a failed attempt to create a larger inventory to the next one */
    VolumeInventory(FileIo io, HeadCodec<H> codec, Volume volume, long retryNanos) {
        this.io = io;
        this.retryNanos = retryNanos;
        this.codec = codec;
        this.volume = volume;
    }

    Volume volume() {
        return volume;
    }

    /** Counts a change that was not queued. Any thread. */
    void countMissedChange() {
        missed.increment();
        behind = true;
    }

    /** Requests that the work in progress ends soon. Any thread. */
    void stopSoon() {
        stopping = true;
    }

    /** Returns true if there is an inventory. Any thread. */
    boolean isOpen() {
        return inventory != null;
    }

    /** Returns the reason why there is no inventory. Any thread. */
    @Nullable
    String obstacle() {
        return inventory == null ? volume.directory() + ": " + obstacle : null;
    }

    /** Returns true if the inventory contains every object. Any thread. */
    boolean isWhole() {
        return inventory != null && whole && !behind && volume.state() == VolumeState.ONLINE;
    }

    /** Returns the number of entries. Any thread. */
    long entries() {
        Inventory open = inventory;
        return open == null ? 0 : open.entries();
    }

    /** Returns the bytes of the file. Any thread. */
    long fileBytes() {
        Inventory open = inventory;
        return open == null ? 0 : open.fileBytes();
    }

    /** Returns the number of entries that did not fit and of missed changes. Any thread. */
    long dropped() {
        return missed.sum() + dropped;
    }

    int segments() {
        Inventory open = inventory;
        return open == null ? 0 : open.segments();
    }

    /** Opens the inventory, unless this was tried before. */
    void open() {
        if (tried) {
            return;
        }
        tried = true;
        long entriesExpected = Math.max(Inventory.ENTRIES_MIN, volume.bytesMax() / BYTES_PER_ENTRY);
        try {
            Inventory opened = Inventory.open(io, volume.directory(), volume.id(), entriesExpected, () -> !stopping);
            whole = opened.isUpTo(volume.appliedSequence());
            inventory = opened;
            if (!whole) {
                beginFill();
            }
            LOG.debug("{}: inventory of {} entries is open, whole={}", volume.directory(), opened.entries(), whole);
        } catch (IOException | RuntimeException | Error e) {
            giveUp(e);
        }
    }

    private void giveUp(Throwable why) {
        obstacle = why.getMessage() == null ? why.toString() : why.getMessage();
        LOG.warn(
                "{}: the inventory cannot be used, so stored objects are not listed: {}", volume.directory(), obstacle);
        LOG.debug("inventory failed", why);
        abandonGrowth();
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

    private void abandonGrowth() {
        Inventory larger = growth;
        growth = null;
        if (larger != null) {
            try {
                larger.abandon();
            } catch (IOException | RuntimeException | Error e) {
                LOG.warn("{}: a larger inventory cannot be deleted: {}", volume.directory(), e.toString());
            }
        }
    }

    /**
     * The content of an object's record, so that the record need not be read. The key is borrowed and never changed.
     *
     * @param headBytes heap bytes of the key and the head
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Description<H>(RecordHeader header, byte[] key, H head, int headBytes) {}

    /**
     * Adds the entry of an object whose newest record was at the location when this change was queued.
     *
     * @param known the description of the object; null if the record must be read
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
                // The object has a newer record. If the object was replaced, another change follows. If reclaim moved
                // the record, no change follows, so the entry is added now.
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
        Inventory larger = growth;
        boolean kept = larger != null && growthAllocated && larger.put(hashHigh, hashLow, entry);
        if (!open.put(hashHigh, hashLow, entry)) {
            completeAfterGrowth = kept && (whole || completeAfterGrowth);
            whole = false;
            if (!kept) {
                long more = dropped + 1;
                dropped = more;
                sweepAt = sweepAt < 0 ? 0 : sweepAt;
            }
        }
    }

    /** Reads the record at the location; null if it cannot be read or is not an object. */
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
            // The next open of the object detects the error and handles it.
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
            // A head that cannot be described affects no other entry, like a head that cannot be read.
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
     * Scans a segment of the inventory's map. Removes obsolete entries, updates entries of moved objects, and returns
     * the entries after the cursor that the visitor wants.
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
                    summary(entry));
            found.add(new InventoryListing.Found(high, low, object));
        }
    }

    /** Returns the summary of the object of a key; null if the volume does not have the key. */
    @Nullable
    HeadSummary summary(StoreKey key) {
        Inventory open = inventory;
        long now = open == null ? Location.NONE : volume.find(key.hashHigh(), key.hashLow());
        if (open == null || now == Location.NONE) {
            return null;
        }
        InventoryEntry entry = open.entry(key.hashHigh(), key.hashLow());
        if (entry == null || entry.location() != now) {
            entry = describe(now);
        }
        return entry == null || !Arrays.equals(entry.key(), key.bytes()) ? null : summary(entry);
    }

    private static HeadSummary summary(InventoryEntry entry) {
        return new HeadSummary(Integer.toUnsignedLong(entry.storedAt()), entry.text(), entry.tags());
    }

    /** Returns true until the pause after the last step has ended. */
    boolean isPaused(long nanoTime) {
        return pausedUntil - nanoTime > 0;
    }

    /** Begins a pause of this length, in nanoseconds. */
    void pause(long nanos) {
        pausedUntil = System.nanoTime() + nanos;
    }

    /**
     * Performs a limited step of the fill, sweep or growth.
     *
     * @param records limit of records to read
     * @return true if work remains
     */
    boolean work(int records) {
        Inventory open = inventory;
        if (open == null || volume.state() != VolumeState.ONLINE) {
            return false;
        }
        try {
            boolean begun = hasWork();
            startDueWork(open);
            Inventory larger = growth;
            if (!begun) {
                // This step only schedules the work. The next step performs it, because the caller measures the time of
                // a step only if work was scheduled before.
                return hasWork();
            }
            if (larger != null) {
                grow(open, larger);
            } else if (sweepAt >= 0) {
                sweep(open);
            } else if (filledTo >= 0) {
                fill(open, records);
            }
        } catch (IOException | RuntimeException | Error e) {
            giveUp(e);
        }
        return hasWork();
    }

    /** Returns true if a growth, sweep or fill is in progress. */
    boolean hasWork() {
        return isOpen() && (growth != null || sweepAt >= 0 || filledTo >= 0);
    }

    private void startDueWork(Inventory open) {
        long objects = volume.entries();
        if (sweepAt < 0 && open.entries() > objects + objects / STALE_DIVISOR + STALE_MAX) {
            sweepAt = 0;
        }
        if (behind) {
            whole = false;
            behind = false;
            completeAfterGrowth = false;
            beginFill();
        }
        long most = Math.max(Inventory.ENTRIES_MIN, volume.bytesMax() / BYTES_PER_ENTRY_MIN);
        boolean full = objects > open.entriesMax() - open.entriesMax() / SPARE_DIVISOR;
        if (full && growth == null && open.entriesMax() < most && mayGrowNow()) {
            beginGrowth(open, Math.min(most, objects * 2));
        }
    }

    private boolean mayGrowNow() {
        return !growthFailed || System.nanoTime() - growthFailedAtNanos >= retryNanos;
    }

    /** Creates a larger inventory, because there are more objects than expected. Then its entries are copied. */
    private void beginGrowth(Inventory open, long entriesExpected) {
        try {
            growth = open.createLarger(entriesExpected);
            growthAllocated = false;
            copiedTo = 0;
            growthFailed = false;
        } catch (IOException e) {
            reportGrowthFailure(open, e);
        }
    }

    private void reportGrowthFailure(Inventory open, IOException why) {
        growthFailed = true;
        growthFailedAtNanos = System.nanoTime();
        LOG.warn(
                "{}: the inventory of {} entries cannot grow, so that listings are incomplete; another attempt"
                        + " follows: {}",
                volume.directory(),
                open.entriesMax(),
                why.getMessage());
    }

    /**
     * Allocates a part of the larger inventory. If all is allocated, copies a segment of the map. The larger inventory
     * replaces the other one after the last segment.
     */
    private void grow(Inventory open, Inventory larger) throws IOException {
        if (!growthAllocated) {
            try {
                growthAllocated = larger.allocate(ALLOCATED_BYTES);
            } catch (InventoryException e) {
                reportGrowthFailure(open, e);
                abandonGrowth();
            }
            return;
        }
        open.copyTo(larger, copiedTo++);
        if (copiedTo < open.segments()) {
            return;
        }
        growth = null;
        sweepAt = -1;
        long more = dropped + larger.dropped();
        dropped = more;
        boolean complete = (whole || completeAfterGrowth) && larger.dropped() == 0;
        whole &= complete;
        completeAfterGrowth = false;
        inventory = larger;
        open.replaceBy(larger);
        if (complete) {
            whole = true;
        } else {
            // The larger inventory lacks the entries that did not fit into the smaller one.
            beginFill();
        }
        LOG.debug("{}: inventory of {} entries has grown, whole={}", volume.directory(), larger.entries(), whole);
    }

    /** A visitor that wants no object. A scan with this visitor only removes and updates entries. */
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
            // Entries that did not fit may fit now.
            if (swept > 0 && !whole && filledTo < 0) {
                beginFill();
            } else {
                roomMade |= swept > 0;
            }
            swept = 0;
        }
    }

    private void beginFill() {
        filledTo = 0;
        filling = null;
        droppedBeforeFill = dropped;
        roomMade = false;
    }

    /**
     * Adds missing entries from the segments, oldest segments first. Reclaim moves records from an old segment to the
     * newest, so that each moved record is found in one of the two.
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
                left -= addIfMissing(open, summary.entry(fillingNext++));
            }
        }
    }

    private void beginSegment(Inventory open) {
        int segment = volume.segmentBegunAfter(filledTo);
        if (segment < 0) {
            filledTo = -1;
            whole = dropped == droppedBeforeFill;
            LOG.debug("{}: inventory of {} entries is written, whole={}", volume.directory(), open.entries(), whole);
            if (!whole && roomMade) {
                beginFill();
            }
            return;
        }
        long tag = volume.pin(segment);
        if (tag == 0) {
            // The segment was reclaimed or moved just now. The next call determines again which segment follows.
            return;
        }
        try {
            // If another segment is the first one now, this one was reclaimed before it was pinned.
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

    /** Adds the entry of the record's object if it is missing or outdated. Returns the number of records read. */
    private int addIfMissing(Inventory open, SegmentSummary.@Nullable Entry record) {
        if (record == null || (record.type() != RecordType.COMPLETE && record.type() != RecordType.HEAD)) {
            return 0;
        }
        // Uses the current location, because the object may have been moved since the segment was listed.
        long now = volume.find(record.hashHigh(), record.hashLow());
        if (now != Location.NONE && open.location(record.hashHigh(), record.hashLow()) != now) {
            enter(open, record.hashHigh(), record.hashLow(), describe(now));
            return 1;
        }
        return 0;
    }

    /**
     * Closes the inventory cleanly.
     *
     * @param forced whether to force it to the device
     */
    void close(boolean forced) {
        Inventory open = inventory;
        if (open == null) {
            return;
        }
        obstacle = "the volume is being handed over or closed";
        abandonGrowth();
        inventory = null;
        try {
            if (volume.state() == VolumeState.ONLINE) {
                open.close(volume.appliedSequence(), whole && !behind, forced);
            } else {
                open.abandon();
            }
        } catch (IOException | RuntimeException | Error e) {
            LOG.warn("{}: the inventory cannot be closed and will be rebuilt: {}", volume.directory(), e.toString());
        }
    }
}
