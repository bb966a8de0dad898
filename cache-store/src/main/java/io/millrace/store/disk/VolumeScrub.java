package io.millrace.store.disk;

import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.DamagedRecordException;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.DiskRecord;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.SegmentHeader;
import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.index.Location;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Verifies the valid records in the sealed segments of one volume, a few at a time. It begins with the segment verified
 * longest ago. A damaged record is removed from the index, with a tombstone (the record of a removal), before a request
 * reads it. A segment that cannot be read counts as one I/O error of the volume, and is skipped until the next round.
 *
 * <p>Confined to one thread at a time; blocks on the disk. Changes run on the volume's thread.
 */
public final class VolumeScrub {
    /** Minimum time between two verifications of a segment. */
    public static final long AGAIN_SECONDS = 24 * 3600;

    private static final Logger LOG = LoggerFactory.getLogger(VolumeScrub.class);
    private static final byte[] NO_KEY = {};
    /**
     * Number of bytes that are counted for each summary entry, in addition to the bytes read. Each step counts at least
     * this number.
     */
    private static final int ENTRY_COST_BYTES = 64;

    private final Volume volume;
    private final SegmentTable table;
    private final SegmentFile segments;
    private int segment = -1;
    private long tag;
    /** Records of the segment; null if it has no summary (list of records), so that its records are walked. */
    private @Nullable SegmentSummary records;

    private int nextRecord;
    private long walkedTo;
    private long bytes;
    private int damaged;

    VolumeScrub(Volume volume, SegmentTable table, SegmentFile segments) {
        this.volume = volume;
        this.table = table;
        this.segments = segments;
    }

    /** The result of a step. Immutable. */
    public record Step(long bytesRead, int recordsDamaged) {
        static final Step NOTHING = new Step(0, 0);

        /** Returns true if no verification is due. */
        public boolean isIdle() {
            return bytesRead == 0;
        }
    }

    /**
     * Verifies records until about this many bytes were read.
     *
     * @param now seconds since the epoch
     */
    public Step step(int bytesMax, long now) {
        bytes = 0;
        damaged = 0;
        if (volume.state() != VolumeState.ONLINE || (segment < 0 && !next(now))) {
            return Step.NOTHING;
        }
        long pinned = volume.pin(segment);
        if (pinned != tag) {
            // The segment was reclaimed, and its place may contain another segment now.
            if (pinned != 0) {
                volume.unpin(segment);
            }
            segment = -1;
            return new Step(ENTRY_COST_BYTES, 0);
        }
        boolean done = true;
        try {
            done = verify(bytesMax);
        } catch (IOException e) {
            volume.failed(e);
        } finally {
            volume.unpin(segment);
        }
        if (done) {
            int verified = segment;
            long verifiedTag = tag;
            volume.execute(() -> table.verified(verified, verifiedTag, now));
            segment = -1;
            records = null;
        }
        return new Step(Math.max(bytes, ENTRY_COST_BYTES), damaged);
    }

    /** Selects the sealed segment that was verified longest ago; false if none is due. */
    private boolean next(long now) {
        int oldest = -1;
        long oldestTag = 0;
        for (int i = 0; i < table.segments(); i++) {
            // The tag is read before the state, so that the state is not older than the tag.
            long found = table.tag(i);
            boolean due = found != 0
                    && table.state(i) == SegmentTable.State.SEALED
                    && now - table.verifiedAt(i) >= AGAIN_SECONDS;
            if (due && (oldest < 0 || table.verifiedAt(i) < table.verifiedAt(oldest))) {
                oldest = i;
                oldestTag = found;
            }
        }
        if (oldest < 0) {
            return false;
        }
        segment = oldest;
        tag = oldestTag;
        nextRecord = 0;
        walkedTo = SegmentHeader.BYTES;
        records = null;
        return true;
    }

    /** Returns true if the segment is completely verified. */
    private boolean verify(int bytesMax) throws IOException {
        if (nextRecord == 0 && walkedTo == SegmentHeader.BYTES) {
            records = segments.summary(segment, tag);
            bytes += records == null ? ENTRY_COST_BYTES : (long) records.size() * SegmentSummary.ENTRY_BYTES;
        }
        SegmentSummary list = records;
        if (list == null) {
            return walk(bytesMax);
        }
        while (nextRecord < list.size()) {
            if (bytes >= bytesMax) {
                return false;
            }
            SegmentSummary.Entry entry = list.entry(nextRecord++);
            bytes += ENTRY_COST_BYTES;
            if (entry != null) {
                verify(entry);
            }
        }
        return true;
    }

    private boolean walk(int bytesMax) throws IOException {
        long to = Math.min(segments.segmentBytes(), walkedTo + Math.max(1, bytesMax / 2));
        long end = segments.walk(segment, tag, walkedTo, to, true, (header, offset) -> {
            verify(SegmentSummary.entry(header, offset));
        });
        bytes += to - walkedTo;
        walkedTo = Math.max(to, end);
        return walkedTo >= segments.segmentBytes();
    }

    private void verify(SegmentSummary.Entry entry) throws IOException {
        long location = Location.pack(segment, entry.offset(), entry.length(), tag);
        boolean current = volume.find(entry.hashHigh(), entry.hashLow()) == location;
        // A COMPLETE record that was replaced may still contain the body of a newer head.
        if (!current && entry.type() != RecordType.COMPLETE) {
            return;
        }
        bytes += entry.length();
        try {
            DiskRecord record = volume.reader().readHead(segment, entry.offset(), tag);
            RecordHeader header = record.header();
            record.release();
            volume.reader().verifyContent(segment, entry.offset(), header);
        } catch (DamagedRecordException e) {
            damaged++;
            LOG.warn(
                    "{}: verification found a damaged record, which is removed: {}",
                    volume.directory(),
                    e.getMessage());
            drop(entry, location, current);
        }
    }

    private void drop(SegmentSummary.Entry entry, long location, boolean current) throws IOException {
        DiskKey key = new DiskKey(NO_KEY, entry.hashHigh(), entry.hashLow());
        if (entry.type() == RecordType.BLOCK) {
            volume.execute(() -> volume.dropBlock(entry.hashHigh(), entry.hashLow(), location));
            return;
        }
        long headLocation = current ? location : headOf(entry);
        if (headLocation != Location.NONE) {
            volume.execute(() -> volume.drop(key, headLocation));
        }
    }

    /** Returns the location of the newer head that uses the damaged record's body. */
    private long headOf(SegmentSummary.Entry body) throws IOException {
        long location = volume.find(body.hashHigh(), body.hashLow());
        long headTag = location == Location.NONE ? 0 : volume.pin(Location.segment(location));
        if (headTag == 0) {
            return Location.NONE;
        }
        try {
            DiskRecord head = volume.reader().readHead(Location.segment(location), Location.offset(location), headTag);
            try {
                boolean hasBodyElsewhere =
                        head.header().type() == RecordType.HEAD && head.header().has(RecordHeader.FLAG_BODY_ELSEWHERE);
                BodyPlace place = hasBodyElsewhere ? head.place() : null;
                // The segment number is only a hint, because the volume shrinker may have moved the segment.
                boolean isThisBody = place != null && place.offset() == body.offset() && place.tag() == tag;
                return isThisBody ? location : Location.NONE;
            } finally {
                head.release();
            }
        } catch (DamagedRecordException e) {
            // The damaged head is verified when its own segment is due.
            return Location.NONE;
        } finally {
            volume.unpin(Location.segment(location));
        }
    }
}
