package io.millrace.cli.command;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Runs the script {@code bin/millrace} beside this {@code millctl}, and passes on its output and exit code. Stateless.
 * Blocks.
 */
public final class LocalRun {
    private LocalRun() {}

    /**
     * Runs the script to its end.
     *
     * @return its exit code
     */
    public static int run(Invocation invocation, List<String> arguments) throws CommandFailure {
        Path millrace = invocation.surroundings().millrace();
        if (millrace == null) {
            throw new CommandFailure(
                    ExitCode.FAILED,
                    "no bin/millrace beside this millctl, which this command needs",
                    "run millctl from the unpacked product");
        }
        List<String> command = new ArrayList<>(List.of(millrace.toString()));
        command.addAll(arguments);
        Console console = invocation.console();
        try {
            Process process = new ProcessBuilder(command).start();
            process.getOutputStream().close();
            List<String> errorLines = new ArrayList<>();
            CompletableFuture<Void> err =
                    CompletableFuture.runAsync(() -> forEachLine(process.getErrorStream(), errorLines::add));
            // Each line is passed on at once, since the output of a dump may exceed the heap.
            forEachLine(process.getInputStream(), line -> console.data(List.of(line)));
            err.join();
            errorLines.forEach(console::say);
            return process.waitFor();
        } catch (IOException | UncheckedIOException e) {
            throw new CommandFailure(ExitCode.FAILED, command.get(0) + ": cannot be run (" + e.getMessage() + ")");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitCode.FAILED, "interrupted while " + command.get(0) + " was running");
        }
    }

    private static void forEachLine(InputStream stream, Consumer<String> line) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String next = lines.readLine(); next != null; next = lines.readLine()) {
                line.accept(next);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
