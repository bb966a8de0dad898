package io.millrace.launcher;

/** Exit codes of the launcher; those of {@code millctl} mean the same. */
final class ExitCode {
    static final int OK = 0;

    /** It could not be done. */
    static final int FAILED = 1;

    /** Wrong usage, or a configuration with problems. */
    static final int USAGE = 2;

    /** Stopped at once, by a second SIGTERM or SIGINT while requests were still in flight. */
    static final int CUT_SHORT = 143;

    private ExitCode() {}
}
