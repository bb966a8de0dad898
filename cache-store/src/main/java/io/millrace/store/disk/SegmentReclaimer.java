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
 * Carries what is worth keeping from the segment that will be given up next into the active one, while that fills.
 *
 * <pre>
 *   oldest segment:  | looked at, from its summary | records worth keeping, in the order in which they lie |
 *                                                         │ copied a few at a time
 *   active segment:  | records of callers and carried ones, mixed | room for what is still to be carried | slack |
 * </pre>
 *
 * <p>The work is done piece by piece before the records of callers, in proportion to their length, so that all is carried
 * when the active segment is full. No more than {@link #CARRIED_SHARE} of a segment is carried: if more is worth it, the
 * best. The old segment stays as it is until it is given up, so whatever happens in between is as if it had not begun.
 *
 * <p>What is pinned comes before all else, and of that what was read. So pins never stall a writer: where more is pinned than
 * the share, the rest of it is lost, and counted as broken. What of the share is not needed goes to the next segment that has more
 * pinned than that: some of it is carried early. A block is pinned when the head of its key is.
 *
 * <p>A record is carried only if the index says that it is its key's newest, at the moment it is appended; it gets a new
 * sequence. Expired ones are not. A body whose head was replaced is carried together with the newer head, as one record
 * again. A block is carried if the head of its key says that it belongs to the present object.
 *
 * <p>Confined to the volume's writer thread.
 */
final class SegmentReclaimer {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentReclaimer.class);
    /** Most of a segment that may be carried: the rest is what giving up a segment makes room for at least. */
    private static final double CARRIED_SHARE = 0.8;
    /** Of a segment, what is kept for callers beside the records still to be carried, where there is as much. */
    private static final double SLACK_SHARE = 0.25;
    /** Records looked at before one record of a caller. */
    private static final int LOOKS_MAX = 2048;
    /** Records read to be looked at before one record of a caller. */
    private static final int READS_MAX = 32;

    /** When something is to be carried, one part in this many of a segment is carried ahead: not a little each time. */
    private static final int AHEAD_SHARE = 64;
    /** Of a segment, one part in this many is how exactly is hit what is to be pinned in it: records have lengths. */
    private static final int PIN_MARGIN_SHARE = 16;
    /** Segments of which something is carried early, before one is given up. */
    private static final int EARLY_MAX = 4;

    private final SegmentLog log;
    private final MappedIndex index;
    private final SegmentTable table;
    private final SegmentFile segments;
    private final RecordReader reader;
    private final Runnable beforeCarrying;
    private final Map<Long, KeyHead> heads = new HashMap<>();
    private final Deque<ReclaimCandidate> toLookAt = new ArrayDeque<>();
    private final Deque<ReclaimCandidate> toCarry = new ArrayDeque<>();
    private final long[] bytesByWorth = new long[ReclaimCandidate.PINNED_AND_READ + 1];

    private KeepPolicy policy = KeepPolicy.BY_HITS;
    private boolean enabled;
    private PinPolicy pins = PinPolicy.ALL;
    /** Sequence of the active segment that this is about. */
    private long round;
    /** What a record must be worth; of those that are worth just that, {@link #atLimitLeft} bytes are carried. */
    private int limit;

    private long atLimitLeft;
    private long total;
    private long left;
    /** Whether it is known what is carried of the segment that is given up next. */
    private boolean chosen;

    private int reads;
    /** Until when the newer head that was looked at last is pinned. */
    private long newerPinnedUntil;

    private final AtomicLong bytesCarried = new AtomicLong();
    private final AtomicLong pinsBroken = new AtomicLong();

    /** What the head at some place says. */
    private record KeyHead(long objectId, long hashHigh, long pinnedUntil) {}

    /**
     * Has nothing to carry yet.
     *
     * @param beforeCarrying puts what was gathered into the log and the index
     */
    SegmentReclaimer(
            SegmentLog log, VolumeParts parts, SegmentFile segments, RecordReader reader, Runnable beforeCarrying) {
        this.beforeCarrying = beforeCarrying;
        this.log = log;
        this.index = parts.index();
        this.table = parts.table();
        this.segments = segments;
        this.reader = reader;
    }

    /** The index is whole: what it does not know is not to be kept. */
    void enable() {
        enabled = true;
    }

    void policy(KeepPolicy keepPolicy) {
        policy = keepPolicy;
    }

    void pinPolicy(PinPolicy pinPolicy) {
        pins = pinPolicy;
    }

    /** Records so far that were given up, or seemed so, while they were pinned. Any thread. */
    long pinsBroken() {
        return pinsBroken.get();
    }

    /** Bytes carried so far. Any thread. */
    long bytesCarried() {
        return bytesCarried.get();
    }

    /** Does what is due before {@code length} bytes are appended for a caller. */
    void pace(int length) throws IOException {
        if (round != log.activeSequence()) {
            begin();
        }
        if (!toLookAt.isEmpty()) {
            look();
        }
        if (toLookAt.isEmpty() && !toCarry.isEmpty() && !fits(length)) {
            beforeCarrying.run();
            carryDue(length + Math.min(RecordBatch.BYTES, segments.segmentBytes() / AHEAD_SHARE));
        }
    }

    /** Whether what is left to be carried is little enough when {@code length} bytes more are in the active segment. */
    private boolean fits(int length) throws IOException {
        double slack =
                Math.max(1, Math.min(segments.segmentBytes() * SLACK_SHARE, (double) segments.segmentBytes() - total));
        long roomLeft = Math.max(0, log.room() - length - SegmentLog.overhead() - left);
        return (double) left * slack <= (double) roomLeft * total;
    }

    private void begin() throws IOException {
        round = log.activeSequence();
        for (ReclaimCandidate victim : toCarry) {
            // The segment was full sooner than expected.
            for (; isGivenUp(victim) && victim.next() < victim.size(); victim.advance()) {
                leave(victim, victim.next());
            }
        }
        toLookAt.clear();
        toCarry.clear();
        heads.clear();
        left = 0;
        chosen = false;
        if (!enabled || round == 0 || log.hasFree()) {
            return;
        }
        policy.segmentBegun(index.objects());
        Arrays.fill(bytesByWorth, 0);
        long after = 0;
        int most = Math.max(1, table.segments() / SegmentLog.PINNED_SHARE);
        for (int i = 0; i < most; i++) {
            int oldest = table.oldestSealed(after);
            if (oldest < 0) {
                return;
            }
            SegmentSummary records = summary(oldest);
            if (records != null) {
                toLookAt.add(new ReclaimCandidate(oldest, table.tag(oldest), records));
            }
            if (!log.isPinned(oldest)) {
                return;
            }
            // It will make no room: the next one goes too.
            after = table.sequence(oldest);
        }
    }

    private @Nullable SegmentSummary summary(int segment) {
        try {
            return segments.summary(segment, table.tag(segment));
        } catch (IOException e) {
            LOG.warn("segment {} is given up without a look: {}", segment, e.toString());
            return null;
        }
    }

    private void look() {
        reads = 0;
        for (int looks = 0; looks < LOOKS_MAX && reads < READS_MAX && !toLookAt.isEmpty(); looks++) {
            ReclaimCandidate victim = toLookAt.element();
            if (victim.next() == victim.size()) {
                victim.rewind();
                if (victim.isEarly()) {
                    log.pinned().found(victim.segment(), victim.pinnedBytes());
                }
                toCarry.add(toLookAt.remove());
                continue;
            }
            SegmentSummary.Entry entry = victim.entry(victim.next());
            int worth = entry == null ? 0 : worth(victim, entry);
            victim.worth(victim.next(), worth, entry == null ? 0 : entry.length());
            if (entry != null && worth > 0 && !victim.isEarly()) {
                bytesByWorth[worth] += entry.length() + SegmentLog.overhead();
            }
            victim.advance();
        }
        if (toLookAt.isEmpty()) {
            if (!chosen) {
                choose();
            }
            chooseEarly();
        }
    }

    /** Finds the worth from which on records are carried. */
    private void choose() {
        long most = (long) (segments.segmentBytes() * CARRIED_SHARE);
        total = 0;
        limit = ReclaimCandidate.PINNED_AND_READ + 1;
        atLimitLeft = 0;
        while (limit > 1 && total < most) {
            limit--;
            atLimitLeft = Math.min(bytesByWorth[limit], most - total);
            total += atLimitLeft;
        }
        left = total;
        chosen = true;
    }

    private int worth(ReclaimCandidate victim, SegmentSummary.Entry entry) {
        if (entry.type() == RecordType.TOMBSTONE) {
            return 0;
        }
        long now = index.find(entry.hashHigh(), entry.hashLow());
        long location = Location.pack(victim.segment(), entry.offset(), entry.length(), victim.tag());
        boolean current = now == location;
        if (now == Location.NONE || (!current && entry.type() != RecordType.COMPLETE)) {
            return 0;
        }
        int hits = index.hits(entry.hashHigh(), entry.hashLow());
        try {
            if (entry.type() == RecordType.BLOCK) {
                return worthOfBlock(victim, entry, hits);
            }
            // Where there is a newer head, that one tells.
            if (current ? isExpired(entry.expiry()) : !isBodyOf(now, victim, entry)) {
                return 0;
            }
            boolean pinned = current ? isHeld(victim, entry) : isPinned(newerPinnedUntil);
            return pinned ? worthOfPinned(hits) : worthOf(victim, entry.hashLow(), hits);
        } catch (IOException e) {
            LOG.debug("not carried: {}", e.toString());
            return 0;
        }
    }

    private static boolean isExpired(int expiry) {
        return Integer.toUnsignedLong(expiry) <= System.currentTimeMillis() / 1000;
    }

    private boolean isPinned(long pinnedUntil) {
        return pinnedUntil > 0 && pins.isHonoured() && pinnedUntil > System.currentTimeMillis() / 1000;
    }

    /** Whether the entry's object is pinned and of use: what a purge has outdated takes no room from other pins. */
    private boolean isHeld(ReclaimCandidate victim, SegmentSummary.Entry entry) throws IOException {
        if (!isPinned(entry.pinnedUntil())) {
            return false;
        }
        reads++;
        DiskRecord record = reader.readHead(victim.segment(), entry.offset(), victim.tag());
        try {
            return pins.isHeld(record.key(), record.head());
        } finally {
            record.release();
        }
    }

    /** Of what is not pinned; the policy learns from each question, and of a later segment it is too early. */
    private int worthOf(ReclaimCandidate victim, long keyHash, int hits) {
        return victim.isEarly() ? 0 : policy.worth(keyHash, hits);
    }

    private static int worthOfPinned(int hits) {
        return hits > 0 ? ReclaimCandidate.PINNED_AND_READ : ReclaimCandidate.PINNED;
    }

    private int worthOfBlock(ReclaimCandidate victim, SegmentSummary.Entry entry, int hits) throws IOException {
        reads++;
        DiskRecord record = reader.readHead(victim.segment(), entry.offset(), victim.tag());
        try {
            RecordHeader header = record.header();
            KeyHead head = head(header.keyHash());
            if (head == null || head.objectId() != header.objectId()) {
                return 0;
            }
            int read = Math.max(hits, index.hits(head.hashHigh(), header.keyHash()));
            return isPinned(head.pinnedUntil()) ? worthOfPinned(read) : worthOf(victim, header.keyHash(), read);
        } finally {
            record.release();
        }
    }

    /** The head that the index knows of a key; null when it knows none. */
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
            boolean held = !isPinned(header.pinnedUntil()) || pins.isHeld(record.key(), record.head());
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

    /** Whether the record at {@code location} is a newer head of the body in the victim's record. */
    private boolean isBodyOf(long location, ReclaimCandidate victim, SegmentSummary.Entry entry) throws IOException {
        reads++;
        DiskRecord record = readAt(location);
        try {
            long pinnedUntil = record.header().pinnedUntil();
            newerPinnedUntil = isPinned(pinnedUntil) && pins.isHeld(record.key(), record.head()) ? pinnedUntil : 0;
            return isBodyOf(record, victim, entry);
        } finally {
            record.release();
        }
    }

    private static boolean isBodyOf(DiskRecord record, ReclaimCandidate victim, SegmentSummary.Entry entry)
            throws IOException {
        RecordHeader header = record.header();
        if (header.type() != RecordType.HEAD
                || !header.has(RecordHeader.FLAG_BODY_ELSEWHERE)
                || isExpired(header.expiry())) {
            return false;
        }
        BodyPlace place = record.place();
        // The number of the segment is only a hint: it may have been moved.
        return place.offset() == entry.offset() && place.tag() == victim.tag();
    }

    /** Carries so much that the rest still fits when {@code length} bytes more are in the active segment. */
    private void carryDue(int length) throws IOException {
        while (!toCarry.isEmpty() && !fits(length)) {
            carryNext();
        }
    }

    private void carryNext() throws IOException {
        ReclaimCandidate victim = toCarry.element();
        if (victim.next() == victim.size()) {
            toCarry.remove();
            left = toCarry.isEmpty() ? 0 : left;
            return;
        }
        if (victim.isEarly()) {
            carryEarly(victim);
            return;
        }
        int worth = victim.worth(victim.next());
        int number = victim.next();
        SegmentSummary.Entry entry = worth == 0 ? null : victim.entry(number);
        victim.advance();
        if (entry == null) {
            return;
        }
        int cost = entry.length() + SegmentLog.overhead();
        if (worth < limit || (worth == limit && atLimitLeft < cost)) {
            leave(victim, number);
            return;
        }
        atLimitLeft -= worth == limit ? cost : 0;
        left -= Math.min(left, cost);
        if (cost <= log.room()) {
            carry(victim, entry, worth >= ReclaimCandidate.PINNED);
        } else {
            leave(victim, number);
        }
    }

    private void carryEarly(ReclaimCandidate victim) throws IOException {
        int number = victim.next();
        SegmentSummary.Entry entry = victim.worth(number) < ReclaimCandidate.PINNED ? null : victim.entry(number);
        victim.advance();
        int cost = entry == null ? 0 : entry.length() + SegmentLog.overhead();
        if (entry == null || !victim.mayLose(cost, margin()) || cost > log.room()) {
            return;
        }
        victim.lose(cost);
        left -= Math.min(left, cost);
        long before = bytesCarried.get();
        carry(victim, entry, true);
        if (bytesCarried.get() > before) {
            log.pinned().left(victim.segment(), entry.length());
        }
    }

    private long margin() {
        return segments.segmentBytes() / PIN_MARGIN_SHARE;
    }

    /** Finds the next segment with more pinned records than can be carried when its turn comes, where there is room for some now. */
    private void chooseEarly() {
        long room = (long) (segments.segmentBytes() * CARRIED_SHARE) - total;
        long wanted = (long) (segments.segmentBytes() * CARRIED_SHARE) - margin();
        if (room <= 0 || !pins.isHonoured()) {
            return;
        }
        long now = System.currentTimeMillis() / 1000;
        long behind = 0;
        int early = 0;
        for (ReclaimCandidate victim : toCarry) {
            behind = Math.max(behind, table.sequence(victim.segment()));
            early += victim.isEarly() ? 1 : 0;
        }
        int next = early < EARLY_MAX ? log.pinned().nextAbove(wanted, behind, now) : -1;
        SegmentSummary records = next < 0 ? null : summary(next);
        if (records != null) {
            long bytes = Math.min(room, log.pinned().of(next, now) - wanted);
            total += bytes;
            left += bytes;
            toLookAt.add(new ReclaimCandidate(next, table.tag(next), records, bytes));
        }
    }

    private boolean isGivenUp(ReclaimCandidate victim) {
        return table.state(victim.segment()) != SegmentTable.State.SEALED
                || table.tag(victim.segment()) != victim.tag();
    }

    /** The record is not carried; if it was pinned and still counts, its pin is broken. */
    private void leave(ReclaimCandidate victim, int number) {
        SegmentSummary.Entry entry = victim.worth(number) < ReclaimCandidate.PINNED ? null : victim.entry(number);
        if (entry == null) {
            return;
        }
        long now = index.find(entry.hashHigh(), entry.hashLow());
        boolean newerHead = entry.type() == RecordType.COMPLETE && now != Location.NONE;
        if (newerHead || now == Location.pack(victim.segment(), entry.offset(), entry.length(), victim.tag())) {
            pinsBroken.incrementAndGet();
        }
    }

    private void carry(ReclaimCandidate victim, SegmentSummary.Entry entry, boolean pinned) throws IOException {
        DiskRecord record;
        try {
            record = reader.readWhole(victim.segment(), entry.offset(), victim.tag(), entry.length());
        } catch (IOException e) {
            // A damaged record is lost; whoever asks for it finds that out.
            LOG.debug("not carried: {}", e.toString());
            return;
        }
        try {
            long now = index.find(entry.hashHigh(), entry.hashLow());
            if (now == Location.pack(victim.segment(), entry.offset(), entry.length(), victim.tag())) {
                if (entry.type() == RecordType.BLOCK || !pinned || pins.isHeld(record.key(), record.head())) {
                    copy(record, entry);
                }
            } else if (now != Location.NONE && entry.type() == RecordType.COMPLETE) {
                merge(record, victim, entry, now, pinned);
            }
        } finally {
            record.release();
        }
    }

    /** Appends the record as it is. */
    private void copy(DiskRecord record, SegmentSummary.Entry entry) throws IOException {
        RecordHeader header = record.header();
        if (header.type() == RecordType.HEAD && header.has(RecordHeader.FLAG_BODY_ELSEWHERE)) {
            // Its body is older and gone, or comes with it.
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
        }
        carried(header);
    }

    /** Appends body and newer head as one record. */
    private void merge(DiskRecord body, ReclaimCandidate victim, SegmentSummary.Entry entry, long newer, boolean pinned)
            throws IOException {
        DiskRecord head;
        try {
            head = readAt(newer);
        } catch (IOException e) {
            LOG.debug("not carried: {}", e.toString());
            return;
        }
        try {
            if (!isBodyOf(head, victim, entry) || (pinned && !pins.isHeld(head.key(), head.head()))) {
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
        } finally {
            head.release();
        }
    }

    private void carried(RecordHeader header) {
        log.applied();
        bytesCarried.addAndGet(header.recordLength());
    }
}
