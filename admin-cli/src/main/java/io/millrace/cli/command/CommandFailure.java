package io.millrace.cli.command;

import java.util.List;

/** Ends a command: an exit code, a sentence, and lines that say what to do next. */
public final class CommandFailure extends Exception {
    private final int exitCode;
    private final List<String> nextLines;
    private final boolean mayPass;

    public CommandFailure(int exitCode, String message, String... nextLines) {
        this(exitCode, message, false, nextLines);
    }

    private CommandFailure(int exitCode, String message, boolean mayPass, String... nextLines) {
        super(message, null, false, false);
        this.mayPass = mayPass;
        this.exitCode = exitCode;
        this.nextLines = List.of(nextLines);
    }

    /** Somebody is not there now, and may be at the next look. */
    static CommandFailure away(int exitCode, String message, String... nextLines) {
        return new CommandFailure(exitCode, message, true, nextLines);
    }

    /** Whether it is worth another look. */
    public boolean mayPass() {
        return mayPass;
    }

    public int exitCode() {
        return exitCode;
    }

    String message() {
        return String.valueOf(getMessage());
    }

    /** What to look at or to try, a line each. */
    List<String> nextLines() {
        return nextLines;
    }
}
