package io.millrace.store.disk;

import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.SegmentHeader;
import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Shrinks a volume while it works. The shrinker reclaims the oldest segments until the remaining ones fit. It then
 * moves each segment after the new end to a free place before the end, newest segment first. Finally it truncates the
 * file.
 *
 * <pre>
 *   copy all but the header ─ force ─ header ─ force ─ table, index ─ erase the old header
 * </pre>
 *
 * <p>A moved segment keeps its sequence and its tag, so references by tag remain valid. Until the file is truncated,
 * the superblock contains the old size. A crash leaves at most one segment in two places. The next open of the volume
 * frees one of the two places and continues the work. Segments after the end that readers have pinned stay readable,
 * because the file is truncated only after they are unpinned.
 *
 * <p>Confined to the volume's writer thread.
 */
final class VolumeShrinker implements VolumeThread.BackgroundWork {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeShrinker.class);
    private static final int SLICE_BYTES = 1 << 20;
    private static final long WAIT_NANOS = 200_000_000;

    private final VolumeParts parts;
    private final SegmentFile segments;
    private final SegmentTable table;
    private final MappedIndex index;
    private final SegmentLog log;
    /** Number of segments after the shrink. */
    private final int limit;

    private final Owner owner;
    private boolean done;
    private int moved;
    private @Nullable Move move;

    /** The callbacks to the volume that shrinks. */
    interface Owner {
        /** Returns the state of the volume. */
        VolumeState state();

        /** Writes the superblock and truncates the file. Called when no segment after the new end is in use. */
        void cutOff(int segmentCount) throws IOException;

        /** Counts an I/O error. */
        IOException failed(IOException e);
    }

    /** A segment being moved. */
    private static final class Move {
        final int source;
        final int target;
        final long sequence;
        final long tag;
        final ByteBuffer buffer;
        long offset = SegmentHeader.BYTES;

        Move(int source, int target, long sequence, long tag, int bufferBytes) {
            this.source = source;
            this.target = target;
            this.sequence = sequence;
            this.tag = tag;
            this.buffer = ByteBuffer.allocateDirect(bufferBytes);
        }
    }

    VolumeShrinker(VolumeParts parts, SegmentFile segments, SegmentLog log, Owner owner) {
        this.parts = parts;
        this.segments = segments;
        this.table = parts.table();
        this.index = parts.index();
        this.log = log;
        this.limit = table.usable();
        this.owner = owner;
    }

    @Override
    public long step() {
        VolumeState state = owner.state();
        if (done || (state != VolumeState.ONLINE && state != VolumeState.OPENING)) {
            return IDLE;
        }
        if (state == VolumeState.OPENING) {
            return WAIT_NANOS;
        }
        try {
            return stepNow();
        } catch (IOException e) {
            done = true;
            LOG.warn(
                    "{}: the volume cannot be shrunk now and keeps its size until the next start: {}",
                    parts.directory(),
                    e.toString());
            var unused = owner.failed(e);
            return IDLE;
        }
    }

    private long stepNow() throws IOException {
        Move current = move;
        if (current != null) {
            continueMove(current);
            return AT_ONCE;
        }
        log.sealBeyond(limit);
        int source = table.newestSealedFrom(limit);
        if (source < 0) {
            return cutOff();
        }
        // One place stays free for the log, so that the log need not reclaim another segment immediately.
        if (table.live() >= limit) {
            log.retireOldest();
            // Older segments must be erased on the device before newer ones, so that tombstones (records of removals)
            // outlive the records they hide.
            segments.force();
            return AT_ONCE;
        }
        int target = log.reserve();
        if (target < 0) {
            return WAIT_NANOS;
        }
        int bufferBytes = Math.min(SLICE_BYTES, segments.segmentBytes());
        move = new Move(source, target, table.sequence(source), table.tag(source), bufferBytes);
        // Marks the segment that may exist twice if this process ends during the move.
        table.set(target, SegmentTable.State.FREE, table.sequence(source), 0, 0);
        return AT_ONCE;
    }

    private void continueMove(Move current) throws IOException {
        if (table.tag(current.source) != current.tag) {
            // The segment was reclaimed in the meantime, because the log needed space.
            table.set(current.target, SegmentTable.State.FREE, 0, 0, 0);
            release();
            return;
        }
        if (current.offset < segments.segmentBytes()) {
            current.buffer.clear();
            int count = segments.read(current.source, current.offset, current.buffer);
            if (count == 0) {
                throw new IOException("segment " + current.source + " is shorter than expected: actual="
                        + current.offset + " bytes, expected=" + segments.segmentBytes());
            }
            segments.write(current.target, current.offset, current.buffer.flip());
            current.offset += count;
            return;
        }
        finish(current);
        release();
    }

    private void release() {
        move = null;
        log.unreserve();
    }

    private void finish(Move current) throws IOException {
        segments.force();
        segments.writeHeader(new SegmentHeader(current.target, current.sequence, current.tag));
        segments.force();
        table.set(
                current.target,
                SegmentTable.State.SEALED,
                current.sequence,
                current.tag,
                table.written(current.source));
        SegmentSummary summary = segments.summary(current.target, current.tag);
        if (summary != null) {
            for (int i = 0; i < summary.size(); i++) {
                SegmentSummary.Entry entry = summary.entry(i);
                if (entry != null) {
                    updateIndex(current, entry);
                }
            }
        } else {
            segments.walk(
                    current.target,
                    current.tag,
                    SegmentHeader.BYTES,
                    segments.segmentBytes(),
                    true,
                    (header, offset) -> updateIndex(current, SegmentSummary.entry(header, offset)));
        }
        segments.eraseHeader(current.source);
        table.state(current.source, SegmentTable.State.RETIRED);
        moved++;
    }

    private void updateIndex(Move current, SegmentSummary.Entry entry) {
        index.moveIf(
                entry.hashHigh(),
                entry.hashLow(),
                Location.pack(current.source, entry.offset(), entry.length(), current.tag),
                Location.pack(current.target, entry.offset(), entry.length(), current.tag));
    }

    private long cutOff() throws IOException {
        parts.readers().recheck();
        for (int segment = limit; segment < table.segments(); segment++) {
            if (parts.pins().isPinned(segment) || parts.readers().isPinned(segment)) {
                return WAIT_NANOS;
            }
        }
        owner.cutOff(limit);
        done = true;
        LOG.info("{}: volume shrunk to {} segments, moved={}", parts.directory(), limit, moved);
        return IDLE;
    }
}
