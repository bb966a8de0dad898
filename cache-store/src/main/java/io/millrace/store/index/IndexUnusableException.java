package io.millrace.store.index;

import java.io.IOException;

/**
 * Thrown for an index file that must not be used: damaged, from another volume, or written before the last reboot
 * without a clean close.
 */
public final class IndexUnusableException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The message states the actual and the expected value. */
    public IndexUnusableException(String message) {
        super(message);
    }
}
