package io.millrace.proxy.observe.field;

import io.netty.buffer.ByteBuf;

/** Writes decimal numbers into buffers without allocation. Thread-safe: no state. */
final class Decimal {
    private static final long[] POWERS = powers();

    private Decimal() {}

    private static long[] powers() {
        long[] powers = new long[19];
        powers[0] = 1;
        for (int i = 1; i < powers.length; i++) {
            powers[i] = 10 * powers[i - 1];
        }
        return powers;
    }

    /** Returns the number of digits of a non-negative value. */
    private static int digits(long value) {
        int digits = 1;
        while (digits < POWERS.length && value >= POWERS[digits]) {
            digits++;
        }
        return digits;
    }

    /** Writes a number, with a sign if negative. {@link Long#MIN_VALUE} is written as the next higher number. */
    static void write(ByteBuf out, long value) {
        long rest = value;
        if (rest < 0) {
            out.writeByte('-');
            rest = -Math.max(rest, -Long.MAX_VALUE);
        }
        int digits = digits(rest);
        out.ensureWritable(digits);
        int end = out.writerIndex() + digits;
        for (int i = end - 1; i >= end - digits; i--) {
            out.setByte(i, '0' + (int) (rest % 10));
            rest /= 10;
        }
        out.writerIndex(end);
    }
}
