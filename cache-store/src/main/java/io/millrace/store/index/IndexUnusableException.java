package io.millrace.store.index;

import java.io.IOException;

/** An index file that must not be trusted: damaged, another volume's, or written before the machine last went down. */
public final class IndexUnusableException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The message says what was found and what was expected. */
    public IndexUnusableException(String message) {
        super(message);
    }
}
