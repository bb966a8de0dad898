package io.millrace.store.disk;

import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.RecordAppendCallback;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.segment.ReaderLists;
import io.millrace.store.disk.segment.SegmentAppender;
import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.SegmentHeader;
import io.millrace.store.disk.segment.SegmentPins;
import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import io.millrace.store.io.Checksums;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The append end of a volume. It appends records to the active segment. When the segment is full, the log seals it:
 * writes its summary (the list of its records), and continues in the next segment of the ring.
 *
 * <p>The next segment is a free one. If there is none, the log reclaims the oldest sealed segment. It reclaims segments
 * strictly in the order in which they were begun, even if a reader has pinned them. It does not overwrite a pinned
 * segment until the readers unpin it. Because of this order, a tombstone (the record of a removal) is never lost before
 * a record that it hides.
 *
 * <p>Before each append the {@link SegmentReclaimer} may carry records forward: it copies them from the segment that is
 * reclaimed next to the active segment.
 *
 * <p>Each use of a segment has a new random tag, which its records repeat. A record is valid once its header is in the
 * file, so the log writes long content before the header. It collects shorter whole objects and writes them as one
 * batch. The caller must {@link #flush} the batch before another append.
 *
 * <p>Confined to the volume's writer thread.
 */
public final class SegmentLog {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentLog.class);
    /** Maximum length of records that are assembled and written with one call. */
    private static final int SINGLE_WRITE_BYTES = 128 * 1024;
    /**
     * Divisor: limit of segments that are reclaimed but still pinned, as a fraction of the ring. Beyond it the log
     * refuses appends.
     */
    static final int PINNED_DIVISOR = 2;
    /**
     * Divisor: when only this fraction of a segment is free, the log asks its owner to force the bytes written so far.
     */
    private static final int FORCE_EARLY_DIVISOR = 8;
    /** Number of entries of a reclaimed segment that are removed from the index between tasks. */
    private static final int RETIRED_STEP = 2048;

    private final SegmentFile segments;
    private final SegmentTable table;
    private final SegmentPins pins;
    private final ReaderLists readers;
    private final MappedIndex index;
    private final RetiredEntries retired;
    private final PinnedBytes pinned;
    private final SecureRandom random = new SecureRandom();
    private final Runnable onForceDue;

    private final SegmentAppender appender;
    private final RecordBatch batch;
    private ByteBuffer scratch;
    /** Number of the active segment; -1 for none. */
    private int active;

    private long tag;
    private long nextSequence;
    /** End of the records in the active segment. */
    private long offset;

    /** Records of the active segment; null until the segment is scanned after an open. */
    private @Nullable SegmentSummary summary;

    private @Nullable SegmentReclaimer reclaimer;
    private final AtomicLong bytesWritten = new AtomicLong();
    private final AtomicLong reclaimed = new AtomicLong();
    /** True if {@code onForceDue} was called because the active segment is nearly full. */
    private boolean announced;
    /** A segment that {@link VolumeShrinker} writes to; -1 for none. */
    private int reserved = -1;

    /**
     * Creates a log that continues after the last record according to the segment table.
     *
     * @param onForceDue forces the file. Called when a segment is nearly full, so that little is left to force when the
     *     next one begins. Called again when the segment is full
     */
    SegmentLog(SegmentFile segments, VolumeParts parts, Runnable onForceDue) {
        this.segments = segments;
        appender = new SegmentAppender(segments);
        batch = new RecordBatch(appender.allocate(RecordBatch.BYTES));
        scratch = appender.allocate(SINGLE_WRITE_BYTES);
        this.table = parts.table();
        this.pins = parts.pins();
        this.readers = parts.readers();
        this.index = parts.index();
        this.retired = new RetiredEntries(index, segments.segmentBytes());
        this.pinned = new PinnedBytes(table, segments);
        this.onForceDue = onForceDue;
        active = table.active();
        if (active >= 0) {
            tag = table.tag(active);
            offset = table.written(active);
            nextSequence = Math.max(index.appliedSequence() + 1, table.sequence(active) << 32);
        }
    }

    /** Sets the reclaimer, which copies (carries forward) records before their segment is reclaimed. */
    void reclaimer(SegmentReclaimer segmentReclaimer) {
        reclaimer = segmentReclaimer;
    }

    /** Returns the counts of pinned records. They belong to objects that the volume keeps until a given time. */
    PinnedBytes pinned() {
        return pinned;
    }

    /** Returns the bytes of records appended so far. Any thread. */
    long bytesWritten() {
        return bytesWritten.get();
    }

    /** Returns the number of segments reclaimed so far. Any thread. */
    long reclaimed() {
        return reclaimed.get();
    }

    /** Returns the length of the longest record that fits in a segment together with its summary. */
    static int recordLengthMax(int segmentBytes) {
        return segmentBytes - SegmentHeader.BYTES - SegmentSummary.ENTRY_BYTES - SegmentSummary.FOOTER_BYTES;
    }

    /** Appends a record; borrows its arguments. Returns the location. */
    long append(RecordHeader header, @Nullable BodyPlace place, byte[] key, ByteBuf head, ByteBuf content)
            throws IOException {
        pace(header.recordLength());
        return write(header, place, key, head, content);
    }

    /**
     * Does the reclaim work that is due before an append of {@code length} bytes. Removes index entries of reclaimed
     * segments, and carries records forward.
     */
    void pace(int length) throws IOException {
        retired.pace(length);
        SegmentReclaimer carrying = reclaimer;
        if (carrying != null) {
            carrying.pace(length);
        }
    }

    /**
     * Like {@link #append}, but without reclaim work. Used for records that are carried forward, and by callers that
     * have already called {@link #pace}.
     */
    long write(RecordHeader header, @Nullable BodyPlace place, byte[] key, ByteBuf head, ByteBuf content)
            throws IOException {
        assert batch.isEmpty();
        int length = header.recordLength();
        makeRoom(length);
        header.stamp(nextSequence, tag);
        int metaBytes = header.contentOffset();
        boolean single = length <= SINGLE_WRITE_BYTES;
        int start = appender.offsetInBlock(active, offset);
        if (start + metaBytes > scratch.capacity()) {
            scratch = appender.allocate(metaBytes);
        }
        ByteBuffer out = scratch.clear();
        ByteBuffer body = content.nioBuffer();
        encode(out, start, header, place, key, head, body);
        if (single) {
            putContent(out, start, header, body);
            appender.write(active, offset, out.limit(start + length).position(start));
        } else {
            appender.write(active, offset + metaBytes, body);
            // The appender must not write these bytes, because its padding with zeros would overwrite the start of the
            // content.
            segments.write(active, offset, out.limit(start + metaBytes).position(start));
        }
        nextSequence++;
        return register(header);
    }

    /** Registers the record written at the log's offset. Returns its location. */
    private long register(RecordHeader header) {
        int length = header.recordLength();
        long location = Location.pack(active, offset, length, tag);
        if (summary != null) {
            summary.add(header, offset);
            pinned.add(active, header);
        }
        offset += length;
        if (!announced && offset > segments.segmentBytes() - segments.segmentBytes() / FORCE_EARLY_DIVISOR) {
            announced = true;
            onForceDue.run();
        }
        bytesWritten.addAndGet(length);
        return location;
    }

    /** Returns true if a record of that length is short enough for the batch. */
    static boolean isGathered(int length) {
        return length <= SINGLE_WRITE_BYTES;
    }

    /** Returns true if the batch is empty. */
    boolean isFlushed() {
        return batch.isEmpty();
    }

    /** Returns true if a record of that length fits in the batch. */
    boolean canGather(int length) throws IOException {
        return batch.isEmpty()
                || (batch.hasRoom(length)
                        && offset + batch.length() + length + summary().encodedLength(batch.size() + 1)
                                <= segments.segmentBytes());
    }

    /** Adds a whole object to the batch, after {@link #canGather} and {@link #pace}; borrows its arguments. */
    void gather(RecordHeader header, DiskKey key, ByteBuf head, ByteBuf content, RecordAppendCallback callback)
            throws IOException {
        if (batch.isEmpty()) {
            makeRoom(header.recordLength());
            batch.begin(appender.offsetInBlock(active, offset));
        }
        header.stamp(nextSequence, tag);
        ByteBuffer out = batch.buffer();
        ByteBuffer body = content.nioBuffer();
        encode(out, batch.end(), header, null, key.bytes(), head, body);
        putContent(out, batch.end(), header, body);
        // The sequence number is not used again, even if the write fails. A failed write may leave a record on disk,
        // and only a record with a higher sequence number takes precedence over it.
        nextSequence++;
        batch.add(header, key, callback);
    }

    /**
     * Writes the batch with one call. If the call fails, writes one record after the other. Returns the records, each
     * with its location or its failure; the caller updates the index.
     *
     * @param onError receives the failure of the combined write
     */
    List<RecordBatch.Member> flush(Consumer<IOException> onError) {
        if (batch.isEmpty()) {
            return List.of();
        }
        long begin = offset;
        try {
            appender.write(active, offset, batch.bytes());
            List<RecordBatch.Member> members = batch.take();
            for (RecordBatch.Member member : members) {
                member.written(register(member.header()));
            }
            return members;
        } catch (IOException e) {
            if (batch.size() == 1) {
                List<RecordBatch.Member> members = batch.take();
                members.get(0).failed(e);
                return members;
            }
            onError.accept(e);
            return flushOneByOne(begin);
        }
    }

    private List<RecordBatch.Member> flushOneByOne(long begin) {
        ByteBuffer[] bytes = new ByteBuffer[batch.size()];
        List<RecordBatch.Member> members = batch.take();
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = batch.bytes(members.get(i)).slice();
        }
        boolean allWritten = true;
        for (int i = 0; i < bytes.length; i++) {
            RecordBatch.Member member = members.get(i);
            try {
                appender.write(active, offset, bytes[i]);
                member.written(register(member.header()));
            } catch (IOException e) {
                member.failed(e);
                allWritten = false;
            }
        }
        for (RecordBatch.Member member : members) {
            if (!allWritten && begin + member.start() >= offset) {
                eraseRest(begin + member.start());
            }
        }
        return members;
    }

    /** Erases the remains of the failed write, if that is possible, so that they are not read as records. */
    private void eraseRest(long at) {
        try {
            segments.erase(active, at);
        } catch (IOException e) {
            LOG.debug(
                    "segment {}: the partial data of a failed write at offset {} cannot be erased: {}",
                    active,
                    at,
                    e.toString());
        }
    }

    /**
     * Returns the free bytes of the active segment; 0 without an active segment. Each record needs {@link #overhead} in
     * addition to its length.
     */
    long room() throws IOException {
        return active < 0
                ? 0
                : segments.segmentBytes() - offset - batch.length() - summary().encodedLength(batch.size());
    }

    /** Returns the bytes that a record uses in the summary. */
    static int overhead() {
        return SegmentSummary.ENTRY_BYTES;
    }

    /** Returns the sequence of the active segment; 0 without one. */
    long activeSequence() {
        return active < 0 ? 0 : table.sequence(active);
    }

    /** Returns true if the next segment can begin without a reclaim. */
    boolean hasFreeSegment() {
        return freeSegment() >= 0;
    }

    /** Returns true if a reader has pinned the segment, so that its reclaim frees no space yet. */
    boolean isPinned(int segment) {
        return pins.isPinned(segment) || readers.isPinned(segment);
    }

    /** Records that the index contains every record appended so far. */
    void markIndexCurrent() {
        index.appliedSequence(nextSequence - 1);
        table.written(active, (int) offset);
    }

    /** Encodes the record, without its content, at offset {@code start} of the buffer. */
    private static void encode(
            ByteBuffer out,
            int start,
            RecordHeader header,
            @Nullable BodyPlace place,
            byte[] key,
            ByteBuf head,
            ByteBuffer body) {
        int at = start + RecordHeader.BYTES;
        for (int from = 0; from < header.contentLength(); from += RecordHeader.CHUNK_BYTES) {
            int length = Math.min(RecordHeader.CHUNK_BYTES, header.contentLength() - from);
            out.putInt(at, Checksums.crc32cUnshared(body, from, length));
            at += Integer.BYTES;
        }
        assert at == start + header.metaOffset();
        if (place != null) {
            place.encode(out, at);
            at += header.extensionLength();
        }
        out.put(at, key, 0, header.keyLength());
        at += header.keyLength();
        if (header.headLength() > 0) {
            out.put(at, head.nioBuffer(), 0, header.headLength());
        }
        header.checksums(
                Checksums.crc32cUnshared(out, start + RecordHeader.BYTES, header.tableLength()),
                Checksums.crc32cUnshared(out, start + header.metaOffset(), header.metaLength()));
        header.encode(out, start);
    }

    /** Writes the content and its zero padding. */
    private static void putContent(ByteBuffer out, int start, RecordHeader header, ByteBuffer body) {
        int at = start + header.contentOffset();
        out.put(at, body, 0, header.contentLength());
        for (int i = at + header.contentLength(); i < start + header.recordLength(); i++) {
            out.put(i, (byte) 0);
        }
    }

    private void makeRoom(int length) throws IOException {
        if (length > recordLengthMax(segments.segmentBytes())) {
            throw new IOException(
                    "record of " + length + " bytes does not fit a segment of " + segments.segmentBytes() + " bytes");
        }
        if (active >= 0) {
            SegmentSummary records = summary();
            if (offset + length + records.encodedLength(1) <= segments.segmentBytes()) {
                return;
            }
            seal(records);
        }
        begin(nextFree());
    }

    private SegmentSummary summary() throws IOException {
        SegmentSummary records = summary;
        if (records == null) {
            records = new SegmentSummary();
            SegmentSummary found = records;
            segments.walk(active, tag, SegmentHeader.BYTES, offset, true, found);
            summary = records;
            pinned.set(active, tag, records);
        }
        return records;
    }

    private void seal(SegmentSummary records) throws IOException {
        ByteBuffer encoded = records.encode(segments.segmentBytes(), tag);
        appender.write(active, (long) segments.segmentBytes() - encoded.capacity(), encoded);
        table.state(active, SegmentTable.State.SEALED);
        active = -1;
        summary = null;
        onForceDue.run();
    }

    private void begin(int segment) throws IOException {
        long sequence = table.newestSequence() + 1;
        long newTag = random.nextLong();
        while (!table.isNewTag(segment, newTag)) {
            newTag = random.nextLong();
        }
        segments.writeHeader(new SegmentHeader(segment, sequence, newTag));
        table.set(segment, SegmentTable.State.ACTIVE, sequence, newTag, SegmentHeader.BYTES);
        active = segment;
        tag = newTag;
        offset = SegmentHeader.BYTES;
        nextSequence = sequence << 32;
        SegmentSummary none = new SegmentSummary();
        summary = none;
        pinned.set(segment, newTag, none);
        announced = false;
    }

    private int nextFree() throws IOException {
        readers.recheck();
        int found = freeSegment();
        int reclaimsLeft = Math.max(1, table.usable() / PINNED_DIVISOR) - retiredCount();
        while (found < 0) {
            int oldest = table.oldestSealed();
            if (oldest < 0 || (oldest < table.usable() && reclaimsLeft <= 0)) {
                break;
            }
            retire(oldest);
            found = freeSegment();
            reclaimsLeft -= oldest < table.usable() ? 1 : 0;
        }
        if (found < 0) {
            throw new AppendRefusedException("no free segment: pinned=" + pins.pinnedSegments()
                    + ", pinned by other processes=" + readers.pinnedSegments() + ", segments=" + table.segments());
        }
        if (table.sequence(found) > 0) {
            // The file is forced before the segment is overwritten. Copies of its records must be on the device. The
            // erasure of the headers of older segments must be on the device too, because tombstones in this segment
            // may hide records of those segments.
            segments.force();
        }
        return found;
    }

    private int retiredCount() {
        int retired = 0;
        for (int segment = 0; segment < table.usable(); segment++) {
            retired += table.state(segment) == SegmentTable.State.RETIRED ? 1 : 0;
        }
        return retired;
    }

    /** Seals the active segment if its number is {@code limit} or higher. */
    void sealBeyond(int limit) throws IOException {
        if (active >= limit) {
            seal(summary());
        }
    }

    /** Reclaims the oldest sealed segment. */
    void retireOldest() throws IOException {
        int oldest = table.oldestSealed();
        if (oldest >= 0) {
            retire(oldest);
            // All index entries are removed now, because they are identified by place and tag, and another segment may
            // be moved to this place next.
            retired.step(Integer.MAX_VALUE);
        }
    }

    /** Reserves an unused segment, which the log does not use until {@link #unreserve}; -1 if there is none. */
    int reserve() {
        readers.recheck();
        reserved = freeSegment();
        return reserved;
    }

    void unreserve() {
        reserved = -1;
    }

    private int freeSegment() {
        for (int segment = 0; segment < table.usable(); segment++) {
            SegmentTable.State state = table.state(segment);
            boolean unused = state == SegmentTable.State.FREE || state == SegmentTable.State.RETIRED;
            if (unused && segment != reserved && !isPinned(segment)) {
                return segment;
            }
        }
        return -1;
    }

    /**
     * Reclaims a sealed segment: erases its header on disk, then ends lookups in it, then removes its index entries.
     */
    private void retire(int segment) throws IOException {
        long oldTag = table.tag(segment);
        segments.eraseHeader(segment);
        table.state(segment, SegmentTable.State.RETIRED);
        reclaimed.incrementAndGet();
        SegmentSummary records = segments.summary(segment, oldTag);
        if (records == null) {
            index.removeSegment(segment, oldTag);
            return;
        }
        retired.add(segment, oldTag, records);
    }

    /** Removes some index entries of a reclaimed segment; false if none are left. */
    boolean removeRetiredEntries() {
        return retired.step(RETIRED_STEP);
    }
}
