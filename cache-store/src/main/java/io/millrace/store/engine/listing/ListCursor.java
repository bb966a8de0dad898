package io.millrace.store.engine.listing;

import org.jspecify.annotations.Nullable;

/**
 * A position in a listing. Already processed are the entries of earlier volumes, of earlier segments, and of this
 * segment up to and including the hash. Here a segment is a part of the hash map that lists all stored objects of a
 * volume (the inventory), not a segment of the volume.
 *
 * <p>Immutable.
 *
 * @param segments number of segments that the map had at this position; 0 if the position is before its first segment
 * @param hashSeen true if the hash is set; false if no entry of the segment was processed yet
 */
record ListCursor(int volume, int segment, int segments, boolean hashSeen, long hashHigh, long hashLow) {
    static final ListCursor START = new ListCursor(0, 0, 0, false, 0, 0);
    private static final int RADIX = 16;

    /** Returns the position before a segment of a map. */
    static ListCursor of(int volume, int segment, int segments) {
        return new ListCursor(volume, segment, segments, false, 0, 0);
    }

    /** Returns the position before the first segment of a volume's map. */
    static ListCursor ofVolume(int volume) {
        return new ListCursor(volume, 0, 0, false, 0, 0);
    }

    /** Returns true if a larger map has replaced the map of this position during the listing. */
    boolean isOfAnotherMap(int segmentsNow) {
        return segments != segmentsNow && (segment > 0 || hashSeen);
    }

    /** Returns true if the hash comes after this position in the order of the segment. */
    boolean isBefore(long high, long low) {
        return !hashSeen || compare(hashHigh, hashLow, high, low) < 0;
    }

    static int compare(long highA, long lowA, long highB, long lowB) {
        int byHigh = Long.compareUnsigned(highA, highB);
        return byHigh != 0 ? byHigh : Long.compareUnsigned(lowA, lowB);
    }

    /** Parses the result of {@link #text}; null is the start of a listing. */
    static ListCursor parse(@Nullable String text) {
        if (text == null) {
            return START;
        }
        String[] parts = text.split("\\.", -1);
        try {
            if (parts.length == 3 || parts.length == 5) {
                boolean hash = parts.length == 5;
                int volume = Integer.parseUnsignedInt(parts[0], RADIX);
                int segment = Integer.parseUnsignedInt(parts[1], RADIX);
                int segments = Integer.parseUnsignedInt(parts[2], RADIX);
                if (volume >= 0 && segment >= 0 && segments >= 0) {
                    long high = hash ? Long.parseUnsignedLong(parts[3], RADIX) : 0;
                    long low = hash ? Long.parseUnsignedLong(parts[4], RADIX) : 0;
                    return new ListCursor(volume, segment, segments, hash, high, low);
                }
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("not a cursor of an earlier listing: " + text, e);
        }
        throw new IllegalArgumentException("not a cursor of an earlier listing: " + text);
    }

    /** Returns the position as hexadecimal numbers separated by dots. */
    String text() {
        String place =
                Integer.toHexString(volume) + '.' + Integer.toHexString(segment) + '.' + Integer.toHexString(segments);
        return hashSeen ? place + '.' + Long.toHexString(hashHigh) + '.' + Long.toHexString(hashLow) : place;
    }
}
