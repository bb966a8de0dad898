package io.millrace.proxy.observe;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/** Writes bytes as hexadecimal escapes without allocation. Thread-safe: has no state that changes. */
final class Hex {
    private static final byte[] DIGITS = "0123456789ABCDEF".getBytes(StandardCharsets.US_ASCII);

    private Hex() {}

    static void writePercent(ByteBuf out, int octet) {
        out.writeByte('%').writeByte(DIGITS[octet >> 4]).writeByte(DIGITS[octet & 0xf]);
    }

    /** Puts two digits and returns the position after them. */
    static int put(byte[] out, int position, int octet) {
        out[position] = DIGITS[octet >> 4];
        out[position + 1] = DIGITS[octet & 0xf];
        return position + 2;
    }
}
