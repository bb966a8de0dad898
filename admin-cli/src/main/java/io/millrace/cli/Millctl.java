package io.millrace.cli;

import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandClock;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.Console;
import io.millrace.cli.command.DataStream;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.GlobalOptions;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.ProcessEnvironment;
import io.millrace.cli.command.cache.CacheCurveCommand;
import io.millrace.cli.command.cache.CacheExportCommand;
import io.millrace.cli.command.cache.CacheImportCommand;
import io.millrace.cli.command.cache.CacheListCommand;
import io.millrace.cli.command.cache.CacheLookupCommand;
import io.millrace.cli.command.cache.CacheWarmCommand;
import io.millrace.cli.command.cache.ExplainCommand;
import io.millrace.cli.command.cache.PurgeChangeCommands;
import io.millrace.cli.command.cache.PurgeCommand;
import io.millrace.cli.command.cache.PurgeListCommand;
import io.millrace.cli.command.cache.PurgeShowCommand;
import io.millrace.cli.command.config.ConfigCheckCommand;
import io.millrace.cli.command.config.ConfigDescribeCommand;
import io.millrace.cli.command.config.ConfigDiffCommand;
import io.millrace.cli.command.config.ConfigGetCommand;
import io.millrace.cli.command.config.ConfigHistoryCommand;
import io.millrace.cli.command.config.ConfigPlanCommand;
import io.millrace.cli.command.config.ConfigReloadCommand;
import io.millrace.cli.command.config.ConfigResetCommand;
import io.millrace.cli.command.config.ConfigRollbackCommand;
import io.millrace.cli.command.config.ConfigSchemaCommand;
import io.millrace.cli.command.config.ConfigSetCommand;
import io.millrace.cli.command.config.ImportAtsCommand;
import io.millrace.cli.command.config.ImportCommands;
import io.millrace.cli.command.fleet.FleetConfigCommands;
import io.millrace.cli.command.help.CompletionCommand;
import io.millrace.cli.command.help.HelpCommand;
import io.millrace.cli.command.server.AlarmListCommand;
import io.millrace.cli.command.server.DashboardCommand;
import io.millrace.cli.command.server.EventsCommand;
import io.millrace.cli.command.server.ExtensionListCommand;
import io.millrace.cli.command.server.FleetStatusCommand;
import io.millrace.cli.command.server.HistoryCommand;
import io.millrace.cli.command.server.HostCommands;
import io.millrace.cli.command.server.MemoryCommand;
import io.millrace.cli.command.server.OriginDownCommand;
import io.millrace.cli.command.server.OriginListCommand;
import io.millrace.cli.command.server.OriginUpCommand;
import io.millrace.cli.command.server.ServerCommands;
import io.millrace.cli.command.server.StatusCommand;
import io.millrace.cli.command.server.TlsCommands;
import io.millrace.cli.command.server.TrafficCommand;
import io.millrace.cli.command.shell.ShellCommand;
import io.millrace.cli.command.storage.StorageOfflineCommand;
import io.millrace.cli.command.storage.StorageOnlineCommand;
import io.millrace.cli.command.storage.StorageStatusCommand;
import io.millrace.cli.command.storage.StoreLocalCommand;
import io.millrace.cli.command.support.SupportBundleCommand;
import io.millrace.cli.command.traffic.LiveLogCommands;
import io.millrace.cli.command.traffic.LogCommands;
import io.millrace.cli.command.traffic.MetricDescribeCommand;
import io.millrace.cli.command.traffic.MetricGetCommand;
import io.millrace.cli.command.traffic.MetricMatchCommand;
import io.millrace.cli.command.traffic.MetricMonitorCommand;
import io.millrace.cli.command.traffic.SignCommand;
import io.millrace.cli.command.traffic.TopCommand;
import io.millrace.cli.command.traffic.ViaCommand;
import io.millrace.cli.render.Paint;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Builds the command line of {@code millctl} and runs one command. The arguments, the environment and the output
 * streams are parameters, so that tests can run commands without a process.
 */
public final class Millctl {
    private static final int HELP_WIDTH = 80;

    private Millctl() {}

    /**
     * Runs one command to its end.
     *
     * @param out receives results
     * @param err receives messages
     * @return the exit code of the process
     */
    public static int run(String[] arguments, ProcessEnvironment environment, PrintStream out, PrintStream err) {
        return run(arguments, environment, out, err, CommandClock::sleepThread);
    }

    static int run(
            String[] arguments, ProcessEnvironment environment, PrintStream out, PrintStream err, CommandClock clock) {
        boolean coloured = environment.isTerminal() && environment.variable("NO_COLOR") == null;
        Console console = new Console(out, err, new Paint(coloured));
        GlobalOptions options = new GlobalOptions();
        Invocation invocation = new Invocation(options, environment, console, clock);
        CommandLine commands = commands(options, invocation);
        commands.setOut(new PrintWriter(out, true, StandardCharsets.UTF_8))
                .setErr(new PrintWriter(err, true, StandardCharsets.UTF_8))
                .setUsageHelpWidth(HELP_WIDTH)
                // A file name may begin with @; it does not denote a file with arguments.
                .setExpandAtFiles(false)
                .setColorScheme(CommandLine.Help.defaultColorScheme(coloured ? Ansi.ON : Ansi.OFF))
                .setParameterExceptionHandler((e, given) -> reportUsage(e, console))
                .setExecutionStrategy(line -> execute(line, invocation))
                .setExecutionExceptionHandler((e, command, result) -> reportFailure(e, console));
        int exitCode = commands.execute(arguments);
        if (!console.flush() && exitCode == ExitCode.OK) {
            // If the reader of a pipe, such as head(1), has closed it, no message is needed.
            if (!(out instanceof DataStream data && data.isReaderGone())) {
                err.println("millctl: standard output could not be written");
            }
            return ExitCode.FAILED;
        }
        return exitCode;
    }

    /**
     * Runs the innermost subcommand of a line. Rejects {@code --node} for a command that does not use the admin API.
     */
    private static int execute(ParseResult line, Invocation invocation) {
        ParseResult last = line;
        while (last.hasSubcommand()) {
            last = last.subcommand();
        }
        Object command = last.commandSpec().userObject();
        boolean usesAdminApi = command instanceof ApiCommand || command instanceof ShellCommand;
        if (invocation.node() != null && !usesAdminApi && !last.isUsageHelpRequested()) {
            throw new ParameterException(
                    last.commandSpec().commandLine(), "--node is only for commands that query the admin API");
        }
        return new CommandLine.RunLast().execute(line);
    }

    /** Returns the tree of all commands. Each command receives the same invocation. */
    static CommandLine commands(GlobalOptions options, Invocation invocation) {
        return new CommandLine(new TopLevelCommand())
                .addMixin("global", options)
                .addSubcommand(new StatusCommand(invocation))
                .addSubcommand(new MemoryCommand(invocation))
                .addSubcommand(config(invocation))
                .addSubcommand(new ExplainCommand(invocation))
                .addSubcommand(purge(invocation))
                .addSubcommand(cache(invocation))
                .addSubcommand(new CommandLine(new CommandGroup.Server())
                        .addSubcommand(new ServerCommands.Status(invocation))
                        .addSubcommand(new ServerCommands.Drain(invocation))
                        .addSubcommand(new ServerCommands.Restart(invocation))
                        .addSubcommand(new ServerCommands.Threads(invocation)))
                .addSubcommand(new CommandLine(new CommandGroup.Storage())
                        .addSubcommand(new StorageStatusCommand(invocation))
                        .addSubcommand(new StorageOfflineCommand(invocation))
                        .addSubcommand(new StorageOnlineCommand(invocation)))
                .addSubcommand(new CommandLine(new CommandGroup.Origin())
                        .addSubcommand(new OriginListCommand(invocation))
                        .addSubcommand(new OriginDownCommand(invocation))
                        .addSubcommand(new OriginUpCommand(invocation)))
                .addSubcommand(new CommandLine(new CommandGroup.Extension())
                        .addSubcommand(new ExtensionListCommand(invocation)))
                .addSubcommand(new CommandLine(new CommandGroup.Fleet())
                        .addSubcommand(new FleetStatusCommand(invocation))
                        .addSubcommand(new CommandLine(new CommandGroup.FleetConfig())
                                .addSubcommand(new FleetConfigCommands.Push(invocation))
                                .addSubcommand(new FleetConfigCommands.Status(invocation))
                                .addSubcommand(new FleetConfigCommands.History(invocation))
                                .addSubcommand(new FleetConfigCommands.Rollback(invocation))
                                .addSubcommand(new FleetConfigCommands.Keygen(invocation))))
                .addSubcommand(new CommandLine(new CommandGroup.Host())
                        .addSubcommand(new HostCommands.ListAll(invocation))
                        .addSubcommand(new HostCommands.Show(invocation))
                        .addSubcommand(new HostCommands.Clear(invocation)))
                .addSubcommand(new CommandLine(new CommandGroup.Tls())
                        .addSubcommand(new TlsCommands.ListAll(invocation))
                        .addSubcommand(new TlsCommands.Show(invocation))
                        .addSubcommand(new TlsCommands.Check(invocation))
                        .addSubcommand(new TlsCommands.Renew(invocation)))
                .addSubcommand(new CommandLine(new CommandGroup.Import())
                        .addSubcommand(new ImportAtsCommand(invocation))
                        .addSubcommand(new ImportCommands.Nginx(invocation))
                        .addSubcommand(new ImportCommands.Varnish(invocation))
                        .addSubcommand(new ImportCommands.Squid(invocation)))
                .addSubcommand(new CommandLine(new CommandGroup.Store())
                        .addSubcommand(new StoreLocalCommand.Check(invocation))
                        .addSubcommand(new StoreLocalCommand.Dump(invocation))
                        .addSubcommand(new StoreLocalCommand.Stat(invocation)))
                .addSubcommand(new CommandLine(new CommandGroup.Metric())
                        .addSubcommand(new MetricGetCommand(invocation))
                        .addSubcommand(new MetricMatchCommand(invocation))
                        .addSubcommand(new MetricDescribeCommand(invocation))
                        .addSubcommand(new MetricMonitorCommand(invocation)))
                .addSubcommand(new CommandLine(new CommandGroup.Log())
                        .addSubcommand(new LogCommands.Tail(invocation))
                        .addSubcommand(new LogCommands.Cat(invocation))
                        .addSubcommand(new LogCommands.Stats(invocation))
                        .addSubcommand(new LiveLogCommands.Follow(invocation))
                        .addSubcommand(new LiveLogCommands.Slow(invocation))
                        .addSubcommand(new LiveLogCommands.Failed(invocation))
                        .addSubcommand(new LiveLogCommands.Refused(invocation)))
                .addSubcommand(new TopCommand(invocation))
                .addSubcommand(new TrafficCommand(invocation))
                .addSubcommand(new HistoryCommand(invocation))
                .addSubcommand(new EventsCommand(invocation))
                .addSubcommand(
                        new CommandLine(new CommandGroup.Alarm()).addSubcommand(new AlarmListCommand(invocation)))
                .addSubcommand(new DashboardCommand(invocation))
                .addSubcommand(new ViaCommand(invocation))
                .addSubcommand(new SignCommand(invocation))
                .addSubcommand(
                        new CommandLine(new CommandGroup.Support()).addSubcommand(new SupportBundleCommand(invocation)))
                .addSubcommand(new ShellCommand(invocation, Millctl::runInShell))
                .addSubcommand(new CompletionCommand(invocation))
                .addSubcommand(new HelpCommand(invocation));
    }

    private static CommandLine config(Invocation invocation) {
        return new CommandLine(new CommandGroup.Config())
                .addSubcommand(new ConfigGetCommand(invocation))
                .addSubcommand(new ConfigDescribeCommand(invocation))
                .addSubcommand(new ConfigDiffCommand(invocation))
                .addSubcommand(new ConfigSetCommand(invocation))
                .addSubcommand(new ConfigResetCommand(invocation))
                .addSubcommand(new ConfigCheckCommand(invocation))
                .addSubcommand(new ConfigPlanCommand(invocation))
                .addSubcommand(new ConfigReloadCommand(invocation))
                .addSubcommand(new ConfigHistoryCommand(invocation))
                .addSubcommand(new ConfigRollbackCommand(invocation))
                .addSubcommand(new ConfigSchemaCommand(invocation));
    }

    /** Runs a command line of {@code millctl shell}, with the output streams of the shell. */
    private static int runInShell(Invocation shell, List<String> words) {
        return run(
                words.toArray(new String[0]),
                shell.environment(),
                shell.console().out(),
                shell.console().err(),
                shell.clock());
    }

    private static CommandLine purge(Invocation invocation) {
        return new CommandLine(new PurgeCommand(invocation))
                .addSubcommand(new PurgeListCommand(invocation))
                .addSubcommand(new PurgeShowCommand(invocation))
                .addSubcommand(new PurgeChangeCommands.Undo(invocation))
                .addSubcommand(new PurgeChangeCommands.Cancel(invocation));
    }

    private static CommandLine cache(Invocation invocation) {
        return new CommandLine(new CommandGroup.Cache())
                .addSubcommand(new CacheLookupCommand(invocation))
                .addSubcommand(new CacheListCommand(invocation))
                .addSubcommand(new CacheCurveCommand(invocation))
                .addSubcommand(new CacheWarmCommand(invocation))
                .addSubcommand(new CacheExportCommand(invocation))
                .addSubcommand(new CacheImportCommand(invocation))
                .addSubcommand(new PurgeCommand(invocation));
    }

    private static int reportUsage(ParameterException e, Console console) {
        CommandLine command = e.getCommandLine();
        console.say("millctl: " + e.getMessage());
        UnmatchedArgumentException.printSuggestions(e, command.getErr());
        console.say("  try: " + command.getCommandSpec().qualifiedName() + " --help");
        return ExitCode.USAGE;
    }

    private static int reportFailure(Exception e, Console console) {
        if (e instanceof CommandFailure failure) {
            console.report(failure);
            return failure.exitCode();
        }
        console.say("millctl: internal error (please report it): " + e);
        return ExitCode.FAILED;
    }
}
