package io.millrace.store.disk;

import java.io.IOException;

/**
 * Thrown when the log cannot append a record although the disk works.
 *
 * <p>The record is longer than a segment, or readers have pinned all segments that could be reclaimed.
 */
public final class AppendRefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    AppendRefusedException(String message) {
        super(message, null);
    }
}
