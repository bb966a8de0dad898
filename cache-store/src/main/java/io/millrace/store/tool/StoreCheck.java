package io.millrace.store.tool;

import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.DiskRecord;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.disk.segment.RecordReader;
import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.SegmentHeader;
import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.index.IndexUnusableException;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.SystemFileIo;
import io.millrace.store.tool.CheckReport.Kind;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The offline check of a volume that no store has open. It reads every byte, and compares index, summaries (lists of
 * the records of segments) and records with the rules that a running store relies on.
 *
 * <p>The check scans the segments once, and looks up each record in the index. It then compares, per segment, the
 * number of index entries with the number of records found. It needs memory for the summary of one segment, and up to
 * about 64 MiB for records that are not in the index. Confined to one thread.
 */
public final class StoreCheck {
    private final FileIo io;
    private final Path directory;
    private final VolumeView view;
    private final RecordReader reader;
    private final CheckReport report;
    /** Sequence number of each segment; 0 for a segment without a header. */
    private final long[] sequences;
    /** Number of records per segment whose location is in the index. */
    private final long[] indexedRecords;

    private final OrphanTable orphans = new OrphanTable();
    private @Nullable MappedIndex index;
    private @Nullable SegmentTable table;
    private long records;
    private long partialObjects;
    private long contentBytes;

    private StoreCheck(FileIo io, Path directory, VolumeView view) {
        this.io = io;
        this.directory = directory;
        this.view = view;
        this.reader = view.reader();
        this.report = new CheckReport(directory);
        sequences = new long[view.superblock().segmentCount()];
        indexedRecords = new long[sequences.length];
    }

    /**
     * Checks the volume in the directory.
     *
     * @throws IOException if there is no volume, if a store has it open, or if it cannot be read at all
     */
    public static CheckReport check(Path directory) throws IOException {
        return check(new SystemFileIo(), directory);
    }

    /** Checks the volume in the directory, with another file system. */
    public static CheckReport check(FileIo io, Path directory) throws IOException {
        try (VolumeView view = VolumeView.open(io, directory)) {
            return new StoreCheck(io, directory, view).run();
        }
    }

    private CheckReport run() throws IOException {
        Superblock superblock = view.superblock();
        report.fact("format " + Superblock.FORMAT_VERSION + ", volume " + superblock.volumeId() + ", store "
                + superblock.storeId() + ", generation " + superblock.generation());
        if (!view.isLengthSound()) {
            report.finding(
                    Kind.DAMAGED, "file length actual=" + view.fileLength() + ", expected=" + superblock.fileBytes());
        }
        openIndex();
        int used = 0;
        SegmentFile segments = view.segments();
        for (int segment = 0; segment < sequences.length; segment++) {
            SegmentHeader header = segments.header(segment);
            sequences[segment] = header == null ? 0 : header.sequence();
        }
        for (int segment = 0; segment < sequences.length; segment++) {
            SegmentHeader header = segments.header(segment);
            if (header != null) {
                used++;
                checkSegment(header);
            }
        }
        report.fact("segments " + superblock.segmentCount() + " of " + superblock.segmentBytes() + " bytes, " + used
                + " with records");
        report.fact("records " + records + ", body bytes " + contentBytes);
        checkIndex();
        return report;
    }

    private void openIndex() throws IOException {
        Superblock superblock = view.superblock();
        int count = superblock.segmentCount();
        try {
            MappedIndex opened =
                    MappedIndex.view(io, directory, superblock.volumeId(), SegmentTable.auxiliaryBytes(count));
            table = SegmentTable.load(opened, count);
            index = opened;
            report.fact("index entries " + opened.objects() + " objects, slots " + opened.capacity());
        } catch (IndexUnusableException e) {
            report.fact("index will be rebuilt at the next start: " + e.getMessage());
        }
    }

    private void checkSegment(SegmentHeader segment) throws IOException {
        SegmentFile segments = view.segments();
        SummaryCheck summary =
                new SummaryCheck(report, segment.segment(), segments.summary(segment.segment(), segment.tag()));
        // The offset and the minimum sequence number of the next record.
        long[] next = {SegmentHeader.BYTES, segment.sequence() << 32};
        segments.walk(
                segment.segment(),
                segment.tag(),
                SegmentHeader.BYTES,
                segments.segmentBytes(),
                true,
                (header, offset) -> {
                    String where = "segment " + segment.segment() + " offset " + offset;
                    if (offset != next[0]) {
                        report.finding(
                                Kind.DAMAGED, where + ": no records in the " + (offset - next[0]) + " bytes before");
                    }
                    if (header.sequence() < next[1]) {
                        report.finding(
                                Kind.WRONG,
                                where + ": sequence " + header.sequence() + ", expected at least " + next[1]);
                    }
                    next[0] = offset + header.recordLength();
                    next[1] = header.sequence() + 1;
                    summary.compareNext(SegmentSummary.entry(header, offset));
                    checkRecord(segment, header, offset);
                });
        summary.end();
    }

    private void checkRecord(SegmentHeader segment, RecordHeader header, long offset) {
        records++;
        contentBytes += header.contentLength();
        boolean sound = true;
        try {
            reader.readHead(segment.segment(), offset, segment.tag()).release();
            reader.verifyContent(segment.segment(), offset, header);
        } catch (IOException e) {
            sound = false;
            report.finding(Kind.DAMAGED, String.valueOf(e.getMessage()));
        }
        MappedIndex currentIndex = index;
        SegmentTable segmentStates = table;
        if (currentIndex != null && segmentStates != null) {
            long location = Location.pack(segment.segment(), offset, header.recordLength(), segment.tag());
            compare(currentIndex, segmentStates, header, location, sound);
        }
    }

    /** Compares the record with the index entry of its hash. */
    private void compare(
            MappedIndex currentIndex, SegmentTable segmentStates, RecordHeader header, long location, boolean sound) {
        long indexed = currentIndex.find(header.hashHigh(), header.hashLow());
        boolean mustBeIndexed = sound && (header.type() == RecordType.COMPLETE || header.type() == RecordType.HEAD);
        if (indexed == location) {
            indexedRecords[Location.segment(location)]++;
            if (header.type() == RecordType.TOMBSTONE) {
                report.finding(Kind.WRONG, "index entry for " + Location.describe(location) + ", a tombstone");
            } else if (mustBeIndexed && header.type() == RecordType.HEAD) {
                checkBody(currentIndex, segmentStates, header, location);
            }
        } else if (indexed == Location.NONE || !segmentStates.isLive(indexed)) {
            orphans.note(header.hashHigh(), header.hashLow(), header.sequence(), mustBeIndexed ? location : 0);
        } else if (isNewer(location, indexed) && (sound || !header.isObjectInOneRecord())) {
            // The newer record is sound, or its object is stored in blocks. A partly written record that contains a
            // whole object is no error: a rebuild of the index skips it and keeps the older record.
            report.finding(
                    Kind.WRONG,
                    "index entry for " + Location.describe(indexed) + ", but a newer record is " + header + " at "
                            + Location.describe(location));
        }
    }

    private boolean isNewer(long location, long indexed) {
        long sequence = sequences[Location.segment(location)];
        long indexedSequence = sequences[Location.segment(indexed)];
        return sequence == indexedSequence
                ? Location.offset(location) > Location.offset(indexed)
                : indexedSequence != 0 && sequence > indexedSequence;
    }

    private void checkIndex() throws IOException {
        MappedIndex currentIndex = index;
        SegmentTable segmentStates = table;
        if (currentIndex == null || segmentStates == null) {
            return;
        }
        long[] indexed = new long[sequences.length];
        currentIndex.forEach((hashHigh, hashLow, location, block, tombstone) -> {
            if (segmentStates.isLive(location)) {
                indexed[Location.segment(location)]++;
            } else {
                report.finding(Kind.STALE, "index entry for " + Location.describe(location) + ", which was reclaimed");
            }
        });
        currentIndex.forEach((hashHigh, hashLow, location, block, tombstone) -> {
            int segment = Location.segment(location);
            if (segmentStates.isLive(location) && indexed[segment] != indexedRecords[segment]) {
                checkEntry(hashHigh, hashLow, location, segmentStates.tag(segment));
            }
        });
        orphans.forEach(location ->
                report.finding(Kind.STALE, "record at " + Location.describe(location) + ": not in the index"));
        if (orphans.isFull()) {
            report.fact("further records are missing in the index and not listed here");
        }
        report.fact("partial objects " + partialObjects);
    }

    /**
     * Checks whether an index entry has a record. Called for segments whose number of index entries differs from the
     * number of records found.
     */
    private void checkEntry(long hashHigh, long hashLow, long location, long tag) {
        boolean[] found = {false};
        long offset = Location.offset(location);
        try {
            view.segments().walk(Location.segment(location), tag, offset, offset + 1, false, (header, at) -> {
                found[0] = header.hashHigh() == hashHigh && header.hashLow() == hashLow;
            });
        } catch (IOException e) {
            report.finding(Kind.DAMAGED, Location.describe(location) + ": " + e.getMessage());
            return;
        }
        if (!found[0]) {
            report.finding(Kind.DAMAGED, "index entry for " + Location.describe(location) + ": no record of this hash");
        }
    }

    private void checkBody(MappedIndex currentIndex, SegmentTable segmentStates, RecordHeader header, long location) {
        try {
            DiskRecord head = reader.readHead(Location.segment(location), Location.offset(location), header.tag());
            try {
                String missing = missing(currentIndex, segmentStates, header, head.place());
                if (missing != null) {
                    report.finding(Kind.STALE, header + ": " + missing);
                }
            } finally {
                head.release();
            }
        } catch (IOException e) {
            report.finding(Kind.DAMAGED, String.valueOf(e.getMessage()));
        }
    }

    private @Nullable String missing(
            MappedIndex currentIndex, SegmentTable segmentStates, RecordHeader header, BodyPlace place) {
        partialObjects += place.isWhole() ? 0 : 1;
        if (place.blockBytes() == 0) {
            return segmentStates.withTag(place.segment(), place.tag()) >= 0 ? null : "its record was reclaimed";
        }
        long hashHigh = DiskKey.blockHashHigh(header.objectId());
        for (int block = 0; block < place.blockCount(); block++) {
            long at = place.has(block)
                    ? currentIndex.find(hashHigh, DiskKey.blockHashLow(header.objectId(), block))
                    : Location.NONE;
            if (place.has(block) && (at == Location.NONE || !segmentStates.isLive(at))) {
                return "block " + block + " was reclaimed";
            }
        }
        return null;
    }
}
