package io.millrace.cli.command.shell;

import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.Stty;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The command {@code millctl shell}. It reads command lines and runs them in this process. On a terminal there are a
 * line editor, completion and a history; otherwise the lines of standard input are read. Confined to one thread.
 */
@Command(
        name = "shell",
        abbreviateSynopsis = true,
        description = {
            "Run commands interactively, with completion and history.",
            "Options such as --admin apply to every line. Without a terminal it runs the",
            "lines of standard input. Tab completes, 'exit' or Ctrl-D ends the shell."
        },
        footer = {"", "Example: millctl shell --admin https://proxy.internal:9090"})
public final class ShellCommand implements Callable<Integer> {
    private static final String PROMPT = "millctl> ";
    private static final String HISTORY = "shell_history";
    private static final int LINE_LENGTH_MAX = 65_536;

    /** Runs one command line of the shell, and returns its exit code. */
    @FunctionalInterface
    public interface Runner {
        int run(Invocation invocation, List<String> words);
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // set by Picocli before call()
    private CommandSpec spec;

    private final Invocation invocation;
    private final Runner runner;
    private List<String> sharedArguments = List.of();
    private int firstFailure;

    public ShellCommand(Invocation invocation, Runner runner) {
        this.invocation = invocation;
        this.runner = runner;
    }

    @Override
    public Integer call() throws CommandFailure {
        if (invocation.watch() != null) {
            throw new CommandFailure(ExitCode.USAGE, "--watch is for a command in the shell, not for the shell");
        }
        // The options must be read now: completion parses other words with the same option objects, which resets them.
        sharedArguments = invocation.sharedArguments();
        try {
            String savedSettings = invocation.environment().isTerminal() && isTerminalInput() ? Stty.run("-g") : null;
            if (savedSettings == null) {
                return runLines();
            }
            runTerminal(savedSettings);
            return ExitCode.OK;
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.FAILED, "standard input cannot be read (" + e.getMessage() + ")");
        }
    }

    private static boolean isTerminalInput() {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/0")).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty") || target.equals("/dev/console");
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    /** Runs every line of standard input. Returns the exit code of the first line that failed, or 0. */
    private int runLines() throws IOException {
        BufferedReader in = new BufferedReader(
                new InputStreamReader(invocation.environment().input(), StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (!runLine(line)) {
                break;
            }
        }
        return firstFailure;
    }

    private void runTerminal(String savedSettings) throws IOException {
        ShellHistory history =
                ShellHistory.read(invocation.environment().stateHome().resolve(HISTORY));
        ShellCompletion completion = new ShellCompletion(spec.root());
        LineEditor editor = new LineEditor(
                invocation.environment().input(), invocation.console().out(), Stty::columns, completion::candidates);
        Thread atExit = new Thread(() -> Stty.run(savedSettings), "terminal");
        Runtime.getRuntime().addShutdownHook(atExit);
        Interrupts.installForThisThread();
        try {
            boolean continues = true;
            while (continues) {
                Stty.run("-icanon", "-echo", "-isig", "min", "1", "time", "0");
                String line = editor.read(PROMPT, history.lines());
                Stty.run(savedSettings);
                if (line != null) {
                    history.add(line.stripTrailing());
                }
                continues = line != null && runLine(line);
                // Clears the interrupt status of this thread, which Ctrl-C may have set during the command.
                Thread.interrupted();
            }
        } finally {
            Stty.run(savedSettings);
            if (!history.save()) {
                invocation.console().say("millctl: the history cannot be written");
            }
        }
    }

    /** Runs a line. Returns false if the line is {@code exit} or {@code quit}. */
    private boolean runLine(String line) {
        List<String> words = words(line);
        if (words == null) {
            return true;
        }
        if (words.isEmpty()) {
            return true;
        }
        String first = words.get(0);
        if (first.equals("exit") || first.equals("quit")) {
            return false;
        }
        if (first.equals("shell")) {
            fail(ExitCode.USAGE, "this is a shell already; 'exit' ends it");
            return true;
        }
        List<String> all = new ArrayList<>(sharedArguments);
        all.addAll(words);
        int exitCode = runner.run(invocation, all);
        firstFailure = firstFailure == ExitCode.OK ? exitCode : firstFailure;
        return true;
    }

    /** Splits a line into words, without a leading {@code millctl}. Reports an invalid line and returns null. */
    private @Nullable List<String> words(String line) {
        ShellWords given = ShellWords.of(line);
        if (given.isOpen() || line.length() > LINE_LENGTH_MAX) {
            fail(
                    ExitCode.USAGE,
                    given.isOpen()
                            ? "a quote is not closed"
                            : "the line is too long: actual=" + line.length() + ", limit=" + LINE_LENGTH_MAX);
            return null;
        }
        List<String> words = given.words();
        return !words.isEmpty() && words.get(0).equals("millctl") ? words.subList(1, words.size()) : words;
    }

    private void fail(int exitCode, String message) {
        invocation.console().say("millctl: " + message);
        firstFailure = firstFailure == ExitCode.OK ? exitCode : firstFailure;
    }
}
