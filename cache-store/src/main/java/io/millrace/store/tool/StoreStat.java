package io.millrace.store.tool;

import io.millrace.store.disk.record.RecordType;
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
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The statistics of a volume that no store has open. They are computed from the index and from the summary (list of
 * records) of each sealed (complete) segment. For a segment without a summary, the headers of its records are read.
 *
 * <p>Confined to one thread.
 */
public final class StoreStat {
    private static final int SIZE_CLASSES = 32;

    private final VolumeView view;
    private final Superblock superblock;
    private final long nowSeconds;
    private final long[] recordsBySize = new long[SIZE_CLASSES];
    private @Nullable MappedIndex index;
    private int sealed;
    private int unsealed;
    private int free;
    private long oldestSequence = Long.MAX_VALUE;
    private long newestSequence;
    private long liveBytes;
    private long deadBytes;
    private long objects;
    private long blocks;
    private long expired;
    private long pinned;

    private StoreStat(VolumeView view, long nowSeconds) {
        this.view = view;
        this.superblock = view.superblock();
        this.nowSeconds = nowSeconds;
    }

    /**
     * Returns the statistics of the volume in the directory.
     *
     * @throws IOException if there is no volume, if a store has it open, or if it cannot be read
     */
    public static StoreStat of(Path directory) throws IOException {
        return of(new SystemFileIo(), directory, System.currentTimeMillis() / 1000);
    }

    /** Returns the statistics of the volume in the directory, with another file system and another time. */
    public static StoreStat of(FileIo io, Path directory, long nowSeconds) throws IOException {
        try (VolumeView view = VolumeView.open(io, directory)) {
            StoreStat stat = new StoreStat(view, nowSeconds);
            stat.read(io, directory);
            return stat;
        }
    }

    private void read(FileIo io, Path directory) throws IOException {
        try {
            index = MappedIndex.view(
                    io, directory, superblock.volumeId(), SegmentTable.auxiliaryBytes(superblock.segmentCount()));
        } catch (IndexUnusableException e) {
            // Without an index it is unknown which records are current.
            index = null;
        }
        SegmentFile segments = view.segments();
        for (int segment = 0; segment < superblock.segmentCount(); segment++) {
            SegmentHeader header = segments.header(segment);
            if (header == null) {
                free++;
                continue;
            }
            oldestSequence = Math.min(oldestSequence, header.sequence());
            newestSequence = Math.max(newestSequence, header.sequence());
            readSegment(segments, header);
        }
    }

    private void readSegment(SegmentFile segments, SegmentHeader header) throws IOException {
        SegmentSummary summary = segments.summary(header.segment(), header.tag());
        if (summary == null) {
            unsealed++;
            segments.walk(
                    header.segment(),
                    header.tag(),
                    SegmentHeader.BYTES,
                    segments.segmentBytes(),
                    true,
                    (record, offset) -> count(header, SegmentSummary.entry(record, offset)));
            return;
        }
        sealed++;
        for (int i = 0; i < summary.size(); i++) {
            SegmentSummary.Entry entry = summary.entry(i);
            if (entry != null) {
                count(header, entry);
            }
        }
    }

    private void count(SegmentHeader segment, SegmentSummary.Entry entry) {
        MappedIndex currentIndex = index;
        long location = Location.pack(segment.segment(), entry.offset(), entry.length(), segment.tag());
        boolean live = currentIndex != null && currentIndex.find(entry.hashHigh(), entry.hashLow()) == location;
        if (!live) {
            deadBytes += entry.length();
            return;
        }
        liveBytes += entry.length();
        recordsBySize[Math.max(0, 31 - Integer.numberOfLeadingZeros(entry.length()))]++;
        if (entry.type() == RecordType.BLOCK) {
            blocks++;
        } else {
            objects++;
            expired += Integer.toUnsignedLong(entry.expiry()) < nowSeconds ? 1 : 0;
            pinned += entry.pinnedUntil() > nowSeconds ? 1 : 0;
        }
    }

    /** Returns the statistics as one line of JSON. */
    public String toJson() {
        JsonText sizes = new JsonText();
        for (int i = 0; i < SIZE_CLASSES; i++) {
            if (recordsBySize[i] > 0) {
                sizes.member(Long.toString(1L << i), recordsBySize[i]);
            }
        }
        return new JsonText()
                .member("format", Superblock.FORMAT_VERSION)
                .member("volume", superblock.volumeId().toString())
                .member("store", superblock.storeId().toString())
                .member("generation", superblock.generation())
                .member("segment_bytes", superblock.segmentBytes())
                .member("segments", superblock.segmentCount())
                .member("segments_sealed", sealed)
                .member("segments_unsealed", unsealed)
                .member("segments_free", free)
                .member("oldest_segment_sequence", newestSequence == 0 ? 0 : oldestSequence)
                .member("newest_segment_sequence", newestSequence)
                .member("index_usable", index != null)
                .member("live_bytes", liveBytes)
                .member("dead_bytes", deadBytes)
                .member("objects", objects)
                .member("expired_objects", expired)
                .member("blocks", blocks)
                .member("pinned_objects", pinned)
                .member("live_records_by_size", sizes)
                .toString();
    }

    /** Returns the statistics as text, one topic per line. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder();
        out.append("format ").append(Superblock.FORMAT_VERSION).append(", volume ");
        out.append(superblock.volumeId()).append(", store ").append(superblock.storeId());
        out.append(", generation ").append(superblock.generation()).append('\n');
        out.append("segments ").append(superblock.segmentCount()).append(" of ").append(superblock.segmentBytes());
        out.append(" bytes: ")
                .append(sealed)
                .append(" sealed, ")
                .append(unsealed)
                .append(" not sealed, ");
        out.append(free).append(" free\n");
        if (index == null) {
            out.append("the index cannot be used and will be rebuilt, so the current objects are unknown; records ");
            return out.append(deadBytes).append(" bytes\n").toString();
        }
        out.append("records  live ")
                .append(liveBytes)
                .append(" bytes, dead ")
                .append(deadBytes)
                .append(" bytes\n");
        out.append("objects  ")
                .append(objects)
                .append(", expired ")
                .append(expired)
                .append(", blocks ");
        out.append(blocks).append(", pinned ").append(pinned).append('\n');
        for (int i = 0; i < SIZE_CLASSES; i++) {
            if (recordsBySize[i] > 0) {
                out.append("records  from ")
                        .append(1L << i)
                        .append(" bytes: ")
                        .append(recordsBySize[i])
                        .append('\n');
            }
        }
        return out.toString();
    }
}
