package io.millrace.proxy.net.protocol;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;

/**
 * The fixed bytes that each HTTP/2 client sends first (RFC 9113 s3.4).
 *
 * <p>Thread-safe: no state.
 */
public final class Http2Preface {
    private static final byte[] BYTES = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private Http2Preface() {}

    /** Number of bytes. */
    public static int length() {
        return BYTES.length;
    }

    /**
     * Returns true if the readable bytes begin with the preface, or may still become the preface. Borrows the buffer.
     */
    public static boolean isBegun(ByteBuf in) {
        int length = Math.min(in.readableBytes(), BYTES.length);
        for (int i = 0; i < length; i++) {
            if (in.getByte(in.readerIndex() + i) != BYTES[i]) {
                return false;
            }
        }
        return true;
    }
}
