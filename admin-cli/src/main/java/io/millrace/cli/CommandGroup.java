package io.millrace.cli;

import io.millrace.cli.command.ExitCode;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that only groups subcommands. Called without a subcommand, it prints the list and fails. */
abstract class CommandGroup implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by Picocli before call()
    private CommandSpec spec;

    @Override
    public final Integer call() {
        CommandLine self = spec.commandLine();
        PrintWriter err = self.getErr();
        err.println("millctl: the command is missing");
        self.usage(err, self.getColorScheme());
        return ExitCode.USAGE;
    }

    @Command(
            name = "config",
            customSynopsis = "millctl config COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Show and change the configuration.")
    static final class Config extends CommandGroup {}

    @Command(
            name = "cache",
            customSynopsis = "millctl cache COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Show, purge, warm and copy stored responses.")
    static final class Cache extends CommandGroup {}

    @Command(
            name = "storage",
            customSynopsis = "millctl storage COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Show storage paths, and take them offline or online.")
    static final class Storage extends CommandGroup {}

    @Command(
            name = "server",
            customSynopsis = "millctl server COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Show, drain and replace the serving process.")
    static final class Server extends CommandGroup {}

    @Command(
            name = "fleet",
            customSynopsis = "millctl fleet COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = {
                "Show the nodes that share purges and configuration with this one.",
                "With --node NAME or --node all, commands that only query ask other nodes:",
                "millctl --node all origin list."
            })
    static final class Fleet extends CommandGroup {}

    @Command(
            name = "config",
            customSynopsis = "millctl fleet config COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Share a signed configuration with all nodes of the fleet.")
    static final class FleetConfig extends CommandGroup {}

    @Command(
            name = "origin",
            customSynopsis = "millctl origin COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Show groups of origins, and stop or resume requests to hosts.")
    static final class Origin extends CommandGroup {}

    @Command(
            name = "extension",
            customSynopsis = "millctl extension COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Show extensions.")
    static final class Extension extends CommandGroup {}

    @Command(
            name = "host",
            customSynopsis = "millctl host COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Show and clear single origins and cached addresses.")
    static final class Host extends CommandGroup {}

    @Command(
            name = "tls",
            customSynopsis = "millctl tls COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Show, check and renew TLS certificates.")
    static final class Tls extends CommandGroup {}

    @Command(
            name = "import",
            customSynopsis = "millctl import COMMAND PATH [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Translate another proxy's configuration into one of Millrace.")
    static final class Import extends CommandGroup {}

    @Command(
            name = "store",
            customSynopsis = "millctl store COMMAND PATH [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Inspect a storage path that no running proxy has open.")
    static final class Store extends CommandGroup {}

    @Command(
            name = "support",
            customSynopsis = "millctl support COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Collect data for a bug report.")
    static final class Support extends CommandGroup {}

    @Command(
            name = "log",
            customSynopsis = "millctl log COMMAND [FILE...] [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Read access logs, and requests of the running proxy.")
    static final class Log extends CommandGroup {}

    @Command(
            name = "alarm",
            customSynopsis = "millctl alarm COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Show alarms.")
    static final class Alarm extends CommandGroup {}

    @Command(
            name = "metric",
            customSynopsis = "millctl metric COMMAND [OPTIONS]",
            commandListHeading = "Commands:%n",
            description = "Read metrics.")
    static final class Metric extends CommandGroup {}
}
