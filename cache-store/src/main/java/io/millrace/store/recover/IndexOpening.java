package io.millrace.store.recover;

import io.millrace.store.disk.Volume;
import io.millrace.store.disk.VolumeListener;
import io.millrace.store.disk.VolumeParts;
import io.millrace.store.disk.record.DamagedRecordException;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.segment.ReaderLists;
import io.millrace.store.disk.segment.RecordReader;
import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.SegmentHeader;
import io.millrace.store.disk.segment.SegmentPins;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.disk.segment.Superblock;
import io.millrace.store.index.IndexUnusableException;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import io.millrace.store.io.FileIo;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the index of a volume. If the existing index is valid, this class adds the records that were appended to the
 * log after the last change of the index. Otherwise it creates an empty index, which is rebuilt from the segments while
 * the volume already serves requests.
 *
 * <p>Confined to one thread.
 */
final class IndexOpening {
    private static final Logger LOG = LoggerFactory.getLogger(IndexOpening.class);
    /** A new index has one entry per this many bytes of the volume; it grows if objects are smaller. */
    private static final long BYTES_PER_ENTRY = 32 * 1024;

    private final FileIo io;
    private final VolumeFiles files;
    private final Superblock superblock;
    private final SegmentFile segments;
    private final Path directory;

    private IndexOpening(FileIo io, VolumeFiles files) {
        this.io = io;
        this.files = files;
        superblock = files.superblock();
        segments = new SegmentFile(files.file(), superblock);
        directory = files.spec().directory();
    }

    static Volume open(FileIo io, VolumeFiles files, ByteBufAllocator allocator, VolumeListener listener)
            throws IOException {
        IndexOpening opening = new IndexOpening(io, files);
        if (!files.startsEmpty()) {
            try {
                return opening.reuse(allocator, listener);
            } catch (IndexUnusableException e) {
                LOG.info("the index cannot be used and is rebuilt from the segments: {}", e.getMessage());
            }
        }
        return opening.rebuild(allocator, listener);
    }

    private Volume reuse(ByteBufAllocator allocator, VolumeListener listener) throws IOException {
        int count = superblock.segmentCount();
        MappedIndex index = MappedIndex.open(io, directory, superblock.volumeId(), SegmentTable.auxiliaryBytes(count));
        SegmentTable table = SegmentTable.load(index, count);
        cleanUpInterruptedMove(table);
        int active = table.active();
        if (active >= 0) {
            replay(index, table, active);
        }
        return new Volume(parts(index, table), allocator, listener, null);
    }

    /**
     * Ends a move of a segment that was in progress when the process ended. Two places then have the sequence number of
     * that segment, and one of them has no records yet. Frees the place without records.
     *
     * @throws IndexUnusableException if both places have records
     */
    private void cleanUpInterruptedMove(SegmentTable table) throws IOException {
        Map<Long, Integer> segmentBySequence = new HashMap<>();
        for (int segment = 0; segment < table.segments(); segment++) {
            if (table.tag(segment) != 0 && segmentBySequence.put(table.sequence(segment), segment) != null) {
                throw new IndexUnusableException(
                        directory + ": segment " + segment + " was being moved when the process ended");
            }
        }
        for (int segment = 0; segment < table.segments(); segment++) {
            if (table.tag(segment) == 0 && segmentBySequence.containsKey(table.sequence(segment))) {
                segments.eraseHeader(segment);
                table.set(segment, SegmentTable.State.FREE, 0, 0, 0);
            }
        }
    }

    /** Adds the records that were appended after the last change of the index. */
    private void replay(MappedIndex index, SegmentTable table, int active) throws IOException {
        SegmentHeader header = segments.header(active);
        long tag = table.tag(active);
        if (header == null || header.tag() != tag) {
            throw new IndexUnusableException(
                    directory + ": segment " + active + " differs from the active segment recorded in the index");
        }
        RecordReader reader = new RecordReader(segments, UnpooledByteBufAllocator.DEFAULT);
        long[] end = {table.written(active)};
        try {
            segments.walk(active, tag, end[0], segments.segmentBytes(), false, (record, offset) -> {
                reader.readHead(active, offset, tag).release();
                reader.verifyContent(active, offset, record);
                apply(index, active, record, offset);
                end[0] = offset + record.recordLength();
            });
        } catch (DamagedRecordException e) {
            LOG.info("{}: the last record before the stop is incomplete and is skipped: {}", directory, e.getMessage());
            segments.erase(active, end[0]);
        }
        table.written(active, (int) end[0]);
    }

    private static void apply(MappedIndex index, int segment, RecordHeader record, long offset) throws IOException {
        long location = Location.pack(segment, offset, record.recordLength(), record.tag());
        switch (record.type()) {
            case COMPLETE, HEAD -> index.put(record.hashHigh(), record.hashLow(), location, record.expiry());
            case BLOCK -> {
                if (record.isRevocation()) {
                    index.remove(record.hashHigh(), record.hashLow());
                } else {
                    index.putBlock(record.hashHigh(), record.hashLow(), location);
                }
            }
            case TOMBSTONE -> index.remove(record.hashHigh(), record.hashLow());
        }
        index.appliedSequence(record.sequence());
    }

    private Volume rebuild(ByteBufAllocator allocator, VolumeListener listener) throws IOException {
        int count = superblock.segmentCount();
        long bytes = (long) superblock.segmentBytes() * count;
        MappedIndex index = MappedIndex.create(
                io, directory, superblock.volumeId(), SegmentTable.auxiliaryBytes(count), bytes / BYTES_PER_ENTRY);
        SegmentTable table = SegmentTable.create(index, count);
        IndexRebuild rebuild = IndexRebuild.prepare(directory, segments, table, index);
        if (rebuild.isEmpty()) {
            index.finishRebuild();
            return new Volume(parts(index, table), allocator, listener, null);
        }
        return new Volume(parts(index, table), allocator, listener, rebuild);
    }

    private VolumeParts parts(MappedIndex index, SegmentTable table) throws IOException {
        table.usable(files.segmentsWanted());
        SegmentPins before = files.spec().pins();
        SegmentPins pins = before != null && before.segments() == superblock.segmentCount()
                ? before
                : new SegmentPins(superblock.segmentCount());
        ReaderLists readers = ReaderLists.open(io, directory, superblock);
        return new VolumeParts(directory, files.lease(), files.file(), superblock, index, table, pins, readers);
    }
}
