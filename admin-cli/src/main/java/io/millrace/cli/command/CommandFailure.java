package io.millrace.cli.command;

import java.util.List;

/** Thrown to end a command with an exit code, a message, and advice for the user. */
public final class CommandFailure extends Exception {
    private final int exitCode;
    private final List<String> adviceLines;
    private final boolean isTemporary;

    public CommandFailure(int exitCode, String message, String... adviceLines) {
        this(exitCode, message, false, adviceLines);
    }

    private CommandFailure(int exitCode, String message, boolean isTemporary, String... adviceLines) {
        super(message, null, false, false);
        this.isTemporary = isTemporary;
        this.exitCode = exitCode;
        this.adviceLines = List.of(adviceLines);
    }

    /** Returns a failure that may be temporary, so that {@code --watch} continues after it. */
    static CommandFailure temporary(int exitCode, String message, String... adviceLines) {
        return new CommandFailure(exitCode, message, true, adviceLines);
    }

    /** Returns true if the failure may be temporary, so that the command can be repeated. */
    public boolean isTemporary() {
        return isTemporary;
    }

    public int exitCode() {
        return exitCode;
    }

    String message() {
        return String.valueOf(getMessage());
    }

    /** Returns advice on the next step of the user; each element is one line. */
    List<String> adviceLines() {
        return adviceLines;
    }
}
