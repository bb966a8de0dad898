package io.millrace.proxy;

/** The states of a {@link ProxyServer}, in the order in which they occur. */
public enum ProxyState {
    /** The proxy was built. Its store is open, but it does not accept clients. */
    NEW,
    /** The proxy accepts and serves clients. */
    RUNNING,
    /** The proxy no longer accepts clients. Requests in progress finish. */
    DRAINING,
    /** The proxy has released all resources. */
    CLOSED
}
