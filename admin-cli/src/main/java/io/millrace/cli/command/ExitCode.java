package io.millrace.cli.command;

/** Exit codes of {@code millctl}; scripts rely on them. An interrupt ends the process with 130. */
public final class ExitCode {
    public static final int OK = 0;

    /** The operation failed, or its outcome is bad. */
    public static final int FAILED = 1;

    /** Wrong arguments, or a configuration with problems. */
    public static final int USAGE = 2;

    /** No running Millrace was reached. */
    public static final int UNREACHABLE = 3;

    /** Asked for, and not known to be finished: look again later. */
    public static final int IN_PROGRESS = 75;

    private ExitCode() {}
}
