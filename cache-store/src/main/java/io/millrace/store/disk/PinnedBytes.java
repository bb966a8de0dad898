package io.millrace.store.disk;

import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.disk.segment.SegmentTable;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLongArray;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the bytes of pinned records in each segment of a volume. A pinned record belongs to an object that the volume
 * keeps until a given time; the pins of readers are in {@link io.millrace.store.disk.segment.SegmentPins}. A record
 * counts from its write until its segment is reclaimed, even if it was replaced or removed. For segments written before
 * the volume was opened, {@link #step} reads the count from the footer of the segment's summary (list of records),
 * between other tasks. The active segment has no summary yet, so {@link SegmentLog} scans its records instead. That
 * scan counts no blocks, because their headers contain no pin.
 *
 * <p>Changed on the volume's thread; read on any.
 */
final class PinnedBytes {
    private static final Logger LOG = LoggerFactory.getLogger(PinnedBytes.class);

    private final SegmentTable table;
    private final SegmentFile segments;
    /** Tag of each segment when it was counted; 0 if it was not counted. Each use of a segment has a new random tag. */
    private final AtomicLongArray tags;

    private final AtomicLongArray bytes;
    /** The latest pin end in each segment, in seconds since the epoch. */
    private final AtomicLongArray lastEnds;
    /** The next segment whose footer must be read. */
    private int next;

    PinnedBytes(SegmentTable table, SegmentFile segments) {
        this.table = table;
        this.segments = segments;
        tags = new AtomicLongArray(table.segments());
        bytes = new AtomicLongArray(table.segments());
        lastEnds = new AtomicLongArray(table.segments());
    }

    /** Sets the counts of a segment from the records in its summary. */
    void set(int segment, long tag, SegmentSummary records) {
        bytes.set(segment, records.pinnedBytes());
        lastEnds.set(segment, records.lastPinEnds());
        tags.set(segment, tag);
    }

    /** Adds a record to the counts of a segment. */
    void add(int segment, RecordHeader record) {
        if (record.pinnedUntil() > 0) {
            bytes.addAndGet(segment, record.recordLength());
            lastEnds.accumulateAndGet(segment, record.pinnedUntil(), Math::max);
        }
    }

    /** Subtracts a record that was copied (carried) to another segment. */
    void subtract(int segment, int length) {
        bytes.addAndGet(segment, -length);
    }

    /** Replaces the count of a segment by the bytes of its pinned records that are still valid. */
    void replace(int segment, long pinnedBytes) {
        bytes.set(segment, pinnedBytes);
    }

    /**
     * Returns the oldest sealed segment with more than {@code most} pinned bytes; -1 if there is none. Ignores segments
     * whose sequence number is at most {@code sequence}.
     */
    int nextAbove(long most, long sequence, long nowSeconds) {
        int found = -1;
        for (int segment = 0; segment < table.usable(); segment++) {
            if (table.state(segment) == SegmentTable.State.SEALED
                    && table.sequence(segment) > sequence
                    && of(segment, nowSeconds) > most
                    && (found < 0 || table.sequence(segment) < table.sequence(found))) {
                found = segment;
            }
        }
        return found;
    }

    /** Returns the bytes of pinned records in the segment, as far as known; 0 if all their pins have expired. */
    long of(int segment, long nowSeconds) {
        boolean known = tags.get(segment) != 0 && tags.get(segment) == table.tag(segment);
        return known && lastEnds.get(segment) > nowSeconds ? bytes.get(segment) : 0;
    }

    /**
     * Reads the footer of the next segment, if its count is not known yet. Returns the delay until the next call:
     * {@code AT_ONCE}, or {@code IDLE} after the last segment.
     */
    long step() {
        if (next == tags.length()) {
            return VolumeThread.BackgroundWork.IDLE;
        }
        int segment = next++;
        long tag = table.tag(segment);
        if (tag != 0 && tags.get(segment) != tag && table.state(segment) == SegmentTable.State.SEALED) {
            try {
                SegmentSummary footer = segments.footer(segment, tag);
                if (footer != null) {
                    set(segment, tag, footer);
                }
            } catch (IOException e) {
                LOG.debug(
                        "segment {}: its summary cannot be read, so its pinned bytes are not counted: {}",
                        segment,
                        e.toString());
            }
        }
        return VolumeThread.BackgroundWork.AT_ONCE;
    }

    /**
     * Returns the bytes of pinned records in all segments. A segment counts as long as any of its pins has not expired.
     */
    long total(long nowSeconds) {
        long total = 0;
        for (int segment = 0; segment < tags.length(); segment++) {
            long tag = tags.get(segment);
            // The volume shrinker may have moved the segment to another number, so it is searched by its tag.
            if (tag != 0 && lastEnds.get(segment) > nowSeconds && table.withTag(segment, tag) >= 0) {
                total += bytes.get(segment);
            }
        }
        return total;
    }
}
