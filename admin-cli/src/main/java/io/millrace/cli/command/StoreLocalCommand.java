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
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * Looks into a storage path on this machine with {@code bin/millrace store}, whose output and exit code it passes on: no
 * running proxy is asked. Confined to one thread.
 */
abstract class StoreLocalCommand implements Callable<Integer> {
    @Parameters(paramLabel = "PATH", description = "A storage path that no running proxy has open.")
    private String path = "";

    private final Invocation invocation;
    private final String verb;

    StoreLocalCommand(Invocation invocation, String verb) {
        this.invocation = invocation;
        this.verb = verb;
    }

    /** What the verb takes besides the path. */
    List<String> options() {
        return List.of();
    }

    @Override
    public final Integer call() throws CommandFailure {
        Path millrace = invocation.surroundings().millrace();
        if (millrace == null) {
            throw new CommandFailure(
                    ExitCode.FAILED,
                    "no bin/millrace beside this millctl to look with",
                    "run millctl from the unpacked product");
        }
        List<String> command = new ArrayList<>(List.of(millrace.toString(), "store", verb, path));
        command.addAll(options());
        if (invocation.isJson()) {
            command.add("--json");
        }
        return run(command);
    }

    private int run(List<String> command) throws CommandFailure {
        Console console = invocation.console();
        try {
            Process process = new ProcessBuilder(command).start();
            process.getOutputStream().close();
            List<String> talk = new ArrayList<>();
            CompletableFuture<Void> err = CompletableFuture.runAsync(() -> each(process.getErrorStream(), talk::add));
            // Line by line: a dump may be longer than any heap.
            each(process.getInputStream(), line -> console.data(List.of(line)));
            err.join();
            talk.forEach(console::say);
            return process.waitFor();
        } catch (IOException | UncheckedIOException e) {
            throw new CommandFailure(ExitCode.FAILED, command.get(0) + ": cannot be run (" + e.getMessage() + ")");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitCode.FAILED, "interrupted while " + command.get(0) + " was running");
        }
    }

    private static void each(InputStream stream, Consumer<String> line) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
            for (String next = lines.readLine(); next != null; next = lines.readLine()) {
                line.accept(next);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Command(
            name = "check",
            abbreviateSynopsis = true,
            description = {
                "Read every byte of a storage path and compare records and index.",
                "Exit code 0 sound, 1 damaged, 3 in use or not readable."
            },
            footer = {"", "Example: millctl store check /var/cache/millrace"})
    static final class Check extends StoreLocalCommand {
        Check(Invocation invocation) {
            super(invocation, "check");
        }
    }

    @Command(
            name = "dump",
            abbreviateSynopsis = true,
            description = "Write what is in a storage path, a line for each record.",
            footer = {"", "Example: millctl store dump /var/cache/millrace --keys-only"})
    static final class Dump extends StoreLocalCommand {
        @Option(names = "--keys-only", description = "Nothing but the keys of records.")
        private boolean keysOnly;

        @Option(names = "--prefix", paramLabel = "TEXT", description = "Only records whose key starts so.")
        private String prefix = "";

        @Option(names = "--segment", paramLabel = "N", description = "Only this segment.")
        private int segment = -1;

        Dump(Invocation invocation) {
            super(invocation, "dump");
        }

        @Override
        List<String> options() {
            List<String> options = new ArrayList<>();
            if (keysOnly) {
                options.add("--keys-only");
            }
            if (!prefix.isEmpty()) {
                options.add("--prefix=" + prefix);
            }
            if (segment >= 0) {
                options.add("--segment=" + segment);
            }
            return options;
        }
    }

    @Command(
            name = "stat",
            abbreviateSynopsis = true,
            description = "Count segments, bytes and objects of a storage path.",
            footer = {"", "Example: millctl store stat /var/cache/millrace"})
    static final class Stat extends StoreLocalCommand {
        Stat(Invocation invocation) {
            super(invocation, "stat");
        }
    }
}
