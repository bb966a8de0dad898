package io.millrace.cli;

import io.millrace.cli.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The top-level command {@code millctl}, with its help text and the option {@code --version}. {@link Millctl} lists its
 * subcommands.
 */
@Command(
        name = "millctl",
        customSynopsis = "millctl COMMAND [OPTIONS]",
        description = "Manage the Millrace that runs on this machine, or the one that --admin names.",
        versionProvider = Version.class,
        commandListHeading = "Commands:%n",
        footer = {"Exit: 0 success, 1 failure, 2 usage or config, 3 unreachable, 75 in progress."})
final class TopLevelCommand extends CommandGroup {
    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version of millctl.")
    @SuppressWarnings("UnusedVariable") // evaluated by Picocli
    private boolean version;
}
