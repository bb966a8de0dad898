package io.millrace.cli;

import io.millrace.cli.command.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command line's root: what it takes itself, and its help. */
@Command(
        name = "millctl",
        customSynopsis = "millctl COMMAND [OPTIONS]",
        description = "Looks after a running Millrace through its admin API.",
        versionProvider = Version.class,
        commandListHeading = "Commands:%n",
        footer = {
            "Finds the only millrace running here, else name it: --admin, or MILLRACE_ADMIN.",
            "Exit codes: 0 ok, 1 failed, 2 usage or invalid config, 3 not reachable,",
            "75 in progress, 130 interrupted. Data goes to stdout, talk to stderr."
        })
final class MillctlCommand extends CommandGroup {
    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version of millctl.")
    @SuppressWarnings("UnusedVariable") // Picocli acts on it
    private boolean version;
}
