package io.millrace.proxy.http;

import io.netty.buffer.ByteBuf;

/**
 * Finds the end of a message's head in bytes that arrive piece by piece, reading each byte once. It says where the empty line is
 * and nothing of whether the lines before it are well formed.
 *
 * <p>Confined to one thread.
 */
public final class HeadScanner {
    /** The head is not complete yet. */
    public static final int INCOMPLETE = -1;

    private int scanned;
    private int startLineLength;

    /** Forgets what was seen: the next byte begins a new head. */
    public void reset() {
        scanned = 0;
        startLineLength = 0;
    }

    /** Length of the start line with its end; 0 while that is not there yet. */
    public int startLineLength() {
        return startLineLength;
    }

    /**
     * Goes on looking.
     *
     * @param in begins with the head's first byte at every call; borrowed, its indices are not moved
     * @return the head's length with its empty line, or {@link #INCOMPLETE}
     */
    public int scan(ByteBuf in) {
        return scan(in, Integer.MAX_VALUE);
    }

    /**
     * As {@link #scan(ByteBuf)}, but looks at no byte beyond the first {@code most}: a head that has not ended by then is too
     * large, and what it costs to know that does not grow with what follows. It may be less than at the call before.
     */
    public int scan(ByteBuf in, int most) {
        if (scanned > most) {
            return INCOMPLETE;
        }
        int start = in.readerIndex();
        int end = start + Math.min(most, in.readableBytes());
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
            // An empty line is LF, CR LF behind a LF; which of them are allowed is the grammar's business.
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
