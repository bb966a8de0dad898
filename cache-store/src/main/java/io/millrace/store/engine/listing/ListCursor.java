package io.millrace.store.engine.listing;

import org.jspecify.annotations.Nullable;

/**
 * A position in a listing. Entries up to the position were already processed: those of earlier volumes, of earlier
 * segments, and of this segment up to and including the hash. Here a segment is a part of the hash map that lists all
 * stored objects of a volume (the inventory), not a segment of the volume.
 *
 * <p>Immutable.
 *
 * @param hashSeen whether the hash is set; if not, no entry of the segment was seen
 */
record ListCursor(int volume, int segment, boolean hashSeen, long hashHigh, long hashLow) {
    static final ListCursor START = new ListCursor(0, 0, false, 0, 0);
    private static final int RADIX = 16;

    static ListCursor of(int volume, int segment) {
        return new ListCursor(volume, segment, false, 0, 0);
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
            if (parts.length == 2 || parts.length == 4) {
                boolean hash = parts.length == 4;
                int volume = Integer.parseUnsignedInt(parts[0], RADIX);
                int segment = Integer.parseUnsignedInt(parts[1], RADIX);
                if (volume >= 0 && segment >= 0) {
                    long high = hash ? Long.parseUnsignedLong(parts[2], RADIX) : 0;
                    long low = hash ? Long.parseUnsignedLong(parts[3], RADIX) : 0;
                    return new ListCursor(volume, segment, hash, high, low);
                }
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("not a cursor of an earlier listing: " + text, e);
        }
        throw new IllegalArgumentException("not a cursor of an earlier listing: " + text);
    }

    /** Returns the position as hexadecimal numbers separated by dots. */
    String text() {
        String place = Integer.toHexString(volume) + '.' + Integer.toHexString(segment);
        return hashSeen ? place + '.' + Long.toHexString(hashHigh) + '.' + Long.toHexString(hashLow) : place;
    }
}
