package io.millrace.cli.command.config;

import io.millrace.cli.client.CheckLine;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The result of {@code millrace check FILE}, run as a local process. Immutable.
 *
 * @param exitCode exit code of the process
 * @param outLines lines of standard output
 * @param problemLines lines of standard error
 */
record LocalCheck(int exitCode, List<String> outLines, List<String> problemLines) {
    /** Runs {@code millrace check FILE} to its end. Blocks. */
    static LocalCheck run(Path millrace, String file) throws CommandFailure {
        try {
            Process process = new ProcessBuilder(millrace.toString(), "check", file).start();
            process.getOutputStream().close();
            CompletableFuture<List<String>> err = CompletableFuture.supplyAsync(() -> lines(process.getErrorStream()));
            List<String> out = lines(process.getInputStream());
            return new LocalCheck(process.waitFor(), out, err.join());
        } catch (IOException | UncheckedIOException e) {
            throw new CommandFailure(ExitCode.FAILED, millrace + ": cannot be run (" + e.getMessage() + ")");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitCode.FAILED, "interrupted while " + millrace + " checked");
        }
    }

    private static List<String> lines(InputStream stream) {
        try {
            List<String> lines = new ArrayList<>();
            for (String line : new String(stream.readAllBytes(), StandardCharsets.UTF_8).split("\n", -1)) {
                if (!line.isEmpty()) {
                    lines.add(line);
                }
            }
            return lines;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the problems, parsed from the lines of standard error. */
    List<CheckLine> problems() {
        List<CheckLine> problems = new ArrayList<>();
        for (String line : problemLines) {
            problems.add(CheckLine.parse(line));
        }
        return problems;
    }
}
