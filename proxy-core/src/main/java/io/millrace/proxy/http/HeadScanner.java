package io.millrace.proxy.http;

import io.netty.buffer.ByteBuf;

/**
 * Finds the end of a message's head in bytes that arrive in pieces. Reads each byte once. Looks only for the empty
 * line, and does not check the syntax of the head.
 *
 * <p>Confined to one thread.
 */
public final class HeadScanner {
    /** Result for a head that is not complete yet. */
    public static final int INCOMPLETE = -1;

    private int scanned;
    private int startLineLength;

    /** Resets the scanner: the next byte begins a new head. */
    public void reset() {
        scanned = 0;
        startLineLength = 0;
    }

    /** The length of the start line including its line end; 0 while it is incomplete. */
    public int startLineLength() {
        return startLineLength;
    }

    /**
     * Continues the scan.
     *
     * @param in begins with the first byte of the head in every call; borrowed, its indices are not changed
     * @return the length of the head including its empty line, or {@link #INCOMPLETE}
     */
    public int scan(ByteBuf in) {
        return scan(in, Integer.MAX_VALUE);
    }

    /**
     * Like {@link #scan(ByteBuf)}, but reads at most the first {@code bytesMax} bytes. The limit bounds the cost of
     * scanning a head that is too large. {@code bytesMax} may be smaller than in the previous call.
     */
    public int scan(ByteBuf in, int bytesMax) {
        if (scanned > bytesMax) {
            return INCOMPLETE;
        }
        int start = in.readerIndex();
        int end = start + Math.min(bytesMax, in.readableBytes());
        int at = start + scanned;
        while (true) {
            int lf = in.indexOf(at, end, (byte) '\n');
            if (lf < 0) {
                scanned = end - start;
                return INCOMPLETE;
            }
            if (startLineLength == 0) {
                startLineLength = lf + 1 - start;
            }
            // An empty line is LF or CR LF after an LF. The parser decides which of them are allowed.
            int before = lf - 1;
            if (before >= start && in.getByte(before) == '\r') {
                before--;
            }
            if (before < start || in.getByte(before) == '\n') {
                return lf + 1 - start;
            }
            at = lf + 1;
        }
    }
}
