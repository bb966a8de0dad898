package io.millrace.launcher.exit;

/** A failure to start the launcher, with a message for the operator. Immutable. */
public final class LaunchException extends Exception {
    private static final long serialVersionUID = 1L;

    private final int exitCode;

    /** Creates a failure with this exit code of the launcher. */
    public LaunchException(String message, int exitCode) {
        super(message, null, false, false);
        this.exitCode = exitCode;
    }

    /** Creates a failure with the exit code {@link ExitCode#FAILED}. */
    public LaunchException(String message) {
        this(message, ExitCode.FAILED);
    }

    /** Exit code of the launcher. */
    public int exitCode() {
        return exitCode;
    }
}
