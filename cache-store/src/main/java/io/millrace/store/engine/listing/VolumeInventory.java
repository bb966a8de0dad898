package io.millrace.store.engine.listing;

import io.millrace.store.HeadCodec;
import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeState;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.index.Location;
import io.millrace.store.inventory.InventoryEntry;
import io.millrace.store.inventory.ObjectList;
import io.millrace.store.inventory.RecentEntries;
import io.millrace.store.io.FileIo;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the inventory of one volume: an {@link ObjectList} for each segment that holds records. The volume's thread
 * reports each record of an object; the inventory's thread writes the entries to the lists.
 *
 * <pre>
 *   volume's thread:     record appended → {@link RecentEntries} in memory
 *   inventory's thread:                    → list of the active segment → covered when the next segment begins
 * </pre>
 *
 * <p>An entry is valid if the volume's index has the entry's record as the newest of its key. Removals are not reported.
 * A list is covered when its last block states up to which record it is complete ({@link ObjectList#cover}). The list
 * of a segment is deleted when the segment was reclaimed. If a list lacks entries, a fill reads the heads of these
 * objects at a limited rate.
 *
 * <p>Confined to the inventory's thread, except where stated.
 */
final class VolumeInventory<H> {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeInventory.class);
    /** Name of the file of the inventory of earlier versions; the names of its other files have a suffix. */
    private static final String EARLIER_FILE = "inventory";
    /** Interval of inspections during a fill. */
    private static final long INSPECTION_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Time without a dropped entry before the list of the active segment is filled. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final FileIo io;
    private final Volume volume;
    private final ObjectDescriptions<H> descriptions;
    private final ListScan scan;
    private final Path directory;
    private final long retryNanos;
    private final RecentEntries recent = new RecentEntries();
    /** Sequence numbers of segments with an object whose entry is missing. Any thread. */
    private final Set<Long> gaps = ConcurrentHashMap.newKeySet();

    private final LongAdder dropped = new LongAdder();
    /** The lists by the sequence number of their segment. */
    private final TreeMap<Long, Part> parts = new TreeMap<>();

    private volatile @Nullable String obstacle = "the inventory is not open yet";
    /** True if every stored object has an entry, except objects in {@link #gaps}. */
    private volatile boolean whole;

    private volatile long entries;
    private volatile long fileBytes;
    /** True after {@link #newestAtAttach}, {@link #appliedAtAttach} and {@link #indexKept} are set. */
    private volatile boolean attached;
    /** Set from any thread: the work in progress ends soon. */
    private volatile boolean stopping;
    /** Time of the last entry that was dropped, on the scale of {@link System#nanoTime}. Any thread. */
    private volatile long droppedAtNanos;

    /** Sequence number of the newest segment when the volume's records began to be reported. */
    private long newestAtAttach;
    /** Sequence number of the last record when the volume's records began to be reported. */
    private long appliedAtAttach;

    /** True if the index is the one that the volume had when its lists were written. */
    private boolean indexKept;

    private boolean opened;
    /** Time of the next inspection during a fill, on the scale of {@link System#nanoTime}. */
    private long inspectAtNanos;
    /** True after an error, until the next attempt. */
    private boolean failing;
    /** Time of the last error, on the scale of {@link System#nanoTime}. */
    private long failedAtNanos;
    /** The lists of segments up to this sequence number are complete. */
    private long completeTo;
    /** The fill in progress; null for none. */
    private @Nullable ListFill fill;
    /** Sequence number of the segment of {@link #fill}. */
    private long fillSegment;
    /** Time until which no work is done, on the scale of {@link System#nanoTime}. */
    private long pausedUntil = System.nanoTime();

    /** The list of a segment, and what is known about it. */
    private static final class Part {
        final ObjectList list;
        /** True if each object of the segment has an entry or will get one from the recent entries. */
        boolean complete;
        /**
         * True if a fill has completed the list. Records that the index did not contain at the time of the fill have no
         * entry.
         */
        boolean filledByIndex;
        /** True if a record could not be read, until {@link #retryAtNanos}. */
        boolean unreadable;

        long retryAtNanos;
        /**
         * Offsets of the records that a fill found, as numbers of units; their recent entries are duplicates. Null if
         * there was no fill while the segment was active.
         */
        @Nullable
        BitSet filled;

        Part(ObjectList list, boolean complete) {
            this.list = list;
            this.complete = complete;
        }
    }

    /** @param retryNanos time from an error to the next attempt to write a list */
    VolumeInventory(FileIo io, HeadCodec<H> codec, Volume volume, long retryNanos) {
        this.io = io;
        this.retryNanos = retryNanos;
        this.volume = volume;
        descriptions = new ObjectDescriptions<>(codec, volume);
        scan = new ListScan(this);
        directory = ObjectList.directory(volume.directory());
    }

    Volume volume() {
        return volume;
    }

    /** Returns the reader of the lists. */
    ListScan scan() {
        return scan;
    }

    ObjectDescriptions<H> descriptions() {
        return descriptions;
    }

    /** Requests that the work in progress ends soon. Any thread. */
    void stopSoon() {
        stopping = true;
    }

    /** Call once, when records of the volume are being reported. Any thread. */
    void attached() {
        newestAtAttach = volume.newestSegment();
        // The coverage of a list is not trusted if records were appended that were not reported, or if a rebuild of the
        // index may have found records that the index did not have before.
        boolean trusted = !volume.wasRebuilt() && volume.bytesWritten() == 0;
        appliedAtAttach = trusted ? volume.appliedSequence() : ObjectList.NOTHING;
        indexKept = !volume.wasRebuilt();
        attached = true;
    }

    /**
     * Reports the newest record of an object. Called on the volume's thread. Throws no exception.
     *
     * @param head the decoded head; null if {@code encodedHead} must be decoded
     * @param encodedHead the encoded head; borrowed
     * @return true if the inventory's thread should write entries now
     */
    boolean stored(RecordHeader header, DiskKey key, long location, @Nullable H head, @Nullable ByteBuf encodedHead) {
        long segment = header.sequence() >>> 32;
        boolean added = false;
        try {
            byte[] entry = descriptions.encoded(header, key, location, head, encodedHead);
            added = entry == null || recent.add(segment, header.tag(), entry);
        } catch (RuntimeException | Error e) {
            LOG.debug("{}: {}: {}", volume.directory(), Location.describe(location), e.toString());
        }
        if (!added) {
            droppedAtNanos = System.nanoTime();
            gaps.add(segment);
            dropped.increment();
        }
        return recent.isDue();
    }

    /** Returns true if the recent entries need much memory. Any thread. */
    boolean isDue() {
        return recent.isDue();
    }

    /** Returns true if the lists can be read and written. Any thread. */
    boolean isOpen() {
        return obstacle == null;
    }

    /** Returns the reason why the lists cannot be read or written; null if they can. Any thread. */
    @Nullable
    String obstacle() {
        String reason = obstacle;
        return reason == null ? null : volume.directory() + ": " + reason;
    }

    /** Returns true if the inventory contains every object. Any thread. */
    boolean isWhole() {
        return isOpen() && whole && gaps.isEmpty() && volume.state() == VolumeState.ONLINE;
    }

    /** Returns the number of entries. Any thread. */
    long entries() {
        return entries;
    }

    /** Returns the bytes of the files. Any thread. */
    long fileBytes() {
        return fileBytes;
    }

    /** Returns the number of entries that were not kept and had to be written from the segments. Any thread. */
    long dropped() {
        return dropped.sum();
    }

    /** Opens the lists, unless this was done before. */
    void open() {
        if (opened || !attached) {
            return;
        }
        opened = true;
        openLists();
    }

    private void openLists() {
        try {
            deleteEarlierFiles();
            io.createDirectories(directory);
            List<Long> listed = ObjectList.segments(io, directory);
            for (SegmentTable.Begun segment : volume.begunSegments()) {
                part(segment);
            }
            for (long sequence : listed) {
                if (!parts.containsKey(sequence)) {
                    ObjectList.delete(io, directory, sequence);
                }
            }
            obstacle = null;
            inspect();
            count();
            LOG.debug("{}: inventory of {} entries is open", volume.directory(), entries);
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
        }
    }

    private void deleteEarlierFiles() throws IOException {
        io.delete(volume.directory().resolve(EARLIER_FILE));
        // Names of volumes, which may be directories beside these files, contain no dot.
        for (Path earlier : io.list(volume.directory(), EARLIER_FILE + ".")) {
            io.delete(earlier);
        }
    }

    private Part part(SegmentTable.Begun segment) throws IOException {
        return part(segment.sequence(), segment.tag());
    }

    /** Returns the list of a segment, and opens it if necessary. */
    private Part part(long sequence, long tag) throws IOException {
        Part existing = parts.get(sequence);
        if (existing != null && existing.list.tag() == tag) {
            return existing;
        }
        Part made = opened(sequence, tag);
        parts.put(sequence, made);
        return made;
    }

    private Part opened(long sequence, long tag) throws IOException {
        ObjectList list;
        try {
            list = ObjectList.open(io, directory, sequence, tag);
        } catch (IOException e) {
            LOG.info(
                    "{}: the list of the stored objects of one segment is damaged and is written again: {}",
                    volume.directory(),
                    e.toString());
            ObjectList.delete(io, directory, sequence);
            list = ObjectList.open(io, directory, sequence, tag);
        }
        boolean begunHere = sequence > newestAtAttach;
        long covered = list.coveredTo();
        boolean isLast = sequence == newestAtAttach && covered >= 0 && covered == appliedAtAttach;
        boolean byFill = covered == ObjectList.INDEXED;
        Part made = new Part(list, begunHere || covered == ObjectList.ALL || isLast || (byFill && indexKept));
        made.filledByIndex = byFill;
        if (byFill && !indexKept) {
            // Another process must not trust the coverage either.
            list.cover(ObjectList.NOTHING);
        }
        return made;
    }

    private void fail(Throwable why) {
        obstacle = why.getMessage() == null ? why.toString() : why.getMessage();
        failing = true;
        failedAtNanos = System.nanoTime();
        completeTo = 0;
        fill = null;
        LOG.warn(
                "{}: the inventory cannot be written, so stored objects are not listed; another attempt follows: {}",
                volume.directory(),
                obstacle);
        LOG.debug("inventory failed", why);
    }

    /** Opens the lists again if the waiting time after an error is over. Returns true if the lists can be written. */
    private boolean recovered() {
        if (failing && System.nanoTime() - failedAtNanos >= retryNanos) {
            failing = false;
            openLists();
        }
        return !failing;
    }

    /**
     * Writes the recent entries to the lists.
     *
     * @return the number of entries
     */
    long drain() {
        long taken = 0;
        if (opened) {
            // This number of runs contains all entries that were added before this call.
            int runsLeft = RecentEntries.CHUNKS_MAX + 1;
            for (RecentEntries.Run run = recent.nextRun(); run != null; run = runsLeft > 0 ? recent.nextRun() : null) {
                taken += run.count();
                write(run);
                runsLeft--;
            }
        }
        if (taken > 0) {
            count();
        }
        return taken;
    }

    private void write(RecentEntries.Run run) {
        try {
            if (!failing) {
                Part part = part(run.segment(), run.tag());
                BitSet filled = part.filled;
                if (filled == null) {
                    part.list.append(run.bytes(), run.from(), run.length(), run.count());
                } else {
                    writeUnfilled(run, part.list, filled);
                }
                return;
            }
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
        }
        droppedAtNanos = System.nanoTime();
        gaps.add(run.segment());
        dropped.add(run.count());
    }

    /** Writes the entries of records that a fill has not found. */
    private static void writeUnfilled(RecentEntries.Run run, ObjectList list, BitSet filled) throws IOException {
        ByteBuffer in =
                ByteBuffer.wrap(run.bytes()).order(ByteOrder.LITTLE_ENDIAN).limit(run.from() + run.length());
        byte[] kept = new byte[run.length()];
        int keptBytes = 0;
        int keptCount = 0;
        int at = run.from();
        for (int length = InventoryEntry.length(in, at); length > 0; length = InventoryEntry.length(in, at)) {
            int unit = ListFill.unit(InventoryEntry.offset(in, at));
            if (!filled.get(unit)) {
                filled.set(unit);
                in.get(at, kept, keptBytes, length);
                keptBytes += length;
                keptCount++;
            }
            at += length;
        }
        if (keptCount > 0) {
            list.append(kept, 0, keptBytes, keptCount);
        }
    }

    private void count() {
        long sum = 0;
        long bytes = 0;
        for (Part part : parts.values()) {
            sum += part.list.entries();
            bytes += part.list.bytes();
        }
        entries = sum;
        fileBytes = bytes;
    }

    /** Returns true until the pause after the last step has ended. */
    boolean isPaused(long nanoTime) {
        return pausedUntil - nanoTime > 0;
    }

    /** Begins a pause of this length, in nanoseconds. */
    void pause(long nanos) {
        pausedUntil = System.nanoTime() + nanos;
    }

    /** Returns true if a fill is in progress. */
    boolean hasWork() {
        return fill != null;
    }

    /** Returns the list of a segment; null if no object of the segment was reported. */
    @Nullable
    ObjectList list(long sequence) {
        Part part = parts.get(sequence);
        return part == null ? null : part.list;
    }

    /** Returns true if the list of a segment has an entry for each object of the segment. */
    boolean isComplete(long sequence) {
        Part part = parts.get(sequence);
        // Without a list, the segment has no objects if all its records were reported.
        boolean complete = part == null ? sequence > newestAtAttach : part.complete;
        return complete && !gaps.contains(sequence);
    }

    /** Requests that the list of a segment is completed, because a block is damaged. */
    void markIncomplete(long sequence) {
        Part part = parts.get(sequence);
        if (part != null) {
            part.complete = false;
            completeTo = Math.min(completeTo, sequence - 1);
            whole = false;
        }
    }

    /** Returns true if the work in progress must end soon. */
    boolean isStopping() {
        return stopping;
    }

    /** Returns true if the location is that of the record at an offset of the segment with that tag. */
    static boolean isAt(long location, long offset, long tag) {
        // The number of the segment is not compared, because the volume may move a segment when it is shrunk.
        return location != Location.NONE
                && Location.offset(location) == offset
                && Location.tag(location) == (int) (tag & 0xFF);
    }

    /**
     * Performs a limited step of a fill, or begins one if a list is incomplete.
     *
     * @param records limit of records to read
     * @return true if work remains
     */
    boolean work(int records) {
        if (!opened || volume.state() != VolumeState.ONLINE || !recovered()) {
            return false;
        }
        ListFill current = fill;
        try {
            if (current == null) {
                // This step only schedules the fill. The next step performs it, because the caller measures the time of
                // a step only if a fill was scheduled before.
                inspect();
            } else {
                step(current, records);
                if (System.nanoTime() - inspectAtNanos >= 0 && volume.state() == VolumeState.ONLINE) {
                    inspect();
                }
            }
            count();
        } catch (IOException | RuntimeException | Error e) {
            fail(e);
        }
        // After a fill, the next list is inspected.
        return fill != null || current != null;
    }

    private void step(ListFill current, int records) {
        try {
            boolean atEnd = current.step(records);
            if (volume.state() != VolumeState.ONLINE) {
                // Lookups find nothing in a volume that is not online.
                fill = null;
            } else if (atEnd) {
                finish(current);
            }
        } catch (IOException e) {
            LOG.warn(
                    "{}: objects of a segment are not listed; another attempt follows: {}",
                    volume.directory(),
                    e.toString());
            postpone(fillSegment);
        }
    }

    /** Ends the fill of a segment that cannot be read or written, until the next attempt. */
    private void postpone(long sequence) {
        fill = null;
        Part part = parts.get(sequence);
        if (part != null) {
            part.complete = false;
            part.unreadable = true;
            part.retryAtNanos = System.nanoTime() + retryNanos;
        }
    }

    /** Deletes the lists of reclaimed segments, covers those of sealed segments, and begins a fill if one is needed. */
    private void inspect() throws IOException {
        inspectAtNanos = System.nanoTime() + INSPECTION_NANOS;
        long newest = volume.newestSegment();
        // Everything that was reported before the newest segment began is written afterwards.
        drain();
        if (failing) {
            return;
        }
        deleteReclaimed();
        coverSealed(newest);
        SegmentTable.Begun incomplete = firstIncomplete(newest);
        if (incomplete != null && fill == null && !stopping) {
            beginFill(incomplete);
        }
    }

    /** Adds a coverage block to the complete lists of segments before the newest one. */
    private void coverSealed(long newest) throws IOException {
        for (Map.Entry<Long, Part> entry : parts.headMap(newest).entrySet()) {
            Part part = entry.getValue();
            long coverage = part.filledByIndex ? ObjectList.INDEXED : ObjectList.ALL;
            if (part.complete && part.list.coveredTo() < ObjectList.INDEXED && !gaps.contains(entry.getKey())) {
                part.list.cover(coverage);
            }
            if (fill == null || fillSegment != entry.getKey()) {
                part.filled = null;
            }
        }
    }

    private void deleteReclaimed() throws IOException {
        SegmentTable.Begun oldest = volume.firstBegunAfter(0);
        long first = oldest == null ? Long.MAX_VALUE : oldest.sequence();
        if (fillSegment < first) {
            fill = null;
        }
        while (!parts.isEmpty() && parts.firstKey() < first) {
            long sequence = parts.firstKey();
            ObjectList.delete(io, directory, sequence);
            parts.remove(sequence);
        }
        gaps.removeIf(sequence -> sequence < first);
    }

    /**
     * Determines whether all lists are complete. Returns the oldest segment whose list is incomplete and can be filled
     * now; null if there is none.
     */
    private SegmentTable.@Nullable Begun firstIncomplete(long newest) throws IOException {
        for (long sequence : gaps) {
            completeTo = Math.min(completeTo, sequence - 1);
        }
        boolean all = true;
        SegmentTable.Begun found = null;
        for (SegmentTable.Begun segment : volume.begunSegments()) {
            if (segment.sequence() <= completeTo) {
                continue;
            }
            Part part = part(segment);
            if (part.complete && !gaps.contains(segment.sequence())) {
                completeTo = all && segment.sequence() < newest ? segment.sequence() : completeTo;
            } else {
                all = false;
                found = found == null && isFillDue(part, segment.sequence() == newest) ? segment : found;
            }
        }
        whole = all;
        return found;
    }

    /** Returns true if the incomplete list can be filled now. */
    private boolean isFillDue(Part part, boolean isNewest) {
        long now = System.nanoTime();
        if (part.unreadable) {
            return now - part.retryAtNanos >= 0;
        }
        // While entries are dropped, a fill of the active segment would be incomplete at its end.
        return !isNewest || gaps.isEmpty() || now - droppedAtNanos >= QUIET_NANOS;
    }

    private void beginFill(SegmentTable.Begun segment) throws IOException {
        long tag = volume.pin(segment.segment());
        if (tag == 0) {
            // The segment was reclaimed or moved just now. The next call determines again which segment follows.
            return;
        }
        try {
            if (tag != segment.tag()) {
                return;
            }
            Part part = part(segment);
            part.complete = false;
            part.unreadable = false;
            // An entry that is dropped from now on makes a new gap.
            gaps.remove(segment.sequence());
            drain();
            BitSet described = described(part.list);
            fill = new ListFill(
                    volume, part.list, volume.records(segment.segment(), tag), described, descriptions::describe);
            fillSegment = segment.sequence();
            part.filled = described;
        } catch (IOException e) {
            LOG.warn(
                    "{}: objects of segment {} are not listed; another attempt follows: {}",
                    volume.directory(),
                    segment.segment(),
                    e.toString());
            postpone(segment.sequence());
        } finally {
            volume.unpin(segment.segment());
        }
    }

    private BitSet described(ObjectList list) throws IOException {
        try {
            return ListFill.described(list, () -> !stopping);
        } catch (IOException e) {
            LOG.info(
                    "{}: the list of the stored objects of one segment is damaged and is written again: {}",
                    volume.directory(),
                    e.getMessage());
            list.clear();
            return new BitSet();
        }
    }

    private void finish(ListFill finished) {
        fill = null;
        Part part = parts.get(fillSegment);
        if (part != null && part.list == finished.list()) {
            part.complete = true;
            part.filledByIndex = true;
        }
        LOG.debug(
                "{}: the list of a segment is complete: entries={}",
                volume.directory(),
                finished.list().entries());
    }

    /** Writes the recent entries, so that the next open need not read records. */
    void close() {
        if (!opened) {
            open();
        }
        drain();
        if (isOpen() && volume.state() == VolumeState.ONLINE) {
            cover();
        }
        fill = null;
        opened = false;
        obstacle = "the volume is being handed over or closed";
    }

    private void cover() {
        try {
            long newest = volume.newestSegment();
            coverSealed(newest);
            SegmentTable.Begun segment = volume.firstBegunAfter(newest - 1);
            if (segment != null) {
                Part part = part(segment);
                // Whether the last record was in the index when a fill read the segment is not known.
                if (part.complete && !part.filledByIndex && !gaps.contains(newest)) {
                    part.list.cover(volume.appliedSequence());
                }
            }
        } catch (IOException | RuntimeException | Error e) {
            LOG.warn("{}: the inventory cannot be closed and will be completed: {}", volume.directory(), e.toString());
        }
    }
}
