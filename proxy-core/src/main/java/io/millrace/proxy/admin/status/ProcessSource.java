package io.millrace.proxy.admin.status;

/** Source of the state of the launcher (parent process) and its worker (serving process). Thread-safe; never blocks. */
@FunctionalInterface
public interface ProcessSource {
    /** Returns the present state. */
    ProcessStatus processes();
}
