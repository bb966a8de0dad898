package io.millrace.store.tool;

import io.millrace.store.disk.BodyPlace;
import io.millrace.store.disk.DiskKey;
import io.millrace.store.disk.DiskRecord;
import io.millrace.store.disk.RecordHeader;
import io.millrace.store.disk.RecordReader;
import io.millrace.store.disk.RecordType;
import io.millrace.store.disk.SegmentFile;
import io.millrace.store.disk.SegmentHeader;
import io.millrace.store.disk.SegmentSummary;
import io.millrace.store.disk.SegmentTable;
import io.millrace.store.disk.Superblock;
import io.millrace.store.index.IndexUnusableException;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import io.millrace.store.io.FileIo;
import io.millrace.store.io.SystemFileIo;
import io.millrace.store.tool.CheckReport.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads every byte of a volume that no store has open, and compares index, summaries and records: the twin of what the
 * store believes when it runs.
 *
 * <p>Holds some 100 bytes of heap for each record. Confined to one thread.
 */
public final class StoreCheck {
    private final FileIo io;
    private final Path directory;
    private final VolumeView view;
    private final RecordReader reader;
    private final CheckReport report;
    private final Map<Hash, Newest> newest = new HashMap<>();
    private long records;
    private long partialObjects;
    private long contentBytes;

    private record Hash(long high, long low) {}

    private record Newest(RecordHeader header, long location, boolean sound) {}

    private StoreCheck(FileIo io, Path directory, VolumeView view) {
        this.io = io;
        this.directory = directory;
        this.view = view;
        this.reader = view.reader();
        this.report = new CheckReport(directory);
    }

    /**
     * Checks the volume in the directory.
     *
     * @throws IOException when there is none, a store has it open, or it cannot be read at all
     */
    public static CheckReport check(Path directory) throws IOException {
        return check(new SystemFileIo(), directory);
    }

    /** As {@link #check(Path)}, over another file system. */
    public static CheckReport check(FileIo io, Path directory) throws IOException {
        try (VolumeView view = VolumeView.open(io, directory)) {
            return new StoreCheck(io, directory, view).run();
        }
    }

    private CheckReport run() throws IOException {
        Superblock superblock = view.superblock();
        report.fact("format " + Superblock.FORMAT_VERSION + ", volume " + superblock.volumeId() + ", store "
                + superblock.storeId() + ", generation " + superblock.generation());
        if (view.fileLength() != superblock.fileBytes()) {
            report.finding(
                    Kind.DAMAGED, "file length actual=" + view.fileLength() + ", expected=" + superblock.fileBytes());
        }
        int used = 0;
        SegmentFile segments = view.segments();
        for (int segment = 0; segment < superblock.segmentCount(); segment++) {
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

    private void checkSegment(SegmentHeader segment) throws IOException {
        SegmentFile segments = view.segments();
        List<SegmentSummary.Entry> walked = new ArrayList<>();
        SegmentSummary summary = segments.summary(segment.segment(), segment.tag());
        long[] last = {SegmentHeader.BYTES, segment.sequence() << 32};
        segments.walk(
                segment.segment(),
                segment.tag(),
                SegmentHeader.BYTES,
                segments.segmentBytes(),
                true,
                (header, offset) -> {
                    String where = "segment " + segment.segment() + " offset " + offset;
                    if (offset != last[0]) {
                        report.finding(
                                Kind.DAMAGED, where + ": no records in the " + (offset - last[0]) + " bytes before");
                    }
                    if (header.sequence() < last[1]) {
                        report.finding(Kind.WRONG, where + ": sequence " + header.sequence() + " after " + last[1]);
                    }
                    last[0] = offset + header.recordLength();
                    last[1] = header.sequence() + 1;
                    walked.add(SegmentSummary.entry(header, offset));
                    checkRecord(segment, header, offset);
                });
        if (summary != null) {
            compare(segment, summary, walked);
        }
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
        long location = Location.pack(segment.segment(), offset, header.recordLength(), segment.tag());
        Newest mine = new Newest(header, location, sound);
        newest.merge(new Hash(header.hashHigh(), header.hashLow()), mine, (a, b) -> {
            return a.header().sequence() > b.header().sequence() ? a : b;
        });
    }

    private void compare(SegmentHeader segment, SegmentSummary summary, List<SegmentSummary.Entry> walked) {
        Map<Long, SegmentSummary.Entry> byOffset = new HashMap<>();
        for (SegmentSummary.Entry entry : walked) {
            byOffset.put(entry.offset(), entry);
        }
        for (int i = 0; i < summary.size(); i++) {
            SegmentSummary.Entry entry = summary.entry(i);
            if (entry == null || !entry.equals(byOffset.get(entry.offset()))) {
                report.finding(
                        Kind.DAMAGED, "segment " + segment.segment() + ": its summary tells " + entry + ", not found");
            }
        }
        if (summary.size() < walked.size()) {
            report.finding(
                    Kind.DAMAGED,
                    "segment " + segment.segment() + ": summary of " + summary.size() + " records, found "
                            + walked.size());
        }
    }

    private void checkIndex() throws IOException {
        Superblock superblock = view.superblock();
        int count = superblock.segmentCount();
        MappedIndex index;
        try {
            index = MappedIndex.view(io, directory, superblock.volumeId(), SegmentTable.auxiliaryBytes(count));
        } catch (IndexUnusableException e) {
            report.fact("index will be rebuilt at the next start: " + e.getMessage());
            return;
        }
        SegmentTable table = SegmentTable.load(index, count);
        report.fact("index entries " + index.objects() + " objects, slots " + index.capacity());
        index.forEach((hashHigh, hashLow, location, block, tombstone) ->
                checkEntry(table, new Hash(hashHigh, hashLow), location));
        for (Map.Entry<Hash, Newest> entry : newest.entrySet()) {
            checkNewest(index, table, entry.getKey(), entry.getValue());
        }
        report.fact("partial objects " + partialObjects);
    }

    private void checkEntry(SegmentTable table, Hash hash, long location) {
        String where = Location.describe(location);
        if (!table.isLive(location)) {
            report.finding(Kind.STALE, "index entry for " + where + ", which was given up");
            return;
        }
        Newest expected = newest.get(hash);
        if (expected == null) {
            report.finding(Kind.DAMAGED, "index entry for " + where + ": no record of this hash");
        } else if (expected.location() != location || expected.header().type() == RecordType.TOMBSTONE) {
            report.finding(
                    Kind.WRONG,
                    "index entry for " + where + ", but the newest record is " + expected.header() + " at "
                            + Location.describe(expected.location()));
        }
    }

    private void checkNewest(MappedIndex index, SegmentTable table, Hash hash, Newest record) throws IOException {
        RecordHeader header = record.header();
        if (header.type() == RecordType.TOMBSTONE || !record.sound()) {
            return;
        }
        if (index.find(hash.high(), hash.low()) != record.location()) {
            if (header.type() != RecordType.BLOCK) {
                report.finding(
                        Kind.STALE, header + " at " + Location.describe(record.location()) + ": not in the index");
            }
            return;
        }
        if (header.type() == RecordType.HEAD) {
            checkBody(index, table, record);
        }
    }

    private void checkBody(MappedIndex index, SegmentTable table, Newest record) throws IOException {
        int segment = Location.segment(record.location());
        DiskRecord head = reader.readHead(
                segment, Location.offset(record.location()), record.header().tag());
        try {
            BodyPlace place = head.place();
            @Nullable String missing = null;
            partialObjects += place.isWhole() ? 0 : 1;
            if (place.blockBytes() == 0) {
                missing = table.withTag(place.segment(), place.tag()) >= 0 ? null : "its record was given up";
            } else {
                long objectId = record.header().objectId();
                for (int block = 0; block < place.blockCount() && missing == null; block++) {
                    if (!place.has(block)) {
                        continue;
                    }
                    long at = index.find(DiskKey.blockHashHigh(objectId), DiskKey.blockHashLow(objectId, block));
                    missing = at == Location.NONE || !table.isLive(at) ? "block " + block + " was given up" : null;
                }
            }
            if (missing != null) {
                report.finding(Kind.STALE, record.header() + ": " + missing);
            }
        } finally {
            head.release();
        }
    }
}
