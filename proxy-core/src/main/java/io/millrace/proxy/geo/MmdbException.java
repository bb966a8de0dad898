package io.millrace.proxy.geo;

/** Thrown if a file cannot be used as a database of locations. The message begins with the path. */
public final class MmdbException extends Exception {
    private static final long serialVersionUID = 1L;

    MmdbException(String message) {
        super(message);
    }
}
