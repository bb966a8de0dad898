package io.millrace.proxy.admin.status;

import java.util.List;

/** Source of the state of extensions for the admin API. Thread-safe; never blocks. */
@FunctionalInterface
public interface ExtensionsSource {
    /**
     * One extension.
     *
     * @param name name in the configuration
     * @param version version that the extension names; empty for none
     * @param note remark of the extension; empty for none
     * @param jar path of the jar; empty for code of the embedding application
     * @param sha256 checksum of the jar in hexadecimal digits; empty without a jar
     * @param className class of the extension
     * @param state {@code active}, or {@code circuit_open} after many failures in succession
     * @param hooks its hooks, in the order in which a request reaches them
     * @param lastFailure text about the last failure; empty if there was none
     * @param lastFailureSeconds time of the last failure in epoch seconds; 0 if there was none
     */
    record ExtensionStatus(
            String name,
            String version,
            String note,
            String jar,
            String sha256,
            String className,
            String state,
            List<HookStatus> hooks,
            String lastFailure,
            long lastFailureSeconds) {
        /** Copies the list. */
        public ExtensionStatus {
            hooks = List.copyOf(hooks);
        }
    }

    /**
     * The figures of one hook, since the start of the worker.
     *
     * @param nanos total run time of the hook, in nanoseconds, on the threads that called it
     */
    record HookStatus(String name, long calls, long failures, long nanos) {}

    /** All extensions, in the order of their calls. */
    List<ExtensionStatus> extensions();
}
