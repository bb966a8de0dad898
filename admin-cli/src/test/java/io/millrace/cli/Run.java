package io.millrace.cli;

import io.millrace.cli.command.CommandClock;
import io.millrace.cli.command.ProcessEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** A finished run of {@code millctl} inside the test. Immutable. */
record Run(int exitCode, String out, String err) {
    static Run of(ProcessEnvironment environment, String... arguments) {
        return of(environment, time -> false, arguments);
    }

    static Run of(ProcessEnvironment environment, CommandClock clock, String... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int exitCode = Millctl.run(
                arguments,
                environment,
                new PrintStream(out, false, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                clock);
        return new Run(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }
}
