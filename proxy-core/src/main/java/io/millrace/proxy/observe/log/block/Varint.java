package io.millrace.proxy.observe.log.block;

/**
 * Numbers of variable length: seven bits in each byte, the lowest first; the high bit of a byte means that another
 * byte follows. Stateless.
 */
final class Varint {
    /** Limit of the length in bytes. */
    static final int MAX_BYTES = 10;

    private Varint() {}

    /** Writes an unsigned number. Returns the position after it. */
    static int write(byte[] out, int at, long value) {
        int position = at;
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            out[position++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        out[position++] = (byte) rest;
        return position;
    }

    /** Maps a signed number to an unsigned number, so that numbers near 0 are short. */
    static long zigzag(long value) {
        return (value << 1) ^ (value >> 63);
    }

    static long unzigzag(long value) {
        return (value >>> 1) ^ -(value & 1);
    }
}
