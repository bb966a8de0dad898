package io.millrace.proxy;

/** The life of a {@link ProxyServer}, from left to right and never back. */
public enum ProxyState {
    /** Built; nothing is open but the store. */
    NEW,
    /** Accepting and serving. */
    RUNNING,
    /** Accepting nothing, finishing what is under way. */
    DRAINING,
    /** Everything is closed. */
    CLOSED
}
