package io.millrace.proxy.admin.status;

/** Source of the state of the launcher and its worker. Thread-safe; never blocks. */
@FunctionalInterface
public interface ProcessSource {
    /** Returns the present state. */
    ProcessStatus processes();
}
