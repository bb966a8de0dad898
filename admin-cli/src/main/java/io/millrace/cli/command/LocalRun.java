package io.millrace.cli.command;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;

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
        return run(invocation, arguments, InputStream.nullInputStream(), line -> {
            invocation.console().data(List.of(line));
            return true;
        });
    }

    /**
     * Runs the script until it ends, or until {@code output} returns false. Messages of the script go to standard
     * error.
     *
     * @param input standard input of the script
     * @param output receives each line at once, since the whole output may exceed the heap; returns false to end the
     *     script
     * @return the exit code of the script; 0 if {@code output} has returned false
     */
    public static int run(Invocation invocation, List<String> arguments, InputStream input, Predicate<String> output)
            throws CommandFailure {
        Path millrace = invocation.environment().millrace();
        if (millrace == null) {
            throw new CommandFailure(
                    ExitCode.FAILED,
                    "this command needs bin/millrace, and there is no bin/millrace beside this millctl",
                    "run millctl from the unpacked product");
        }
        List<String> command = new ArrayList<>(List.of(millrace.toString()));
        command.addAll(arguments);
        try {
            Process process = new ProcessBuilder(command).start();
            try {
                return await(process, invocation.console(), input, output);
            } finally {
                process.destroy();
            }
        } catch (IOException | UncheckedIOException e) {
            throw new CommandFailure(ExitCode.FAILED, command.get(0) + ": cannot be run (" + e.getMessage() + ")");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitCode.FAILED, "interrupted while " + command.get(0) + " was running");
        }
    }

    private static int await(Process process, Console console, InputStream input, Predicate<String> output)
            throws IOException, InterruptedException {
        // This thread is not awaited, since it may block on input that the script does not need any more.
        Thread feeder = new Thread(() -> feed(input, process), "millctl-input");
        feeder.setDaemon(true);
        feeder.start();
        Queue<String> messages = new ConcurrentLinkedQueue<>();
        CompletableFuture<Void> err = CompletableFuture.runAsync(() -> {
            try (BufferedReader lines = reader(process.getErrorStream())) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    messages.add(line);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        try (BufferedReader lines = reader(process.getInputStream())) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                say(messages, console);
                if (!output.test(line)) {
                    return ExitCode.OK;
                }
            }
        }
        err.join();
        say(messages, console);
        return process.waitFor();
    }

    private static void say(Queue<String> messages, Console console) {
        for (String message = messages.poll(); message != null; message = messages.poll()) {
            console.say(message);
        }
    }

    private static void feed(InputStream input, Process process) {
        try (OutputStream out = process.getOutputStream()) {
            input.transferTo(out);
        } catch (IOException e) {
            // The script has ended without reading all of its input; its exit code says why.
        }
    }

    private static BufferedReader reader(InputStream stream) {
        return new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
    }
}
