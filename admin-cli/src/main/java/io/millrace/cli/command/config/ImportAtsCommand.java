package io.millrace.cli.command.config;

import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.LocalRun;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command {@code millctl import ats}. It runs {@code bin/millrace import ats}, which converts a configuration
 * directory of Traffic Server. Confined to one thread.
 */
@Command(
        name = "ats",
        abbreviateSynopsis = true,
        description = {
            "Translate Apache Traffic Server's configuration to millrace.yaml.",
            "Prints it, or writes it to a file, and reports the result of every line.",
            "Exit code 0 all mapped, 1 some lines not mapped, 2 errors in the files."
        },
        footer = {"", "Example: millctl import ats /etc/trafficserver --out millrace.yaml"})
public final class ImportAtsCommand implements Callable<Integer> {
    @Parameters(paramLabel = "DIR", description = "The directory with records.yaml, remap.config and so on.")
    private String directory = "";

    @Option(names = "--out", paramLabel = "FILE", description = "Write to this file instead of standard output.")
    private String out = "";

    @Option(names = "--force", description = "Overwrite FILE if it exists.")
    private boolean force;

    @Option(
            names = "--prefix",
            paramLabel = "PATH",
            description = "Installation directory of Traffic Server, for its relative paths.")
    private String prefix = "";

    private final Invocation invocation;

    public ImportAtsCommand(Invocation invocation) {
        this.invocation = invocation;
    }

    @Override
    public Integer call() throws CommandFailure {
        List<String> arguments = new ArrayList<>(List.of("import", "ats"));
        if (!out.isEmpty()) {
            arguments.add("--out=" + out);
        }
        if (force) {
            arguments.add("--force");
        }
        if (!prefix.isEmpty()) {
            arguments.add("--prefix=" + prefix);
        }
        if (invocation.isJson()) {
            arguments.add("--json");
        }
        arguments.add("--");
        arguments.add(directory);
        return LocalRun.run(invocation, arguments);
    }
}
