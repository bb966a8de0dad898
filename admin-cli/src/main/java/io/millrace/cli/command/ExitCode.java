package io.millrace.cli.command;

/** Exit codes of {@code millctl}. Scripts rely on them. */
public final class ExitCode {
    public static final int OK = 0;

    /** The operation failed, or a check found problems. */
    public static final int FAILED = 1;

    /** Wrong arguments, or a configuration with problems. */
    public static final int USAGE = 2;

    /** No running Millrace was reached. */
    public static final int UNREACHABLE = 3;

    /** A requested change may still be in progress; query again later. */
    public static final int IN_PROGRESS = 75;

    /** The command was interrupted. */
    public static final int INTERRUPTED = 130;

    private ExitCode() {}
}
