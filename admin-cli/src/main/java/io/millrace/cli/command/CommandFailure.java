package io.millrace.cli.command;

import java.util.List;

/** Ends a command: an exit code, a sentence, and lines that say what to do next. */
final class CommandFailure extends Exception {
    private final int exitCode;
    private final List<String> nextLines;

    CommandFailure(int exitCode, String message, String... nextLines) {
        super(message, null, false, false);
        this.exitCode = exitCode;
        this.nextLines = List.of(nextLines);
    }

    int exitCode() {
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
