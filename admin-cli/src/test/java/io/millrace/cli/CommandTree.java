package io.millrace.cli;

import io.millrace.cli.command.Console;
import io.millrace.cli.command.GlobalOptions;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.ProcessEnvironment;
import io.millrace.cli.render.Paint;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** All commands of {@code millctl}, for tests of rules that apply to each of them. */
final class CommandTree {
    private CommandTree() {}

    /** Returns the root, without effects on the machine. */
    static CommandLine root() {
        GlobalOptions options = new GlobalOptions();
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        ProcessEnvironment environment = new ProcessEnvironment(Map.of(), Path.of("/"), Path.of("/"), null, false);
        Console console = new Console(nowhere, nowhere, new Paint(false));
        return Millctl.commands(options, new Invocation(options, environment, console));
    }

    /** Returns the root and all commands below, each before its subcommands. */
    static List<CommandLine> all() {
        List<CommandLine> all = new ArrayList<>();
        collect(root(), all);
        return all;
    }

    private static void collect(CommandLine command, List<CommandLine> all) {
        all.add(command);
        command.getSubcommands().values().forEach(below -> collect(below, all));
    }

    /** Returns the words of a command, such as {@code config get}. */
    static String words(CommandLine command) {
        String name = command.getCommandSpec().qualifiedName();
        return name.substring(Math.min(name.length(), "millctl ".length()));
    }
}
