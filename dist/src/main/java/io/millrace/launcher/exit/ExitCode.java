package io.millrace.launcher.exit;

/** Exit codes of the launcher; those of {@code millctl} mean the same. */
public final class ExitCode {
    /** Success. */
    public static final int OK = 0;

    /** It could not be done. */
    public static final int FAILED = 1;

    /** Wrong usage, or a configuration with problems. */
    public static final int USAGE = 2;

    /** Stopped at once, by a second SIGTERM or SIGINT while requests were still in flight. */
    public static final int CUT_SHORT = 143;

    private ExitCode() {}
}
