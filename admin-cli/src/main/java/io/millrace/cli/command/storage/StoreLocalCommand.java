package io.millrace.cli.command.storage;

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
 * Base class of commands that run {@code bin/millrace store} to examine a storage path on this machine. The command
 * passes on the output and exit code. No running proxy is needed. Confined to one thread.
 */
public abstract class StoreLocalCommand implements Callable<Integer> {
    @Parameters(paramLabel = "PATH", description = "A storage path that no running proxy has open.")
    private String path = "";

    private final Invocation invocation;
    private final String verb;

    StoreLocalCommand(Invocation invocation, String verb) {
        this.invocation = invocation;
        this.verb = verb;
    }

    /** Returns the arguments after the path. */
    List<String> options() {
        return List.of();
    }

    @Override
    public final Integer call() throws CommandFailure {
        List<String> arguments = new ArrayList<>(List.of("store", verb, path));
        arguments.addAll(options());
        if (invocation.isJson()) {
            arguments.add("--json");
        }
        return LocalRun.run(invocation, arguments);
    }

    @Command(
            name = "check",
            abbreviateSynopsis = true,
            description = {
                "Read every byte of a storage path and compare records and index.",
                "Exit code 0 no damage, 1 damage, 3 in use or not readable."
            },
            footer = {"", "Example: millctl store check /var/cache/millrace"})
    public static final class Check extends StoreLocalCommand {
        public Check(Invocation invocation) {
            super(invocation, "check");
        }
    }

    @Command(
            name = "dump",
            abbreviateSynopsis = true,
            description = "List the records of a storage path, one on each line.",
            footer = {"", "Example: millctl store dump /var/cache/millrace --keys-only"})
    public static final class Dump extends StoreLocalCommand {
        @Option(names = "--keys-only", description = "Only the keys of the records.")
        private boolean keysOnly;

        @Option(names = "--prefix", paramLabel = "TEXT", description = "Only records whose key begins with TEXT.")
        private String prefix = "";

        @Option(names = "--segment", paramLabel = "N", description = "Only this segment.")
        private int segment = -1;

        public Dump(Invocation invocation) {
            super(invocation, "dump");
        }

        @Override
        List<String> options() {
            List<String> options = new ArrayList<>();
            if (keysOnly) {
                options.add("--keys-only");
            }
            if (!prefix.isEmpty()) {
                options.add("--prefix=" + prefix);
            }
            if (segment >= 0) {
                options.add("--segment=" + segment);
            }
            return options;
        }
    }

    @Command(
            name = "stat",
            abbreviateSynopsis = true,
            description = "Count segments, bytes and objects of a storage path.",
            footer = {"", "Example: millctl store stat /var/cache/millrace"})
    public static final class Stat extends StoreLocalCommand {
        public Stat(Invocation invocation) {
            super(invocation, "stat");
        }
    }
}
