package io.millrace.proxy.observe.log.block;

/** Reads numbers and texts of a payload, and checks every length. Confined to one thread. */
final class PayloadReader {
    private byte[] bytes = {};
    private int position;
    private int end;

    /** Sets the payload to read. Its bytes are not copied, so the caller must not change them while they are read. */
    void wrap(byte[] source, int start, int length) {
        bytes = source;
        position = start;
        end = start + length;
    }

    int octet() throws BlockFailure {
        if (position == end) {
            throw new BlockFailure("the payload ends within a value");
        }
        return bytes[position++] & 0xff;
    }

    /** Reads a number of variable length. */
    long number() throws BlockFailure {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            int octet = octet();
            value |= (long) (octet & 0x7f) << shift;
            if (octet < 0x80) {
                return value;
            }
        }
        throw new BlockFailure("a number is longer than " + Varint.MAX_BYTES + " bytes");
    }

    /** Reads a number from 0 to a limit. */
    int integer(int limit) throws BlockFailure {
        long value = number();
        if (value < 0 || value > limit) {
            throw new BlockFailure("a number is " + value + ", the limit is " + limit);
        }
        return (int) value;
    }

    /** Skips bytes. Returns their position. */
    int skip(int length) throws BlockFailure {
        if (length > end - position) {
            throw new BlockFailure("the payload ends within a text");
        }
        int start = position;
        position += length;
        return start;
    }

    void requireEnd() throws BlockFailure {
        if (position != end) {
            throw new BlockFailure("the payload has " + (end - position) + " bytes too many");
        }
    }
}
