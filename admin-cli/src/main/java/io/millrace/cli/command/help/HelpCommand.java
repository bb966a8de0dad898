package io.millrace.cli.command.help;

import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code help}. {@code millctl help config reload} prints the same as {@code config reload --help}. */
@Command(
        name = "help",
        abbreviateSynopsis = true,
        helpCommand = true,
        description = "Show the help of a command, such as help config check.",
        footer = {"", "Example: millctl help --man config | man -l -"})
public final class HelpCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by Picocli before call()
    private CommandSpec spec;

    @Option(names = "--man", description = "Print a manual page: of a group of commands, or of millctl.")
    private boolean manual;

    private final Invocation invocation;

    public HelpCommand(Invocation invocation) {
        this.invocation = invocation;
    }

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "The command, and its subcommand.")
    private List<String> names = List.of();

    @Override
    public Integer call() {
        CommandLine root = spec.commandLine().getParent();
        CommandLine command = root;
        for (String name : names) {
            CommandLine next = command.getSubcommands().get(name);
            if (next == null) {
                throw new ParameterException(
                        command, "'" + command.getCommandSpec().qualifiedName() + "' has no command '" + name + "'");
            }
            command = next;
        }
        if (manual) {
            String page = names.isEmpty() ? "millctl" : "millctl-" + names.get(0);
            invocation.console().data(ManualPages.ofMillctl(root).getOrDefault(page, List.of()));
            return ExitCode.OK;
        }
        if (invocation.isJson()) {
            invocation.console().json(CommandJson.of(command.getCommandSpec()));
            return ExitCode.OK;
        }
        command.usage(spec.commandLine().getOut(), command.getColorScheme());
        return ExitCode.OK;
    }
}
