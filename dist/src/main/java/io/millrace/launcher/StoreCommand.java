package io.millrace.launcher;

import io.millrace.launcher.exit.ExitCode;
import io.millrace.store.tool.CheckReport;
import io.millrace.store.tool.StoreCheck;
import io.millrace.store.tool.StoreDump;
import io.millrace.store.tool.StoreStat;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command {@code millrace store check|dump|stat PATH}: inspects a storage path that no process has open. */
@Command(
        name = "store",
        description = "Inspects a storage path that no running proxy has open.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {StoreCommand.Check.class, StoreCommand.Dump.class, StoreCommand.Stat.class})
final class StoreCommand implements Runnable {
    /** Exit code for a path that is in use or is not a readable storage path. */
    private static final int UNREADABLE = 3;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "the command is missing: check, dump or stat");
    }

    /** The base class of the subcommands: the parameter PATH, and the handling of read errors. */
    abstract static class PathCommand implements Callable<Integer> {
        @Spec
        @SuppressWarnings("NullAway.Init")
        private CommandSpec spec;

        @Parameters(paramLabel = "PATH", description = "The storage path, such as /var/cache/millrace.")
        @SuppressWarnings("NullAway.Init")
        private Path path;

        @Option(names = "--json", description = "Print JSON, for programs.")
        private boolean json;

        abstract int read(Path directory, boolean asJson, PrintWriter out) throws IOException;

        @Override
        public final Integer call() {
            PrintWriter out = spec.commandLine().getOut();
            try {
                return read(path, json, out);
            } catch (IOException e) {
                spec.commandLine().getErr().println("millrace: " + e.getMessage());
                return UNREADABLE;
            } finally {
                out.flush();
            }
        }
    }

    @Command(
            name = "check",
            description = "Reads every byte and compares records, summaries and index.",
            mixinStandardHelpOptions = true,
            exitCodeListHeading = "%nExit codes:%n",
            exitCodeList = {
                "0:sound",
                "1:damaged or inconsistent; a proxy skips damaged records",
                "2:wrong arguments",
                "3:in use, or cannot be read"
            })
    static final class Check extends PathCommand {
        @Override
        int read(Path directory, boolean asJson, PrintWriter out) throws IOException {
            CheckReport report = StoreCheck.check(directory);
            out.println(asJson ? report.toJson() : report.toString().stripTrailing());
            return report.isSound() ? ExitCode.OK : ExitCode.FAILED;
        }
    }

    @Command(name = "dump", description = "Lists the records, one on each line.", mixinStandardHelpOptions = true)
    static final class Dump extends PathCommand {
        @Option(names = "--keys-only", description = "Only the keys of the records.")
        private boolean keysOnly;

        @Option(names = "--prefix", paramLabel = "TEXT", description = "Only records whose key begins with TEXT.")
        private String prefix = "";

        @Option(names = "--segment", paramLabel = "N", description = "Only this segment.")
        private int segment = -1;

        @Override
        int read(Path directory, boolean asJson, PrintWriter out) throws IOException {
            StoreDump.dump(directory, new StoreDump.Options(keysOnly, asJson, prefix, segment), out);
            return ExitCode.OK;
        }
    }

    @Command(
            name = "stat",
            description = "Counts segments, bytes and objects, without reading bodies.",
            mixinStandardHelpOptions = true)
    static final class Stat extends PathCommand {
        @Override
        int read(Path directory, boolean asJson, PrintWriter out) throws IOException {
            StoreStat stat = StoreStat.of(directory);
            out.println(asJson ? stat.toJson() : stat.toString().stripTrailing());
            return ExitCode.OK;
        }
    }
}
