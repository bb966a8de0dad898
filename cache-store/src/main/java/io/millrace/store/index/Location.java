package io.millrace.store.index;

/**
 * Where a record lies in its volume, packed into one long so that a table slot changes in one store.
 *
 * <pre>
 *  63               44 43                 20 19        8 7       0
 * +-------------------+---------------------+-----------+---------+
 * | segment number    | offset in segment,  | length,   | tag     |
 * | (20 bits)         | units of 64 bytes   | units     | (8 bits)|
 * +-------------------+---------------------+-----------+---------+
 * </pre>
 *
 * The length is that of the whole record and a hint for the first read: {@value #LENGTH_UNITS_MAX} units stand for
 * "that or more". The tag is the low byte of the segment's tag, so that an entry left behind by a reclaimed segment is
 * mostly recognised without a read. A record never starts at offset 0 (the segment's header is there), so no location
 * equals {@link #NONE} or {@link #DELETED}.
 */
public final class Location {
    /** Bytes of a unit; records start and end at multiples of it. */
    public static final int UNIT_BYTES = 64;
    /** Largest segment in bytes: 2^24 units. */
    public static final long SEGMENT_BYTES_MAX = 1L << 30;
    /** Most segments of a volume. */
    public static final int SEGMENTS_MAX = 1 << 20;
    /** Largest length that is told exactly, plus one. */
    public static final int LENGTH_UNITS_MAX = (1 << 12) - 1;
    /** No location: the slot is empty, or nothing was found. */
    public static final long NONE = 0;
    /** The mark of a slot whose entry was taken out of the middle of a probe sequence. */
    static final long DELETED = 1;

    private static final int UNIT_SHIFT = 6;

    private Location() {}

    /** Packs a place; offset and length in bytes, multiples of a unit. */
    public static long pack(int segment, long offset, long length, long tag) {
        assert segment >= 0 && segment < SEGMENTS_MAX && offset > 0 && offset < SEGMENT_BYTES_MAX;
        assert offset % UNIT_BYTES == 0 && length % UNIT_BYTES == 0;
        long units = Math.min(length >>> UNIT_SHIFT, LENGTH_UNITS_MAX);
        return ((long) segment << 44) | (offset >>> UNIT_SHIFT << 20) | (units << 8) | (tag & 0xFF);
    }

    /** Number of the segment. */
    public static int segment(long location) {
        return (int) (location >>> 44);
    }

    /** Offset in the segment in bytes. */
    public static long offset(long location) {
        return (location >>> 20 & 0xFF_FFFF) << UNIT_SHIFT;
    }

    /** Length of the record in bytes, or the largest that can be told. */
    public static int lengthHint(long location) {
        return (int) (location >>> 8 & 0xFFF) << UNIT_SHIFT;
    }

    /** Low byte of the segment's tag. */
    public static int tag(long location) {
        return (int) (location & 0xFF);
    }

    /** The place as text. */
    public static String describe(long location) {
        return location == NONE ? "none" : "segment " + segment(location) + " offset " + offset(location);
    }
}
