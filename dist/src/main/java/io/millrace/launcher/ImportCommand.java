package io.millrace.launcher;

import io.millrace.launcher.ats.AtsImport;
import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.importing.ImportReport;
import io.millrace.launcher.importing.ImportResult;
import io.millrace.launcher.nginx.NginxImport;
import io.millrace.launcher.squid.SquidImport;
import io.millrace.launcher.varnish.VarnishImport;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code millrace import PROXY PATH}: translates the configuration of another proxy. */
@Command(
        name = "import",
        description = "Translates another proxy's configuration into one of Millrace.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            ImportCommand.Ats.class,
            ImportCommand.Nginx.class,
            ImportCommand.Varnish.class,
            ImportCommand.Squid.class
        })
final class ImportCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "the command is missing: "
                        + String.join(", ", spec.subcommands().keySet()));
    }

    /** The base class of the subcommands: their common options, and the output of the result. */
    @Command(
            mixinStandardHelpOptions = true,
            exitCodeListHeading = "%nExit codes:%n",
            exitCodeList = {
                "0:every line is mapped",
                "1:some lines are not mapped; the result can be used",
                "2:the files are broken, or nothing could be written"
            })
    abstract static class Import implements Callable<Integer> {
        @Spec
        @SuppressWarnings("NullAway.Init")
        private CommandSpec spec;

        @Option(names = "--out", paramLabel = "FILE", description = "Write to this file instead of standard output.")
        private @Nullable Path out;

        @Option(names = "--force", description = "Overwrites FILE if it exists.")
        private boolean force;

        @Option(names = "--json", description = "Print the report, including the configuration, as JSON.")
        private boolean json;

        abstract ImportResult read();

        @Override
        public final Integer call() {
            Path file = out;
            if (file != null && Files.exists(file) && !force) {
                return fail(file + " already exists; --force overwrites the file");
            }
            ImportResult result;
            try {
                result = read();
            } catch (RuntimeException e) {
                return fail("internal error (please report it); nothing was written: " + e);
            }
            String yaml = result.yaml();
            if (file != null && yaml != null) {
                try {
                    write(file, yaml);
                } catch (IOException e) {
                    return fail(file + ": cannot be written (" + e + ")");
                }
            }
            report(result, file);
            return yaml == null ? ExitCode.USAGE : result.isWhole() ? ExitCode.OK : ExitCode.FAILED;
        }

        private void report(ImportResult result, @Nullable Path file) {
            PrintWriter stdout = spec.commandLine().getOut();
            PrintWriter stderr = spec.commandLine().getErr();
            String yaml = result.yaml();
            if (json) {
                stdout.println(ImportReport.json(result, file == null || yaml == null ? null : file.toString()));
            } else if (yaml == null) {
                ImportReport.problems(result).forEach(stderr::println);
            } else {
                PrintWriter report = file == null ? stderr : stdout;
                ImportReport.table(result).forEach(report::println);
                if (file == null) {
                    stdout.print(yaml);
                } else {
                    stdout.println("wrote " + file);
                }
            }
            stdout.flush();
            stderr.flush();
        }

        private int fail(String message) {
            spec.commandLine().getErr().println("millrace: " + message);
            return ExitCode.USAGE;
        }

        /** Writes the file. Without {@code --force}, never overwrites a file; with it, replaces the file atomically. */
        private void write(Path file, String yaml) throws IOException {
            if (!force) {
                Files.writeString(file, yaml, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                return;
            }
            Path directory = file.toAbsolutePath().getParent();
            Path temporary = Files.createTempFile(directory == null ? Path.of("/") : directory, ".millrace", ".yaml");
            try {
                Files.writeString(temporary, yaml);
                Files.move(temporary, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(temporary);
            }
        }
    }

    @Command(
            name = "ats",
            description = {
                "Translates Apache Traffic Server's configuration to millrace.yaml.",
                "On standard output or in a file, with a report of the result of",
                "every line."
            })
    static final class Ats extends Import {
        @Parameters(paramLabel = "DIR", description = "The directory, such as /etc/trafficserver.")
        @SuppressWarnings("NullAway.Init")
        private Path directory;

        @Option(
                names = "--prefix",
                paramLabel = "PATH",
                description =
                        "Installation directory of Traffic Server, for its relative paths. Default: derived from DIR.")
        private @Nullable Path prefix;

        @Override
        ImportResult read() {
            return AtsImport.read(directory, prefix);
        }
    }

    @Command(
            name = "nginx",
            description = {
                "Translates nginx's configuration to millrace.yaml.",
                "On standard output or in a file, with a report of the result of",
                "every directive, also in included files."
            })
    static final class Nginx extends Import {
        @Parameters(paramLabel = "PATH", description = "A directory such as /etc/nginx, or a file.")
        @SuppressWarnings("NullAway.Init")
        private Path path;

        @Option(
                names = "--prefix",
                paramLabel = "PATH",
                description = "Directory for relative paths of include. Default: that of the file.")
        private @Nullable Path prefix;

        @Override
        ImportResult read() {
            return NginxImport.read(path, prefix);
        }
    }

    @Command(
            name = "varnish",
            description = {
                "Translates a VCL file of Varnish to millrace.yaml.",
                "On standard output or in a file, with a report of the result of",
                "every statement, also in included files."
            })
    static final class Varnish extends Import {
        @Parameters(paramLabel = "FILE", description = "A VCL file such as /etc/varnish/default.vcl.")
        @SuppressWarnings("NullAway.Init")
        private Path path;

        @Override
        ImportResult read() {
            return VarnishImport.read(path);
        }
    }

    @Command(
            name = "squid",
            description = {
                "Translates Squid's configuration to millrace.yaml.",
                "On standard output or in a file, with a report of the result of",
                "every line, also in included files."
            })
    static final class Squid extends Import {
        @Parameters(paramLabel = "FILE", description = "The file, such as /etc/squid/squid.conf.")
        @SuppressWarnings("NullAway.Init")
        private Path path;

        @Override
        ImportResult read() {
            return SquidImport.read(path);
        }
    }
}
