package io.millrace.store.io;

import java.io.IOException;

/** Thrown when another store uses the same directory, file or device. */
public final class LeaseHeldException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Creates the exception; the message names the directory, file or device, and the holder if known. */
    public LeaseHeldException(String message) {
        super(message);
    }
}
