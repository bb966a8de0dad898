package io.millrace.proxy.config.key;

/** The effect of a failed decision of other code or another server on its request. */
public enum OnError {
    /** The request continues as it would without the decision. */
    OPEN,
    /** The request is refused with 503. */
    CLOSED
}
