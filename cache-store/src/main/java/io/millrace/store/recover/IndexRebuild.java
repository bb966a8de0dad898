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
 * Fills a new index from the segments, newest first, some records of a segment per step. An existing entry is newer and
 * stays. Tombstones are entries until the end, so that they hide records in older segments. New records may be appended
 * during the rebuild, because they are newer than all of these.
 *
 * <p>A segment that cannot be read may have contained tombstones. Older segments are therefore dropped, so that removed
 * objects do not reappear. Records older than the first one for which the index had no room are dropped too.
 *
 * <p>A power failure may preserve an object's header and lose some of its content. Objects in the newest segments,
 * which may not have been forced, are therefore verified, and a partly written one is skipped. The previous object of
 * the key then remains, unless there is a tombstone or another change between. Objects in blocks are not verified: an
 * older head may list blocks that were removed.
 *
 * <p>Confined to the volume's thread after {@link #prepare}.
 */
final class IndexRebuild implements VolumeUpkeep.Rebuild {
    private static final Logger LOG = LoggerFactory.getLogger(IndexRebuild.class);
    private static final int STEP_RECORDS = 1000;
    /** Limit of record bytes verified per step. */
    private static final int STEP_BYTES = 1 << 20;
    /** Number of newest segments that may not have been forced: one is forced while the next is written. */
    private static final int UNFORCED_SEGMENTS = 2;

    private final Path directory;
    private final SegmentFile segments;
    private final SegmentTable table;
    private final MappedIndex index;
    private final RecordReader reader;
    private final List<SegmentHeader> newestFirst;
    private int next;
    /** The records of the segment before {@link #next} that are not entered yet: its first records. */
    private List<SegmentSummary.Entry> left = List.of();

    private long entries;
    private long torn;

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

    /** Reads the headers of the segments and enters all as sealed in the table. The log continues in a new segment. */
    static IndexRebuild prepare(Path directory, SegmentFile segments, SegmentTable table, MappedIndex index)
            throws IOException {
        List<SegmentHeader> found = new ArrayList<>();
        Set<Long> tags = new HashSet<>();
        List<Integer> twice = new ArrayList<>();
        List<Integer> headless = new ArrayList<>();
        long lost = -1;
        for (int segment = 0; segment < table.segments(); segment++) {
            try {
                SegmentHeader header = segments.header(segment);
                if (header == null) {
                    long sequence = segments.sequenceUnderDamagedHeader(segment);
                    if (sequence >= 0) {
                        headless.add(segment);
                        lost = Math.max(lost, sequence);
                    }
                } else if (!tags.add(header.tag())) {
                    twice.add(segment);
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
        rebuild.giveUpBefore(lost);
        twice.addAll(headless);
        for (int segment : twice) {
            // The segment was being moved. The place found first is complete, because the header is written last.
            segments.eraseHeader(segment);
        }
        return rebuild;
    }

    boolean isEmpty() {
        return newestFirst.isEmpty();
    }

    @Override
    public boolean step() throws IOException {
        if (!left.isEmpty()) {
            enterSome();
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
                torn);
        return false;
    }

    private void read(SegmentHeader segment) throws IOException {
        if (isGivenUp(segment)) {
            return;
        }
        try {
            left = records(segment);
        } catch (IOException e) {
            LOG.warn(
                    "{}: segment {} cannot be read, so its content and that of all older segments is dropped: {}",
                    directory,
                    segment.segment(),
                    e.toString());
            giveUpFrom(next - 1);
        }
    }

    private boolean isGivenUp(SegmentHeader segment) {
        return table.tag(segment.segment()) != segment.tag();
    }

    private void enterSome() throws IOException {
        SegmentHeader segment = newestFirst.get(next - 1);
        if (isGivenUp(segment)) {
            left = List.of();
            return;
        }
        int end = Math.max(0, left.size() - STEP_RECORDS);
        boolean verified = next <= UNFORCED_SEGMENTS;
        long bytes = 0;
        for (int i = left.size() - 1; i >= end; i--) {
            SegmentSummary.Entry entry = left.get(i);
            bytes += verified ? entry.length() : 0;
            if (verified && isTorn(segment, entry)) {
                torn++;
            } else if (!enter(segment, entry)) {
                LOG.warn(
                        "{}: the index is full; objects in segments older than {} are dropped",
                        directory,
                        segment.segment());
                left = List.of();
                giveUpFrom(next);
                return;
            }
            entries++;
            if (bytes > STEP_BYTES) {
                end = i;
            }
        }
        left = left.subList(0, end);
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
                        // The damaged record hides older records of its key.
                        records.add(SegmentSummary.Entry.hidden(hashHigh, hashLow, offset));
                    }
                });
        return records;
    }

    private boolean enter(SegmentHeader segment, SegmentSummary.Entry entry) {
        boolean hides = entry.type() == RecordType.TOMBSTONE || isRevocation(segment, entry);
        return index.putOlder(
                entry.hashHigh(),
                entry.hashLow(),
                Location.pack(segment.segment(), entry.offset(), entry.length(), segment.tag()),
                entry.expiry(),
                entry.type() == RecordType.BLOCK && !hides,
                hides);
    }

    /**
     * Returns true if the record is a block without content, or may be one. Reads only records of the length of such a
     * block, because the summary has the length of the record and not that of its content.
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

    /** Drops the segments older than one with a lost header, which may have contained tombstones for their records. */
    private void giveUpBefore(long sequence) throws IOException {
        int older = 0;
        while (older < newestFirst.size() && newestFirst.get(older).sequence() > sequence) {
            older++;
        }
        if (sequence >= 0) {
            LOG.warn(
                    "{}: the header of a segment is missing, so its content and that of all older segments is dropped",
                    directory);
            giveUpFrom(older);
            next = 0;
        }
    }

    private void giveUpFrom(int position) throws IOException {
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
