package io.millrace.cli.command;

import java.util.List;

/** Thrown to end a command with an exit code, a message, and lines of advice. */
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

    /** Returns a failure that may be temporary, so that a repeated command may succeed. */
    static CommandFailure away(int exitCode, String message, String... nextLines) {
        return new CommandFailure(exitCode, message, true, nextLines);
    }

    /** Returns true if the failure may be temporary, so that a repetition is useful. */
    public boolean mayPass() {
        return mayPass;
    }

    public int exitCode() {
        return exitCode;
    }

    String message() {
        return String.valueOf(getMessage());
    }

    /** Advice on how to continue, one line each. */
    List<String> nextLines() {
        return nextLines;
    }
}
