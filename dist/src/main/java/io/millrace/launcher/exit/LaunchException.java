package io.millrace.launcher.exit;

/** The launcher cannot start, and the message says why in words for the operator. Immutable. */
public final class LaunchException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    /** A failure that ends the launcher with that exit code. */
    public LaunchException(String message, int exitCode) {
        super(message, null, false, false);
        this.exitCode = exitCode;
    }

    /** A failure that ends the launcher with {@link ExitCode#FAILED}. */
    public LaunchException(String message) {
        this(message, ExitCode.FAILED);
    }

    /** Exit code of the launcher. */
    public int exitCode() {
        return exitCode;
    }
}
