package io.millrace.launcher;

/** The launcher cannot start, and the message says why in words for the operator. Immutable. */
final class LaunchException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    LaunchException(String message, int exitCode) {
        super(message, null, false, false);
        this.exitCode = exitCode;
    }

    LaunchException(String message) {
        this(message, ExitCode.FAILED);
    }

    int exitCode() {
        return exitCode;
    }
}
