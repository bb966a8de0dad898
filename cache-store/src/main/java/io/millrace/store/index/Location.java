package io.millrace.store.index;

/**
 * The place of a record in its volume, packed into a {@code long}. One store can therefore change a table slot
 * atomically.
 *
 * <pre>
 *  63               44 43                 20 19        8 7       0
 * +-------------------+---------------------+-----------+---------+
 * | segment number    | offset in segment,  | length,   | tag     |
 * | (20 bits)         | units of 64 bytes   | units     | (8 bits)|
 * +-------------------+---------------------+-----------+---------+
 * </pre>
 *
 * <p>The length is the length of the whole record, and determines the size of the first read. {@value
 * #LENGTH_UNITS_MAX} units mean that length or more. A segment gets a new random tag each time it is reused. The
 * location contains the low byte of the tag, so that most entries of a reclaimed segment are recognized without a read
 * of the segment. A record never starts at offset 0, because the segment's header is there. Therefore no location
 * equals {@link #NONE} or {@link #DELETED}.
 */
public final class Location {
    /** Bytes of a unit; records start and end at multiples of it. */
    public static final int UNIT_BYTES = 64;
    /** Maximum bytes of a segment: 2^24 units. */
    public static final long SEGMENT_BYTES_MAX = 1L << 30;
    /** Maximum number of segments of a volume. */
    public static final int SEGMENTS_MAX = 1 << 20;
    /** Maximum value of the length field; shorter lengths are exact. */
    public static final int LENGTH_UNITS_MAX = (1 << 12) - 1;
    /** No location: the slot is empty, or no record was found. */
    public static final long NONE = 0;
    /** Mark of a slot whose entry was removed from the middle of a probe sequence. */
    static final long DELETED = 1;

    private static final int UNIT_SHIFT = 6;

    private Location() {}

    /** Packs a place. Offset and length are in bytes, and multiples of {@link #UNIT_BYTES}. */
    public static long pack(int segment, long offset, long length, long tag) {
        assert segment >= 0 && segment < SEGMENTS_MAX && offset > 0 && offset < SEGMENT_BYTES_MAX;
        assert offset % UNIT_BYTES == 0 && length % UNIT_BYTES == 0;
        long units = Math.min(length >>> UNIT_SHIFT, LENGTH_UNITS_MAX);
        return ((long) segment << 44) | (offset >>> UNIT_SHIFT << 20) | (units << 8) | (tag & 0xFF);
    }

    /** Returns the number of the segment. */
    public static int segment(long location) {
        return (int) (location >>> 44);
    }

    /** Returns the offset in the segment in bytes. */
    public static long offset(long location) {
        return (location >>> 20 & 0xFF_FFFF) << UNIT_SHIFT;
    }

    /** Returns the length of the record in bytes; for longer records, the maximum of the field. */
    public static int lengthHint(long location) {
        return (int) (location >>> 8 & 0xFFF) << UNIT_SHIFT;
    }

    /** Returns the low byte of the segment's tag. */
    public static int tag(long location) {
        return (int) (location & 0xFF);
    }

    /** Returns the place as text. */
    public static String describe(long location) {
        return location == NONE ? "none" : "segment " + segment(location) + " offset " + offset(location);
    }
}
