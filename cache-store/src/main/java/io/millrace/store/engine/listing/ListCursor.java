package io.millrace.store.engine.listing;

import org.jspecify.annotations.Nullable;

/**
 * A position in a listing. The listing visits the volumes in their order, in a volume the segments in the order in which
 * they were begun, and in a segment the entries of its list.
 *
 * <p>Immutable.
 *
 * @param volumesHash hash of the volumes and their order, because the number of a volume changes when another one is
 *     taken offline; 0 at the start
 * @param volume number of the volume; earlier volumes were visited
 * @param last sequence number of the last segment that is visited on this volume, so that a listing ends although
 *     new segments are begun all the time; 0 if the listing has not begun on this volume
 * @param segment sequence number of the segment; earlier segments were visited
 * @param block position of a block in the list of this segment; earlier blocks were visited
 * @param entry number of entries of this block that were visited
 */
record ListCursor(int volumesHash, int volume, long last, long segment, long block, int entry) {
    static final ListCursor START = new ListCursor(0, 0, 0, 0, 0, 0);
    private static final int RADIX = 16;
    private static final int PARTS = 6;

    /** Returns the start of a listing of volumes with this hash. */
    ListCursor onVolumes(int hash) {
        return new ListCursor(hash, volume, last, segment, block, entry);
    }

    /** Returns the position before the first segment of a volume. */
    ListCursor atVolume(int number) {
        return new ListCursor(volumesHash, number, 0, 0, 0, 0);
    }

    /** Returns the position before the first segment of the volume, with the last segment to visit. */
    ListCursor until(long lastSegment) {
        return new ListCursor(volumesHash, volume, lastSegment, segment, block, entry);
    }

    /** Returns the position before the first entry of a segment of this volume. */
    ListCursor atSegment(long sequence) {
        return new ListCursor(volumesHash, volume, last, sequence, 0, 0);
    }

    /** Returns the position after some entries of a block of this segment. */
    ListCursor inBlock(long position, int entries) {
        return new ListCursor(volumesHash, volume, last, segment, position, entries);
    }

    /** Parses the result of {@link #text}; null is the start of a listing. */
    static ListCursor parse(@Nullable String text) {
        if (text == null) {
            return START;
        }
        String[] parts = text.split("\\.", -1);
        try {
            if (parts.length == PARTS) {
                int hash = Integer.parseUnsignedInt(parts[0], RADIX);
                int volume = Integer.parseUnsignedInt(parts[1], RADIX);
                long last = Long.parseUnsignedLong(parts[2], RADIX);
                long segment = Long.parseUnsignedLong(parts[3], RADIX);
                long block = Long.parseUnsignedLong(parts[4], RADIX);
                int entry = Integer.parseUnsignedInt(parts[5], RADIX);
                if (volume >= 0 && last >= 0 && segment >= 0 && block >= 0 && entry >= 0) {
                    return new ListCursor(hash, volume, last, segment, block, entry);
                }
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("not a cursor of an earlier listing: " + text, e);
        }
        throw new IllegalArgumentException("not a cursor of an earlier listing: " + text);
    }

    /** Returns the position as hexadecimal numbers separated by dots. */
    String text() {
        return Integer.toHexString(volumesHash)
                + '.'
                + Integer.toHexString(volume)
                + '.'
                + Long.toHexString(last)
                + '.'
                + Long.toHexString(segment)
                + '.'
                + Long.toHexString(block)
                + '.'
                + Integer.toHexString(entry);
    }
}
