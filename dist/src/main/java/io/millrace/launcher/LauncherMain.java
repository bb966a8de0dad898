package io.millrace.launcher;

import io.millrace.launcher.build.BuildVersion;
import io.millrace.launcher.build.VersionCommand;
import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.FileFailure;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.init.InitCommand;
import io.millrace.launcher.init.TerminalInput;
import io.millrace.launcher.log.LogCommand;
import io.millrace.worker.WorkerMain;
import io.millrace.worker.log.ProcessLog;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** The main class of the command {@code millrace}, with the subcommands {@code run}, {@code check} and others. */
@Command(
        name = "millrace",
        description = "A caching HTTP proxy.",
        mixinStandardHelpOptions = true,
        versionProvider = LauncherMain.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        footer = {"", "First steps: millrace run --demo, or millrace init and millrace run."})
public final class LauncherMain {
    LauncherMain() {}

    public static void main(String[] arguments) {
        ProcessLog.install();
        CommandLine line = commandLine(WorkerMain.class.getName());
        // Configurations and reports are UTF-8 in every locale.
        line.setOut(new PrintWriter(System.out, true, StandardCharsets.UTF_8));
        line.setErr(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
        System.exit(line.execute(arguments));
    }

    /** @param workerClass main class of the workers that {@code run} starts */
    static CommandLine commandLine(String workerClass) {
        return commandLine(workerClass, System.in, System.out);
    }

    /**
     * @param in standard input of commands that read a stream
     * @param out output of commands that print a stream
     */
    static CommandLine commandLine(String workerClass, InputStream in, PrintStream out) {
        CommandLine line = new CommandLine(new LauncherMain());
        line.addSubcommand(new RunCommand(workerClass));
        line.addSubcommand(new InitCommand(TerminalInput::open));
        line.addSubcommand(new CheckCommand());
        line.addSubcommand(new SchemaCommand());
        line.addSubcommand(new StoreCommand());
        line.addSubcommand(new LogCommand(in, out));
        line.addSubcommand(new ImportCommand());
        line.addSubcommand(new ArchiveCommand());
        line.addSubcommand(new VersionCommand());
        line.setCaseInsensitiveEnumValuesAllowed(true);
        // An argument that begins with @ is used as it is. By default, picocli reads arguments from the file of that
        // name.
        line.setExpandAtFiles(false);
        line.setExecutionExceptionHandler((exception, command, parsed) -> {
            if (exception instanceof LaunchException launch) {
                command.getErr().println("millrace: " + launch.getMessage());
                return launch.exitCode();
            }
            Throwable cause = exception instanceof UncheckedIOException ? exception.getCause() : exception;
            if (cause instanceof IOException failure) {
                command.getErr().println("millrace: " + FileFailure.text(failure));
                return ExitCode.FAILED;
            }
            throw exception;
        });
        return line;
    }

    /** The output of {@code --version}. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {
                "Millrace " + BuildVersion.ofJar(),
                "Java " + System.getProperty("java.version") + " (" + System.getProperty("java.vendor") + ")"
            };
        }
    }
}
