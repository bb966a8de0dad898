package io.millrace.proxy.admin.status;

/** Source of the state of the proxy. Thread-safe; never blocks. */
@FunctionalInterface
public interface StatusSource {
    /** Returns the present state. */
    ProxyStatus status();
}
