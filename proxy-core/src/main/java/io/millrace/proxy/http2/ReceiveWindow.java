package io.millrace.proxy.http2;

import io.millrace.proxy.http2.frame.Frames;

/**
 * The flow-control window for the content of one request (RFC 9113 s5.2).
 *
 * <p>The size may change during a request: it depends on the configuration and on the free memory. Confined to
 * one event loop.
 */
final class ReceiveWindow {
    /** Bytes that the client may send now. */
    private int open = Frames.WINDOW_DEFAULT;

    /** Subtracts the length of a DATA frame from the window. Returns false if the window is too small. */
    boolean take(int length) {
        if (length > open) {
            return false;
        }
        open -= length;
        return true;
    }

    /**
     * Enlarges the window after all received content has been processed.
     *
     * @param windowBytes new size of the window
     * @return the increment to announce to the client; 0 if it is less than half of the window, to save frames
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
