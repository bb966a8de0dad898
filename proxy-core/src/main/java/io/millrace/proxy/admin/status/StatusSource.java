package io.millrace.proxy.admin.status;

/** Knows what the proxy is doing. Thread-safe; never blocks. */
@FunctionalInterface
public interface StatusSource {
    /** The status now. */
    ProxyStatus status();
}
