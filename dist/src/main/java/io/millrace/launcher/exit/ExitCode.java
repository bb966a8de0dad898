package io.millrace.launcher.exit;

/** The exit codes of the launcher, with the same meanings as those of {@code millctl}. */
public final class ExitCode {
    /** Success. */
    public static final int OK = 0;

    /** The command failed. */
    public static final int FAILED = 1;

    /** Wrong usage, or a configuration with problems. */
    public static final int USAGE = 2;

    /** Stopped at once, by a second SIGTERM or SIGINT while requests were still in progress. */
    public static final int CUT_SHORT = 143;

    private ExitCode() {}
}
