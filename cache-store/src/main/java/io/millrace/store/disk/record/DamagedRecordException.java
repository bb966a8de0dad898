package io.millrace.store.disk.record;

import java.io.IOException;

/** What lies at a location is not the record that was looked for: damaged, torn, or overwritten by a newer one. */
public final class DamagedRecordException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The message says what, where, and what was expected. */
    public DamagedRecordException(String message) {
        super(message, null);
    }
}
