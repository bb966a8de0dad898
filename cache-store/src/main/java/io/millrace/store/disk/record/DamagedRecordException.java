package io.millrace.store.disk.record;

import java.io.IOException;

/**
 * Thrown when a location does not contain the expected record, because it is damaged, partly written, or overwritten by
 * a newer one.
 */
public final class DamagedRecordException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception. The message states the expected and the actual value, and the location. */
    public DamagedRecordException(String message) {
        super(message, null);
    }
}
