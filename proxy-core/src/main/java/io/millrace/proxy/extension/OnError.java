package io.millrace.proxy.extension;

/** The effect of a failed hook on its request. */
public enum OnError {
    /** The request continues as it would without the hook. */
    OPEN,
    /** The request is refused with 503. */
    CLOSED
}
