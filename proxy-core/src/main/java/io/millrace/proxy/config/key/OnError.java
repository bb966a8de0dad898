package io.millrace.proxy.config.key;

/** The effect on a request if an extension or an authorisation server fails to decide about it. */
public enum OnError {
    /** The request continues as it would without the decision. */
    OPEN,
    /** The request is refused with 503. */
    CLOSED
}
