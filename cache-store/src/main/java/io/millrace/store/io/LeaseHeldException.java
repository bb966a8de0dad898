package io.millrace.store.io;

import java.io.IOException;

/** Thrown when another store uses the same directory, file or device. */
public final class LeaseHeldException extends IOException {
    private static final long serialVersionUID = 1L;

    /** The message names the directory and the holder. */
    public LeaseHeldException(String message) {
        super(message);
    }
}
