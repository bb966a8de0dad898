package io.millrace.proxy.admin.status;

/** Knows the launcher and its worker. Thread-safe; never blocks. */
@FunctionalInterface
public interface ProcessSource {
    /** The processes now. */
    ProcessStatus processes();
}
