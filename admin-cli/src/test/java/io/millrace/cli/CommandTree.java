package io.millrace.cli;

import io.millrace.cli.command.Console;
import io.millrace.cli.command.GlobalOptions;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.Surroundings;
import io.millrace.cli.render.Paint;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** Every command of {@code millctl}, for tests that hold them all to something. */
final class CommandTree {
    private CommandTree() {}

    /** The root, working on nothing. */
    static CommandLine root() {
        GlobalOptions options = new GlobalOptions();
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        Surroundings surroundings = new Surroundings(Map.of(), Path.of("/"), Path.of("/"), null, false);
        Console console = new Console(nowhere, nowhere, new Paint(false));
        return Millctl.commands(options, new Invocation(options, surroundings, console));
    }

    /** The root and everything below it, each before what is below it. */
    static List<CommandLine> all() {
        List<CommandLine> all = new ArrayList<>();
        collect(root(), all);
        return all;
    }

    private static void collect(CommandLine command, List<CommandLine> all) {
        all.add(command);
        command.getSubcommands().values().forEach(below -> collect(below, all));
    }

    /** The words that name a command, such as {@code config get}. */
    static String words(CommandLine command) {
        String name = command.getCommandSpec().qualifiedName();
        return name.substring(Math.min(name.length(), "millctl ".length()));
    }
}
