package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.Frames;

/**
 * The window in which a client may send content of one request (RFC 9113 s5.2).
 *
 * <p>Its size may change within a request: with the setting, and with the memory that is free. Confined to one event loop.
 */
final class ReceiveWindow {
    /** Bytes that the client may send now. */
    private int open = Frames.WINDOW_DEFAULT;

    /** Takes the bytes of a DATA frame out of the window; false when they are more than it has. */
    boolean take(int length) {
        if (length > open) {
            return false;
        }
        open -= length;
        return true;
    }

    /**
     * Enlarges the window when all content that came so far has been taken.
     *
     * @param windowBytes size that the window should have now
     * @return the increment that the client has to be told, 0 for none: small ones wait
     */
    int enlarge(int windowBytes) {
        int due = windowBytes - open;
        if (due <= 0 || due < windowBytes / 2) {
            return 0;
        }
        open = windowBytes;
        return due;
    }
}
