package io.millrace.store.recover;

import io.millrace.store.disk.VolumeUpkeep;
import io.millrace.store.disk.record.DiskRecord;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.disk.segment.RecordReader;
import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.SegmentHeader;
import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A rebuild of an index from the segments of a volume, in small steps. It adds the newest segment first, and the newest
 * record of each segment first. Therefore an entry that already exists is newer than the record, and remains. Until the
 * end of the rebuild, tombstones are also entries, so that they hide records of removed objects in older segments. New
 * records may be appended during the rebuild, because they are newer than all records in the segments.
 *
 * <p>A segment that cannot be read may have contained tombstones. Therefore the content of all older segments is
 * dropped, so that removed objects do not reappear. If the index becomes full, the content of all older segments is
 * dropped too.
 *
 * <p>After a power failure, the header of an object may be on the device while some of its content is lost. Therefore
 * the objects in the newest segments, which may not have been forced, are verified, and a partly written object is
 * skipped. An older object of the key is then found again, unless a tombstone or another change hides it. Objects
 * stored in blocks are not verified. If the newest head of such an object were skipped, an older head would be found
 * again, and it may list blocks that were removed later.
 *
 * <p>Confined to the volume's thread after {@link #prepare}.
 */
final class IndexRebuild implements VolumeUpkeep.Rebuild {
    private static final Logger LOG = LoggerFactory.getLogger(IndexRebuild.class);
    private static final int STEP_RECORDS = 1000;
    /** Maximum bytes of records that are verified per step. */
    private static final int STEP_BYTES = 1 << 20;
    /** Number of newest segments that may not have been forced. A segment is forced while the next one is written. */
    private static final int UNFORCED_SEGMENTS = 2;

    private final Path directory;
    private final SegmentFile segments;
    private final SegmentTable table;
    private final MappedIndex index;
    private final RecordReader reader;
    private final List<SegmentHeader> newestFirst;
    /** Position in {@link #newestFirst} of the next segment to read. */
    private int next;
    /**
     * The records that are not in the index yet, of the segment at {@code next - 1} in {@link #newestFirst}. The last
     * record is added first.
     */
    private List<SegmentSummary.Entry> remaining = List.of();

    private long entries;
    private long tornObjects;

    private IndexRebuild(
            Path directory,
            SegmentFile segments,
            SegmentTable table,
            MappedIndex index,
            List<SegmentHeader> newestFirst) {
        this.directory = directory;
        this.segments = segments;
        this.table = table;
        this.index = index;
        this.newestFirst = newestFirst;
        this.reader = new RecordReader(segments, UnpooledByteBufAllocator.DEFAULT);
    }

    /**
     * Reads the headers of all segments, and records these segments as sealed in the segment table. The log then
     * continues in a new segment.
     */
    static IndexRebuild prepare(Path directory, SegmentFile segments, SegmentTable table, MappedIndex index)
            throws IOException {
        List<SegmentHeader> found = new ArrayList<>();
        Set<Long> tags = new HashSet<>();
        List<Integer> toErase = new ArrayList<>();
        List<Integer> withDamagedHeader = new ArrayList<>();
        long lostSequence = -1;
        for (int segment = 0; segment < table.segments(); segment++) {
            try {
                SegmentHeader header = segments.header(segment);
                if (header == null) {
                    long sequence = segments.sequenceUnderDamagedHeader(segment);
                    if (sequence >= 0) {
                        withDamagedHeader.add(segment);
                        lostSequence = Math.max(lostSequence, sequence);
                    }
                } else if (!tags.add(header.tag())) {
                    toErase.add(segment);
                } else {
                    found.add(header);
                    table.set(
                            segment,
                            SegmentTable.State.SEALED,
                            header.sequence(),
                            header.tag(),
                            segments.segmentBytes());
                }
            } catch (IOException e) {
                LOG.warn("{}: the header of segment {} cannot be read: {}", directory, segment, e.toString());
            }
        }
        found.sort(Comparator.comparingLong(SegmentHeader::sequence).reversed());
        IndexRebuild rebuild = new IndexRebuild(directory, segments, table, index, found);
        rebuild.dropOlderThan(lostSequence);
        toErase.addAll(withDamagedHeader);
        for (int segment : toErase) {
            // The segment was being moved when the process ended, or has lost its header. For a move, the other place
            // is complete, because a move writes the header last.
            segments.eraseHeader(segment);
        }
        return rebuild;
    }

    boolean isEmpty() {
        return newestFirst.isEmpty();
    }

    @Override
    public boolean step() throws IOException {
        if (!remaining.isEmpty()) {
            addSome();
            return true;
        }
        if (next < newestFirst.size()) {
            read(newestFirst.get(next++));
            return true;
        }
        if (index.finishRebuildStep()) {
            return true;
        }
        LOG.info(
                "{}: index rebuilt, segments={}, records={}, incomplete objects skipped={}",
                directory,
                newestFirst.size(),
                entries,
                tornObjects);
        return false;
    }

    private void read(SegmentHeader segment) throws IOException {
        if (isDropped(segment)) {
            return;
        }
        try {
            remaining = records(segment);
        } catch (IOException e) {
            LOG.warn(
                    "{}: segment {} cannot be read, so its content and that of all older segments is dropped: {}",
                    directory,
                    segment.segment(),
                    e.toString());
            dropFrom(next - 1);
        }
    }

    private boolean isDropped(SegmentHeader segment) {
        return table.tag(segment.segment()) != segment.tag();
    }

    private void addSome() throws IOException {
        SegmentHeader segment = newestFirst.get(next - 1);
        if (isDropped(segment)) {
            remaining = List.of();
            return;
        }
        int end = Math.max(0, remaining.size() - STEP_RECORDS);
        boolean mustVerify = next <= UNFORCED_SEGMENTS;
        long bytes = 0;
        for (int i = remaining.size() - 1; i >= end; i--) {
            SegmentSummary.Entry entry = remaining.get(i);
            bytes += mustVerify ? entry.length() : 0;
            if (mustVerify && isTorn(segment, entry)) {
                tornObjects++;
            } else if (!addRecord(segment, entry)) {
                LOG.warn(
                        "{}: the index is full; objects in segments older than {} are dropped",
                        directory,
                        segment.segment());
                remaining = List.of();
                dropFrom(next);
                return;
            }
            entries++;
            if (bytes > STEP_BYTES) {
                end = i;
            }
        }
        remaining = remaining.subList(0, end);
    }

    private boolean isTorn(SegmentHeader segment, SegmentSummary.Entry entry) {
        if (entry.type() != RecordType.COMPLETE && entry.type() != RecordType.HEAD) {
            return false;
        }
        try {
            return reader.isTornObject(segment.segment(), entry.offset(), segment.tag());
        } catch (IOException e) {
            LOG.info("{}: segment {}: a record cannot be read: {}", directory, segment.segment(), e.toString());
            return false;
        }
    }

    private List<SegmentSummary.Entry> records(SegmentHeader segment) throws IOException {
        List<SegmentSummary.Entry> records = new ArrayList<>();
        SegmentSummary summary = segments.summary(segment.segment(), segment.tag());
        if (summary != null) {
            for (int i = 0; i < summary.size(); i++) {
                SegmentSummary.Entry entry = summary.entry(i);
                if (entry != null) {
                    records.add(entry);
                }
            }
            return records;
        }
        segments.walk(
                segment.segment(),
                segment.tag(),
                SegmentHeader.BYTES,
                segments.segmentBytes(),
                true,
                new SegmentFile.RecordVisitor() {
                    @Override
                    public void record(RecordHeader header, long offset) {
                        records.add(SegmentSummary.entry(header, offset));
                    }

                    @Override
                    public void damaged(long hashHigh, long hashLow, long offset) {
                        // The damaged record is newer than the older records of its key, so it must hide them.
                        records.add(SegmentSummary.Entry.ofDamaged(hashHigh, hashLow, offset));
                    }
                });
        return records;
    }

    private boolean addRecord(SegmentHeader segment, SegmentSummary.Entry entry) {
        boolean isTombstone = entry.type() == RecordType.TOMBSTONE || isRevocation(segment, entry);
        return index.putOlder(
                entry.hashHigh(),
                entry.hashLow(),
                Location.pack(segment.segment(), entry.offset(), entry.length(), segment.tag()),
                entry.expiry(),
                entry.type() == RecordType.BLOCK && !isTombstone,
                isTombstone);
    }

    /**
     * Returns true if the record is a block without content (a revocation). Also true if the record cannot be read and
     * may be a revocation. The summary contains only the length of the record, not the length of its content. Therefore
     * a record that is short enough to be a revocation is read.
     */
    private boolean isRevocation(SegmentHeader segment, SegmentSummary.Entry entry) {
        if (entry.type() != RecordType.BLOCK || entry.length() > RecordHeader.REVOCATION_BYTES) {
            return false;
        }
        try {
            DiskRecord record = reader.readWhole(segment.segment(), entry.offset(), segment.tag(), entry.length());
            try {
                return record.header().isRevocation();
            } finally {
                record.release();
            }
        } catch (IOException e) {
            LOG.info("{}: segment {}: a record cannot be read: {}", directory, segment.segment(), e.toString());
            return true;
        }
    }

    /**
     * Drops the segments that are older than a segment with a lost header. That segment may have contained tombstones
     * for their records. No effect if {@code sequence} is negative.
     */
    private void dropOlderThan(long sequence) throws IOException {
        int firstOlder = 0;
        while (firstOlder < newestFirst.size() && newestFirst.get(firstOlder).sequence() > sequence) {
            firstOlder++;
        }
        if (sequence >= 0) {
            LOG.warn(
                    "{}: the header of a segment is missing, so its content and that of all older segments is dropped",
                    directory);
            dropFrom(firstOlder);
            next = 0;
        }
    }

    private void dropFrom(int position) throws IOException {
        for (int i = newestFirst.size() - 1; i >= position; i--) {
            SegmentHeader header = newestFirst.get(i);
            if (table.tag(header.segment()) == header.tag()) {
                segments.eraseHeader(header.segment());
                table.set(header.segment(), SegmentTable.State.FREE, header.sequence(), 0, 0);
            }
        }
        next = newestFirst.size();
    }
}
