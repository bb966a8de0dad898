package io.millrace.proxy;

/** The states of a {@link ProxyServer}. They follow each other in this order. */
public enum ProxyState {
    /** Built; only the store is open. */
    NEW,
    /** Accepting and serving clients. */
    RUNNING,
    /** No longer accepting; requests in progress finish. */
    DRAINING,
    /** Everything is closed. */
    CLOSED
}
