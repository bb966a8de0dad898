package io.millrace.store.disk;

import java.io.IOException;

/**
 * The log cannot take a record although the disk works: it is longer than a segment, or readers hold all the segments
 * that could be given up.
 */
public final class AppendRefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    AppendRefusedException(String message) {
        super(message, null);
    }
}
