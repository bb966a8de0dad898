package io.millrace.store.disk.segment;

import io.millrace.store.index.IndexUnusableException;
import io.millrace.store.index.Location;
import io.millrace.store.index.MappedIndex;
import io.millrace.store.io.Checksums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The state of every segment of a volume. The auxiliary area of the index contains a copy, so that the next open of the
 * volume need not read the segments.
 *
 * <pre>
 * entry, 32 bytes
 *    0  8  segment sequence, 0 if it was never begun
 *    8  8  tag: a random number, new for each use of the segment
 *   16  4  offset after the last record
 *   20  1  state: 0 free, 1 active, 2 sealed, 3 retired
 *   21  3  check: the low 24 bits of the CRC32C of the entry's first 21 bytes
 *   24  8  last verification of its records, seconds since the epoch; 0 never
 * </pre>
 *
 * <p>Thread-safe: {@link #isLive}, {@link #tag}, {@link #withTag}, {@link #verifiedAt}, {@link #usedBytes}, {@link
 * #newestBegun}, {@link #firstBegunAfter} and {@link #begun} may be called from any thread. {@link #state} and {@link
 * #sequence} may be called from any thread that has read the segment's tag before. All other methods are confined to
 * the volume's writer thread.
 */
public final class SegmentTable {
    /** The use of a segment. */
    public enum State {
        /** The segment holds no records. */
        FREE(0),
        /** The next records are appended to the segment. */
        ACTIVE(1),
        /** Full, with a summary (list of its records) at its end. */
        SEALED(2),
        /** Reclaimed, with no records in the index; free as soon as no reader pins it. */
        RETIRED(3);

        private final int code;

        State(int code) {
            this.code = code;
        }
    }

    /**
     * A segment with records, at one moment.
     *
     * @param segment number of the segment
     * @param sequence sequence number of the segment
     * @param tag tag of the segment
     */
    public record Begun(int segment, long sequence, long tag) {}

    private static final int ENTRY_BYTES = 32;
    /** Bytes of an entry that its checksum covers. */
    private static final int CHECKED_BYTES = 21;
    /** Mask of the bits for the state and the end of the records; the upper bits are the check. */
    private static final long STATE_AND_END_MASK = (1L << 40) - 1;

    private static final int ENTRY_WORDS = ENTRY_BYTES / Long.BYTES;
    /**
     * The size of the auxiliary area is a multiple of this number of bytes. So most changes of the volume's size do not
     * change the size of the area, and the index remains usable.
     */
    private static final int AREA_STEP_BYTES = 64 * 1024;

    private static final State[] STATES = {State.FREE, State.ACTIVE, State.SEALED, State.RETIRED};

    private final MappedIndex index;
    private final AtomicLongArray tags;
    /** Low byte of the current tag of each segment, or of its last tag if it has no tag now. */
    private final byte[] lastTags;

    private final long[] sequences;
    private final int[] written;
    private final AtomicLongArray verified;
    private final State[] states;
    private volatile long usedBytes;
    private volatile int usable;

    private SegmentTable(MappedIndex index, int segments) {
        this.index = index;
        tags = new AtomicLongArray(segments);
        lastTags = new byte[segments];
        sequences = new long[segments];
        written = new int[segments];
        verified = new AtomicLongArray(segments);
        states = new State[segments];
        Arrays.fill(states, State.FREE);
        usable = segments;
    }

    /** Returns the bytes of the auxiliary area for this number of segments. */
    public static int auxiliaryBytes(int segments) {
        return (segments * ENTRY_BYTES + AREA_STEP_BYTES - 1) / AREA_STEP_BYTES * AREA_STEP_BYTES;
    }

    /** Creates a table of free segments. */
    public static SegmentTable create(MappedIndex index, int segments) {
        SegmentTable table = new SegmentTable(index, segments);
        index.segmentAges(table::age);
        return table;
    }

    /**
     * Loads the table from the index.
     *
     * @throws IndexUnusableException if an entry is damaged, because writing to a segment that seems free would destroy
     *     records
     */
    public static SegmentTable load(MappedIndex index, int segments) throws IndexUnusableException {
        SegmentTable table = new SegmentTable(index, segments);
        for (int segment = 0; segment < segments; segment++) {
            int word = segment * ENTRY_WORDS;
            long tag = index.auxiliary(word + 1);
            long stateAndEnd = index.auxiliary(word + 2);
            int state = (int) (stateAndEnd >>> 32) & 0xFF;
            if (stateAndEnd != checked(index.auxiliary(word), tag, stateAndEnd & STATE_AND_END_MASK)) {
                throw new IndexUnusableException("entry of segment " + segment + " in the segment table is damaged");
            }
            table.sequences[segment] = index.auxiliary(word);
            table.verified.set(segment, index.auxiliary(word + 3));
            table.used(segment, (int) stateAndEnd);
            table.states[segment] = state > 0 && state < STATES.length ? STATES[state] : State.FREE;
            table.lastTags[segment] = (byte) tag;
            if (table.states[segment] == State.ACTIVE || table.states[segment] == State.SEALED) {
                table.tags.set(segment, tag);
            }
        }
        index.segmentAges(table::age);
        return table;
    }

    /** Returns the number of segments. */
    public int segments() {
        return states.length;
    }

    /**
     * Returns the number of segments, from the first, that may be written to. Lower than the total while the volume
     * shrinks.
     */
    public int usable() {
        return usable;
    }

    /** Sets the number of segments that may be written to. */
    public void usable(int count) {
        usable = Math.min(count, states.length);
    }

    /** Returns the number of segments that hold records. */
    public int live() {
        int live = 0;
        for (State state : states) {
            live += state == State.ACTIVE || state == State.SEALED ? 1 : 0;
        }
        return live;
    }

    /** Returns the newest sealed segment from {@code first} on, -1 if there is none. */
    public int newestSealedFrom(int first) {
        int newest = -1;
        for (int segment = first; segment < states.length; segment++) {
            if (states[segment] == State.SEALED && (newest < 0 || sequences[segment] > sequences[newest])) {
                newest = segment;
            }
        }
        return newest;
    }

    /**
     * Returns the number of the segment with this tag: {@code hint} unless it was moved; -1 if it was reclaimed. Any
     * thread.
     */
    public int withTag(int hint, long tag) {
        if (tag == 0) {
            return -1;
        }
        if (hint >= 0 && hint < tags.length() && tags.get(hint) == tag) {
            return hint;
        }
        for (int segment = 0; segment < tags.length(); segment++) {
            if (tags.get(segment) == tag) {
                return segment;
            }
        }
        return -1;
    }

    /** Returns the use of the segment. */
    public State state(int segment) {
        return states[segment];
    }

    /** Returns the sequence number of the segment, which increases with each begun segment. */
    public long sequence(int segment) {
        return sequences[segment];
    }

    /** Returns the offset after its last record. */
    public int written(int segment) {
        return written[segment];
    }

    /** Returns the tag of an active or sealed segment, otherwise 0. */
    public long tag(int segment) {
        return tags.get(segment);
    }

    /** Returns true if the location's segment still has the tag of the location. Compares 8 bits of the tag. */
    public boolean isLive(long location) {
        int segment = Location.segment(location);
        if (segment >= tags.length()) {
            return false;
        }
        long tag = tags.get(segment);
        return tag != 0 && (tag & 0xFF) == Location.tag(location);
    }

    private long age(long location) {
        return isLive(location) ? sequences[Location.segment(location)] : -1;
    }

    /**
     * Returns true if the tag can identify the next use of the segment. It must not be 0, and its low byte must differ
     * from the low byte of the last tag.
     */
    public boolean isNewTag(int segment, long tag) {
        return tag != 0 && (byte) tag != lastTags[segment];
    }

    /** Returns the bytes up to the end of the records, over all segments. */
    public long usedBytes() {
        return usedBytes;
    }

    /** Returns the highest sequence number of any segment. */
    public long newestSequence() {
        long newest = 0;
        for (long sequence : sequences) {
            newest = Math.max(newest, sequence);
        }
        return newest;
    }

    /** Returns the highest sequence number of a segment with records; 0 if there is none. Any thread. */
    public long newestBegun() {
        long newest = 0;
        // Descending, as in firstBegunAfter.
        for (int segment = tags.length() - 1; segment >= 0; segment--) {
            Begun begun = begun(segment);
            newest = begun == null ? newest : Math.max(newest, begun.sequence());
        }
        return newest;
    }

    /**
     * Returns the oldest segment with records that was begun after that sequence number; null if there is none. Any
     * thread; may miss segments that are being begun concurrently.
     */
    public @Nullable Begun firstBegunAfter(long after) {
        Begun first = null;
        // The search is descending, because segments are moved to lower numbers. So it finds a moved segment under its
        // new number.
        for (int segment = tags.length() - 1; segment >= 0; segment--) {
            Begun begun = begun(segment);
            if (begun != null && begun.sequence() > after && (first == null || begun.sequence() <= first.sequence())) {
                first = begun;
            }
        }
        return first;
    }

    /** Returns the segments with records in the order in which they were begun. Any thread. */
    public List<Begun> begun() {
        TreeMap<Long, Begun> found = new TreeMap<>();
        // Descending, as in firstBegunAfter.
        for (int segment = tags.length() - 1; segment >= 0; segment--) {
            Begun begun = begun(segment);
            if (begun != null) {
                found.put(begun.sequence(), begun);
            }
        }
        return List.copyOf(found.values());
    }

    private @Nullable Begun begun(int segment) {
        while (true) {
            long tag = tags.get(segment);
            long sequence = sequences[segment];
            // A segment loses its tag before it gets another sequence. So an unchanged tag belongs to the sequence.
            if (tag == tags.get(segment)) {
                return tag == 0 ? null : new Begun(segment, sequence, tag);
            }
        }
    }

    /** Returns the oldest sealed segment, -1 if there is none. */
    public int oldestSealed() {
        return oldestSealed(0);
    }

    /** Like {@link #oldestSealed()}, among the segments with a higher sequence number than {@code after}. */
    public int oldestSealed(long after) {
        int oldest = -1;
        for (int segment = 0; segment < states.length; segment++) {
            if (states[segment] == State.SEALED
                    && sequences[segment] > after
                    && (oldest < 0 || sequences[segment] < sequences[oldest])) {
                oldest = segment;
            }
        }
        return oldest;
    }

    /** Returns the active segment, -1 if there is none. */
    public int active() {
        for (int segment = 0; segment < states.length; segment++) {
            if (states[segment] == State.ACTIVE) {
                return segment;
            }
        }
        return -1;
    }

    /** Sets all fields of a segment. */
    public void set(int segment, State state, long sequence, long tag, int end) {
        states[segment] = state;
        sequences[segment] = sequence;
        used(segment, end);
        if (tags.get(segment) != tag) {
            verified.set(segment, 0);
        }
        tags.set(segment, state == State.ACTIVE || state == State.SEALED ? tag : 0);
        int word = segment * ENTRY_WORDS;
        index.auxiliary(word, sequence);
        index.auxiliary(word + 1, tag);
        index.auxiliary(word + 2, checked(sequence, tag, stateAndEnd(segment)));
        index.auxiliary(word + 3, verified.get(segment));
        if (tag != 0) {
            lastTags[segment] = (byte) tag;
        }
    }

    /**
     * Adds the checksum of the entry to the word that contains state and end. Returns 0 for an entry that was never
     * set.
     */
    private static long checked(long sequence, long tag, long stateAndEnd) {
        if ((sequence | tag | stateAndEnd) == 0) {
            return 0;
        }
        ByteBuffer entry = ByteBuffer.allocate(3 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        entry.putLong(0, sequence).putLong(8, tag).putLong(16, stateAndEnd);
        return stateAndEnd | (long) Checksums.crc32c(entry, 0, CHECKED_BYTES) << 40;
    }

    /** Returns the word of an entry that contains the state and the end of the records, without the check. */
    private long stateAndEnd(int segment) {
        return (long) states[segment].code << 32 | Integer.toUnsignedLong(written[segment]);
    }

    /** Sets the end of the active segment's records. */
    public void written(int segment, int end) {
        used(segment, end);
        int word = segment * ENTRY_WORDS;
        index.auxiliary(word + 2, checked(sequences[segment], index.auxiliary(word + 1), stateAndEnd(segment)));
    }

    /** Returns the time of the last verification of the segment, in seconds since the epoch. Any thread. */
    public long verifiedAt(int segment) {
        return verified.get(segment);
    }

    /** Records a verification, if the segment still has that tag. */
    public void verified(int segment, long tag, long seconds) {
        if (tags.get(segment) == tag) {
            verified.set(segment, seconds);
            index.auxiliary(segment * ENTRY_WORDS + 3, seconds);
        }
    }

    /** Changes the state. RETIRED also resets the end of the records. */
    public void state(int segment, State state) {
        set(segment, state, sequences[segment], tags.get(segment), state == State.RETIRED ? 0 : written[segment]);
    }

    private void used(int segment, int end) {
        long used = usedBytes + end - written[segment];
        usedBytes = used;
        written[segment] = end;
    }
}
