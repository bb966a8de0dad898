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
 * How many bytes of records are pinned, segment by segment: as of when they were written, those included that were replaced or
 * removed since, until their segment is given up. Of segments from before the volume was opened the footer of their summary
 * tells it, which is read between other tasks; of one that was never sealed, its blocks are left out.
 *
 * <p>Changed on the volume's thread; read on any.
 */
final class PinnedBytes {
    private static final Logger LOG = LoggerFactory.getLogger(PinnedBytes.class);

    private final SegmentTable table;
    private final SegmentFile segments;
    private final AtomicLongArray tags;
    private final AtomicLongArray bytes;
    private final AtomicLongArray lastEnds;
    /** The next segment whose footer is to be read. */
    private int next;

    PinnedBytes(SegmentTable table, SegmentFile segments) {
        this.table = table;
        this.segments = segments;
        tags = new AtomicLongArray(table.segments());
        bytes = new AtomicLongArray(table.segments());
        lastEnds = new AtomicLongArray(table.segments());
    }

    /** The records of a segment are those that its summary lists. */
    void set(int segment, long tag, SegmentSummary records) {
        bytes.set(segment, records.pinnedBytes());
        lastEnds.set(segment, records.lastPinEnds());
        tags.set(segment, tag);
    }

    /** A segment has one more record. */
    void add(int segment, RecordHeader record) {
        if (record.pinnedUntil() > 0) {
            bytes.addAndGet(segment, record.recordLength());
            lastEnds.accumulateAndGet(segment, record.pinnedUntil(), Math::max);
        }
    }

    /** A record of the segment is pinned elsewhere now. */
    void left(int segment, int length) {
        bytes.addAndGet(segment, -length);
    }

    /** So many bytes of its pinned records still count. */
    void found(int segment, long pinnedBytes) {
        bytes.set(segment, pinnedBytes);
    }

    /** The sealed segment begun next after that sequence that has more than this many bytes pinned; -1 when there is none. */
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

    /** Bytes of the segment's pinned records, as far as known; 0 when all their pins have ended. */
    long of(int segment, long nowSeconds) {
        boolean known = tags.get(segment) != 0 && tags.get(segment) == table.tag(segment);
        return known && lastEnds.get(segment) > nowSeconds ? bytes.get(segment) : 0;
    }

    /** Reads the footer of one segment more. */
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
                LOG.debug("segment {}: bytes of its pinned records are not known: {}", segment, e.toString());
            }
        }
        return VolumeThread.BackgroundWork.AT_ONCE;
    }

    /** Bytes of pinned records; a segment's count as long as any of its pins holds. */
    long total(long nowSeconds) {
        long total = 0;
        for (int segment = 0; segment < tags.length(); segment++) {
            long tag = tags.get(segment);
            // It may have been moved meanwhile.
            if (tag != 0 && lastEnds.get(segment) > nowSeconds && table.withTag(segment, tag) >= 0) {
                total += bytes.get(segment);
            }
        }
        return total;
    }
}
