package io.millrace.store.disk;

import io.millrace.store.disk.record.BodyPlace;
import io.millrace.store.disk.record.DiskKey;
import io.millrace.store.disk.record.DiskRecord;
import io.millrace.store.disk.record.RecordHeader;
import io.millrace.store.disk.record.RecordType;
import io.millrace.store.disk.segment.RecordReader;
import io.millrace.store.disk.segment.SegmentFile;
import io.millrace.store.disk.segment.SegmentSummary;
import io.millrace.store.disk.segment.SegmentTable;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies the records that are worth keeping from a segment before the log reclaims the segment. While the active
 * segment fills, the reclaimer carries records forward: from the segment that is reclaimed next to the active one.
 *
 * <pre>
 *   oldest segment:  | rated, from its summary | records worth keeping, in their order |
 *                                                     │ copied a few at a time
 *   active segment:  | records of callers and carried ones, mixed | room for the records still to be carried | slack |
 * </pre>
 *
 * <p>Before each record of a caller, the reclaimer does a small part of the work, in proportion to the record's length.
 * The work is complete when the active segment is full. At most {@link #CARRIED_SHARE} of a segment is carried. If more
 * records qualify, those with the highest rating are carried. The old segment is unchanged until it is reclaimed, so an
 * interruption loses no record.
 *
 * <p>Pinned records belong to objects that the volume keeps until a given time. They have priority over all others.
 * Among the pinned records, those that were read have priority. Pins never block a writer: pinned records beyond the
 * share are dropped and counted as broken pins. If a segment does not use its whole share, the reclaimer carries
 * records early out of a later segment with too many pinned bytes. A block is pinned if the head of its key is pinned.
 *
 * <p>A record is carried only if the index still names it as the newest record of its key. The copy gets a new
 * sequence. Expired records are dropped. If the head of a body was replaced, the body and the newer head are merged
 * into one record. A block is carried if it has the same object id as the current head of its key.
 *
 * <p>Confined to the volume's writer thread.
 */
final class SegmentReclaimer {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentReclaimer.class);
    /** Maximum fraction of a segment that is carried forward; the rest is the minimum space gained by a reclaim. */
    private static final double CARRIED_SHARE = 0.8;
    /**
     * Fraction of a segment that is free for callers when carrying begins, in addition to the space for carried
     * records. Smaller if the carried records need more space.
     */
    private static final double SLACK_SHARE = 0.25;
    /** Limit of records that are rated before one append of a caller. */
    private static final int RATINGS_MAX = 2048;
    /** Limit of records that are read for a rating before one append of a caller. */
    private static final int READS_MAX = 32;

    /**
     * Divisor: fraction of a segment by which the reclaimer is ahead of its plan, so that it copies several records at
     * a time.
     */
    private static final int AHEAD_DIVISOR = 64;
    /** Divisor: tolerance of the per-segment target of pinned bytes, since records have different lengths. */
    private static final int PIN_MARGIN_DIVISOR = 16;
    /** Limit of later segments from which records are carried early, per active segment. */
    private static final int EARLY_MAX = 4;

    private final SegmentLog log;
    private final MappedIndex index;
    private final SegmentTable table;
    private final SegmentFile segments;
    private final RecordReader reader;
    private final Runnable beforeCarrying;
    private final VolumeWriter.OnStored onStored;
    /** The heads that were read for the present candidates, by location. */
    private final Map<Long, KeyHead> heads = new HashMap<>();

    private final Deque<ReclaimCandidate> toRate = new ArrayDeque<>();
    private final Deque<ReclaimCandidate> toCarry = new ArrayDeque<>();
    private final long[] bytesByRating = new long[ReclaimCandidate.PINNED_AND_READ + 1];

    private KeepPolicy policy = KeepPolicy.BY_HITS;
    private boolean enabled;
    private PinPolicy pins = PinPolicy.ALL;
    /** Sequence of the active segment for which the candidates were chosen. */
    private long roundSequence;
    /**
     * Minimum rating of carried records. Of the records with exactly this rating, {@link #atRatingMinLeft} bytes are
     * carried.
     */
    private int ratingMin;

    private long atRatingMinLeft;
    /** Bytes planned to be carried into the active segment, including summary entries. */
    private long total;
    /** Bytes of {@link #total} that are still to be carried. */
    private long left;
    /** True once {@link #ratingMin} is set for the segment that is reclaimed next. */
    private boolean chosen;

    /** Number of records read for ratings before the current append. */
    private int reads;
    /** End of the pin of the newer head that was read last, in seconds since the epoch; 0 if it is not pinned. */
    private long newerPinnedUntil;

    private final AtomicLong bytesCarried = new AtomicLong();
    private final AtomicLong pinsBroken = new AtomicLong();

    /** The fields of a key's current head that decide whether its blocks are kept. */
    private record KeyHead(long objectId, long hashHigh, long pinnedUntil) {}

    /**
     * Creates a reclaimer without candidates.
     *
     * @param beforeCarrying writes the batch of gathered objects to the log and the index
     * @param onStored called for each copy of an object's newest record
     */
    SegmentReclaimer(
            SegmentLog log,
            VolumeParts parts,
            SegmentFile segments,
            RecordReader reader,
            Runnable beforeCarrying,
            VolumeWriter.OnStored onStored) {
        this.beforeCarrying = beforeCarrying;
        this.onStored = onStored;
        this.log = log;
        this.index = parts.index();
        this.table = parts.table();
        this.segments = segments;
        this.reader = reader;
    }

    /**
     * Enables carrying forward. Called when the index is complete, because records that are missing in the index are
     * dropped.
     */
    void enable() {
        enabled = true;
    }

    void policy(KeepPolicy keepPolicy) {
        policy = keepPolicy;
    }

    void pinPolicy(PinPolicy pinPolicy) {
        pins = pinPolicy;
    }

    /**
     * Returns the number of broken pins: pinned records that were dropped. May include records that were no longer
     * valid. Any thread.
     */
    long pinsBroken() {
        return pinsBroken.get();
    }

    /** Returns the bytes carried so far. Any thread. */
    long bytesCarried() {
        return bytesCarried.get();
    }

    /** Does the work that is due before {@code length} bytes are appended for a caller. */
    void pace(int length) throws IOException {
        if (roundSequence != log.activeSequence()) {
            begin();
        }
        if (!toRate.isEmpty()) {
            rate();
        }
        if (toRate.isEmpty() && !toCarry.isEmpty() && !isOnPlan(length)) {
            beforeCarrying.run();
            carryDue(length + Math.min(RecordBatch.BYTES, segments.segmentBytes() / AHEAD_DIVISOR));
        }
    }

    /**
     * Returns true if no copy is due: the share of {@link #total} that is still to be carried is at most the share of
     * the slack that remains after {@code length} further bytes of a caller.
     */
    private boolean isOnPlan(int length) throws IOException {
        double slack =
                Math.max(1, Math.min(segments.segmentBytes() * SLACK_SHARE, (double) segments.segmentBytes() - total));
        long roomLeft = Math.max(0, log.room() - length - SegmentLog.overhead() - left);
        return (double) left * slack <= (double) roomLeft * total;
    }

    private void begin() throws IOException {
        roundSequence = log.activeSequence();
        for (ReclaimCandidate candidate : toCarry) {
            // The previous active segment became full before all planned records of this candidate were carried.
            for (; isAlreadyReclaimed(candidate) && candidate.next() < candidate.size(); candidate.advance()) {
                drop(candidate, candidate.next());
            }
        }
        toRate.clear();
        toCarry.clear();
        heads.clear();
        left = 0;
        chosen = false;
        if (!enabled || roundSequence == 0 || log.hasFreeSegment()) {
            return;
        }
        policy.segmentBegun(index.objects());
        Arrays.fill(bytesByRating, 0);
        long afterSequence = 0;
        int candidatesMax = Math.max(1, table.segments() / SegmentLog.PINNED_DIVISOR);
        for (int i = 0; i < candidatesMax; i++) {
            int oldest = table.oldestSealed(afterSequence);
            if (oldest < 0) {
                return;
            }
            SegmentSummary records = summary(oldest);
            if (records != null) {
                toRate.add(new ReclaimCandidate(oldest, table.tag(oldest), records));
            }
            if (!log.isPinned(oldest)) {
                return;
            }
            // A reader has pinned this segment. Its reclaim frees no space yet, so the next segment is reclaimed too.
            afterSequence = table.sequence(oldest);
        }
    }

    private @Nullable SegmentSummary summary(int segment) {
        try {
            return segments.summary(segment, table.tag(segment));
        } catch (IOException e) {
            LOG.warn(
                    "segment {}: its summary cannot be read, so the segment is reclaimed without keeping any record: {}",
                    segment,
                    e.toString());
            return null;
        }
    }

    private void rate() {
        reads = 0;
        for (int ratings = 0; ratings < RATINGS_MAX && reads < READS_MAX && !toRate.isEmpty(); ratings++) {
            ReclaimCandidate candidate = toRate.element();
            if (candidate.next() == candidate.size()) {
                candidate.rewind();
                if (candidate.isEarly()) {
                    log.pinned().replace(candidate.segment(), candidate.pinnedBytes());
                }
                toCarry.add(toRate.remove());
                continue;
            }
            SegmentSummary.Entry entry = candidate.entry(candidate.next());
            int rating = entry == null ? 0 : rating(candidate, entry);
            candidate.rating(candidate.next(), rating, entry == null ? 0 : entry.length());
            if (entry != null && rating > 0 && !candidate.isEarly()) {
                bytesByRating[rating] += entry.length() + SegmentLog.overhead();
            }
            candidate.advance();
        }
        if (toRate.isEmpty()) {
            if (!chosen) {
                choose();
            }
            chooseEarly();
        }
    }

    /** Determines the minimum rating of carried records. */
    private void choose() {
        long carriedMax = (long) (segments.segmentBytes() * CARRIED_SHARE);
        total = 0;
        ratingMin = ReclaimCandidate.PINNED_AND_READ + 1;
        atRatingMinLeft = 0;
        while (ratingMin > 1 && total < carriedMax) {
            ratingMin--;
            atRatingMinLeft = Math.min(bytesByRating[ratingMin], carriedMax - total);
            total += atRatingMinLeft;
        }
        left = total;
        chosen = true;
    }

    private int rating(ReclaimCandidate candidate, SegmentSummary.Entry entry) {
        if (entry.type() == RecordType.TOMBSTONE) {
            return 0;
        }
        long currentLocation = index.find(entry.hashHigh(), entry.hashLow());
        long location = Location.pack(candidate.segment(), entry.offset(), entry.length(), candidate.tag());
        boolean isCurrent = currentLocation == location;
        if (currentLocation == Location.NONE || (!isCurrent && entry.type() != RecordType.COMPLETE)) {
            return 0;
        }
        int hits = index.hits(entry.hashHigh(), entry.hashLow());
        try {
            if (entry.type() == RecordType.BLOCK) {
                return ratingOfBlock(candidate, entry, hits);
            }
            // If there is a newer head, its expiry applies.
            if (isCurrent ? isExpired(entry.expiry()) : !isBodyOf(currentLocation, candidate, entry)) {
                return 0;
            }
            boolean pinned = isCurrent ? staysPinned(candidate, entry) : isPinned(newerPinnedUntil);
            return pinned ? ratingOfPinned(hits) : ratingOfUnpinned(candidate, entry.hashLow(), hits);
        } catch (IOException e) {
            LOG.debug(
                    "the record cannot be read, so it is not copied before its segment is reclaimed: {}", e.toString());
            return 0;
        }
    }

    private static boolean isExpired(int expiry) {
        return Integer.toUnsignedLong(expiry) <= System.currentTimeMillis() / 1000;
    }

    private boolean isPinned(long pinnedUntil) {
        return pinnedUntil > 0 && pins.isHonoured() && pinnedUntil > System.currentTimeMillis() / 1000;
    }

    /**
     * Returns true if the entry's object is pinned and the pin policy confirms it. Invalidated objects must not use
     * space for pins.
     */
    private boolean staysPinned(ReclaimCandidate candidate, SegmentSummary.Entry entry) throws IOException {
        if (!isPinned(entry.pinnedUntil())) {
            return false;
        }
        reads++;
        DiskRecord record = reader.readHead(candidate.segment(), entry.offset(), candidate.tag());
        try {
            return pins.staysPinned(record.key(), record.head());
        } finally {
            record.release();
        }
    }

    /**
     * Returns the rating of an unpinned record. Records of a segment that is reclaimed later get 0 without a call of
     * the policy, because the policy learns from each call.
     */
    private int ratingOfUnpinned(ReclaimCandidate candidate, long keyHash, int hits) {
        return candidate.isEarly() ? 0 : policy.rating(keyHash, hits);
    }

    private static int ratingOfPinned(int hits) {
        return hits > 0 ? ReclaimCandidate.PINNED_AND_READ : ReclaimCandidate.PINNED;
    }

    private int ratingOfBlock(ReclaimCandidate candidate, SegmentSummary.Entry entry, int hits) throws IOException {
        reads++;
        DiskRecord record = reader.readHead(candidate.segment(), entry.offset(), candidate.tag());
        try {
            RecordHeader header = record.header();
            KeyHead head = head(header.keyHash());
            if (head == null || head.objectId() != header.objectId()) {
                return 0;
            }
            int read = Math.max(hits, index.hits(head.hashHigh(), header.keyHash()));
            return isPinned(head.pinnedUntil())
                    ? ratingOfPinned(read)
                    : ratingOfUnpinned(candidate, header.keyHash(), read);
        } finally {
            record.release();
        }
    }

    /** Returns the current head of a key according to the index; null if there is none. */
    private @Nullable KeyHead head(long keyHash) throws IOException {
        long location = index.findKey(keyHash);
        if (location == Location.NONE) {
            return null;
        }
        KeyHead known = heads.get(location);
        if (known == null) {
            reads++;
            DiskRecord record = readAt(location);
            RecordHeader header = record.header();
            boolean held = !isPinned(header.pinnedUntil()) || pins.staysPinned(record.key(), record.head());
            known = new KeyHead(header.objectId(), header.hashHigh(), held ? header.pinnedUntil() : 0);
            record.release();
            heads.put(location, known);
        }
        return known;
    }

    private DiskRecord readAt(long location) throws IOException {
        int segment = Location.segment(location);
        return reader.readHead(segment, Location.offset(location), table.tag(segment));
    }

    /** Returns true if the record at {@code location} is a newer head of the body in the candidate's record. */
    private boolean isBodyOf(long location, ReclaimCandidate candidate, SegmentSummary.Entry entry) throws IOException {
        reads++;
        DiskRecord record = readAt(location);
        try {
            long pinnedUntil = record.header().pinnedUntil();
            newerPinnedUntil = isPinned(pinnedUntil) && pins.staysPinned(record.key(), record.head()) ? pinnedUntil : 0;
            return isBodyOf(record, candidate, entry);
        } finally {
            record.release();
        }
    }

    private static boolean isBodyOf(DiskRecord record, ReclaimCandidate candidate, SegmentSummary.Entry entry)
            throws IOException {
        RecordHeader header = record.header();
        if (header.type() != RecordType.HEAD
                || !header.has(RecordHeader.FLAG_BODY_ELSEWHERE)
                || isExpired(header.expiry())) {
            return false;
        }
        BodyPlace place = record.place();
        // The segment number is only a hint, because the volume shrinker may have moved the segment.
        return place.offset() == entry.offset() && place.tag() == candidate.tag();
    }

    /** Carries records until no copy is due before {@code length} further bytes of a caller. */
    private void carryDue(int length) throws IOException {
        while (!toCarry.isEmpty() && !isOnPlan(length)) {
            carryNext();
        }
    }

    private void carryNext() throws IOException {
        ReclaimCandidate candidate = toCarry.element();
        if (candidate.next() == candidate.size()) {
            toCarry.remove();
            left = toCarry.isEmpty() ? 0 : left;
            return;
        }
        if (candidate.isEarly()) {
            carryEarly(candidate);
            return;
        }
        int rating = candidate.rating(candidate.next());
        int number = candidate.next();
        SegmentSummary.Entry entry = rating == 0 ? null : candidate.entry(number);
        candidate.advance();
        if (entry == null) {
            return;
        }
        int cost = entry.length() + SegmentLog.overhead();
        if (rating < ratingMin || (rating == ratingMin && atRatingMinLeft < cost)) {
            drop(candidate, number);
            return;
        }
        atRatingMinLeft -= rating == ratingMin ? cost : 0;
        left -= Math.min(left, cost);
        if (cost <= log.room()) {
            carry(candidate, entry, rating >= ReclaimCandidate.PINNED);
        } else {
            drop(candidate, number);
        }
    }

    private void carryEarly(ReclaimCandidate candidate) throws IOException {
        int number = candidate.next();
        SegmentSummary.Entry entry =
                candidate.rating(number) < ReclaimCandidate.PINNED ? null : candidate.entry(number);
        candidate.advance();
        int cost = entry == null ? 0 : entry.length() + SegmentLog.overhead();
        if (entry == null || !candidate.mayCarryEarly(cost, margin()) || cost > log.room()) {
            return;
        }
        candidate.carriedEarly(cost);
        left -= Math.min(left, cost);
        long before = bytesCarried.get();
        carry(candidate, entry, true);
        if (bytesCarried.get() > before) {
            log.pinned().subtract(candidate.segment(), entry.length());
        }
    }

    private long margin() {
        return segments.segmentBytes() / PIN_MARGIN_DIVISOR;
    }

    /**
     * Chooses a later segment with more pinned bytes than can be carried at its reclaim, if some of them fit in the
     * active segment now.
     */
    private void chooseEarly() {
        long room = (long) (segments.segmentBytes() * CARRIED_SHARE) - total;
        long pinnedBytesWanted = (long) (segments.segmentBytes() * CARRIED_SHARE) - margin();
        if (room <= 0 || !pins.isHonoured()) {
            return;
        }
        long now = System.currentTimeMillis() / 1000;
        long newestCarried = 0;
        int earlyCount = 0;
        for (ReclaimCandidate candidate : toCarry) {
            newestCarried = Math.max(newestCarried, table.sequence(candidate.segment()));
            earlyCount += candidate.isEarly() ? 1 : 0;
        }
        int next = earlyCount < EARLY_MAX ? log.pinned().nextAbove(pinnedBytesWanted, newestCarried, now) : -1;
        SegmentSummary records = next < 0 ? null : summary(next);
        if (records != null) {
            long bytes = Math.min(room, log.pinned().of(next, now) - pinnedBytesWanted);
            total += bytes;
            left += bytes;
            toRate.add(new ReclaimCandidate(next, table.tag(next), records, bytes));
        }
    }

    private boolean isAlreadyReclaimed(ReclaimCandidate candidate) {
        return table.state(candidate.segment()) != SegmentTable.State.SEALED
                || table.tag(candidate.segment()) != candidate.tag();
    }

    /** Drops the record; counts a broken pin if it was pinned and is still valid. */
    private void drop(ReclaimCandidate candidate, int number) {
        SegmentSummary.Entry entry =
                candidate.rating(number) < ReclaimCandidate.PINNED ? null : candidate.entry(number);
        if (entry == null) {
            return;
        }
        long currentLocation = index.find(entry.hashHigh(), entry.hashLow());
        boolean newerHead = entry.type() == RecordType.COMPLETE && currentLocation != Location.NONE;
        long location = Location.pack(candidate.segment(), entry.offset(), entry.length(), candidate.tag());
        if (newerHead || currentLocation == location) {
            pinsBroken.incrementAndGet();
        }
    }

    private void carry(ReclaimCandidate candidate, SegmentSummary.Entry entry, boolean pinned) throws IOException {
        DiskRecord record;
        try {
            record = reader.readWhole(candidate.segment(), entry.offset(), candidate.tag(), entry.length());
        } catch (IOException e) {
            // A damaged record is dropped; the next open of the object reports it.
            LOG.debug(
                    "the record cannot be read, so it is not copied before its segment is reclaimed: {}", e.toString());
            return;
        }
        try {
            long currentLocation = index.find(entry.hashHigh(), entry.hashLow());
            long location = Location.pack(candidate.segment(), entry.offset(), entry.length(), candidate.tag());
            if (currentLocation == location) {
                if (entry.type() == RecordType.BLOCK || !pinned || pins.staysPinned(record.key(), record.head())) {
                    copy(record, entry);
                }
            } else if (currentLocation != Location.NONE && entry.type() == RecordType.COMPLETE) {
                merge(record, candidate, entry, currentLocation, pinned);
            }
        } finally {
            record.release();
        }
    }

    /** Appends a copy of the record with a new sequence. */
    private void copy(DiskRecord record, SegmentSummary.Entry entry) throws IOException {
        RecordHeader header = record.header();
        if (header.type() == RecordType.HEAD && header.has(RecordHeader.FLAG_BODY_ELSEWHERE)) {
            // The body of this head is in an older segment. That segment is already reclaimed, or the body is carried
            // together with the head.
            return;
        }
        BodyPlace place = header.type() == RecordType.HEAD ? record.place() : null;
        int hits = index.hits(entry.hashHigh(), entry.hashLow());
        if (header.type() == RecordType.BLOCK) {
            KeyHead head = head(header.keyHash());
            if (head == null || head.objectId() != header.objectId()) {
                return;
            }
            header.pinnedUntil(head.pinnedUntil());
        }
        long location = log.write(header, place, record.key(), record.head(), record.content());
        int fewer = Math.max(0, hits - 1);
        if (header.type() == RecordType.BLOCK) {
            index.putBlock(entry.hashHigh(), entry.hashLow(), location, fewer);
        } else {
            index.put(entry.hashHigh(), entry.hashLow(), location, header.expiry(), fewer);
            DiskKey key = new DiskKey(record.key(), entry.hashHigh(), entry.hashLow());
            carried(header);
            onStored.stored(header, key, location, null, record.head());
            return;
        }
        carried(header);
    }

    /** Appends the body and its newer head as one record. */
    private void merge(
            DiskRecord body, ReclaimCandidate candidate, SegmentSummary.Entry entry, long headLocation, boolean pinned)
            throws IOException {
        DiskRecord head;
        try {
            head = readAt(headLocation);
        } catch (IOException e) {
            LOG.debug(
                    "the record cannot be read, so it is not copied before its segment is reclaimed: {}", e.toString());
            return;
        }
        try {
            if (!isBodyOf(head, candidate, entry) || (pinned && !pins.staysPinned(head.key(), head.head()))) {
                return;
            }
            DiskKey key = new DiskKey(body.key(), entry.hashHigh(), entry.hashLow());
            ByteBuf content = body.header().contentLength() == 0 ? Unpooled.EMPTY_BUFFER : body.content();
            RecordHeader header = RecordHeader.complete(
                            key,
                            head.header().objectId(),
                            head.head().readableBytes(),
                            head.header().expiry(),
                            content.readableBytes())
                    .pinnedUntil(head.header().pinnedUntil());
            if (header.recordLength() + SegmentLog.overhead() > log.room()) {
                return;
            }
            int hits = index.hits(entry.hashHigh(), entry.hashLow());
            long location = log.write(header, null, key.bytes(), head.head(), content);
            index.put(entry.hashHigh(), entry.hashLow(), location, header.expiry(), Math.max(0, hits - 1));
            carried(header);
            onStored.stored(header, key, location, null, head.head());
        } finally {
            head.release();
        }
    }

    private void carried(RecordHeader header) {
        log.markIndexCurrent();
        bytesCarried.addAndGet(header.recordLength());
    }
}
