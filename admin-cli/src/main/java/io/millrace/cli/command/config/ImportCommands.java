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

/** The commands {@code millctl import nginx}, {@code varnish} and {@code squid}, which run {@code bin/millrace}. */
public final class ImportCommands {
    private ImportCommands() {}

    /** Base class of the commands, with their common options. Confined to one thread. */
    abstract static class Import implements Callable<Integer> {
        @Option(names = "--out", paramLabel = "FILE", description = "Write to this file instead of standard output.")
        private String out = "";

        @Option(names = "--force", description = "Overwrite FILE if it exists.")
        private boolean force;

        private final Invocation invocation;
        private final String proxy;

        Import(Invocation invocation, String proxy) {
            this.invocation = invocation;
            this.proxy = proxy;
        }

        /** Returns the path of the configuration to import. */
        abstract String path();

        /** Returns the arguments that only the import from this proxy has. */
        List<String> options() {
            return List.of();
        }

        @Override
        public final Integer call() throws CommandFailure {
            List<String> arguments = new ArrayList<>(List.of("import", proxy));
            if (!out.isEmpty()) {
                arguments.add("--out=" + out);
            }
            if (force) {
                arguments.add("--force");
            }
            arguments.addAll(options());
            if (invocation.isJson()) {
                arguments.add("--json");
            }
            arguments.add("--");
            arguments.add(path());
            return LocalRun.run(invocation, arguments);
        }
    }

    /** The command {@code import nginx}. */
    @Command(
            name = "nginx",
            abbreviateSynopsis = true,
            description = {
                "Translate nginx's configuration to millrace.yaml.",
                "Prints it, or writes it to a file, and reports every directive.",
                "Exit code 0 all mapped, 1 some lines not mapped, 2 errors in the files."
            },
            footer = {"", "Example: millctl import nginx /etc/nginx --out millrace.yaml"})
    public static final class Nginx extends Import {
        @Parameters(paramLabel = "PATH", description = "A directory such as /etc/nginx, or a file.")
        private String path = "";

        @Option(names = "--prefix", paramLabel = "PATH", description = "Directory for relative paths of include.")
        private String prefix = "";

        public Nginx(Invocation invocation) {
            super(invocation, "nginx");
        }

        @Override
        String path() {
            return path;
        }

        @Override
        List<String> options() {
            return prefix.isEmpty() ? List.of() : List.of("--prefix=" + prefix);
        }
    }

    /** The command {@code import varnish}. */
    @Command(
            name = "varnish",
            abbreviateSynopsis = true,
            description = {
                "Translate a VCL file of Varnish to millrace.yaml.",
                "Prints it, or writes it to a file, and reports every statement.",
                "Exit code 0 all mapped, 1 some lines not mapped, 2 errors in the files."
            },
            footer = {"", "Example: millctl import varnish default.vcl --out millrace.yaml"})
    public static final class Varnish extends Import {
        @Parameters(paramLabel = "FILE", description = "A VCL file such as /etc/varnish/default.vcl.")
        private String path = "";

        public Varnish(Invocation invocation) {
            super(invocation, "varnish");
        }

        @Override
        String path() {
            return path;
        }
    }

    /** The command {@code import squid}. */
    @Command(
            name = "squid",
            abbreviateSynopsis = true,
            description = {
                "Translate Squid's configuration to millrace.yaml.",
                "Prints it, or writes it to a file, and reports every line.",
                "Exit code 0 all mapped, 1 some lines not mapped, 2 errors in the files."
            },
            footer = {"", "Example: millctl import squid /etc/squid/squid.conf --out millrace.yaml"})
    public static final class Squid extends Import {
        @Parameters(paramLabel = "FILE", description = "The file, such as /etc/squid/squid.conf.")
        private String path = "";

        public Squid(Invocation invocation) {
            super(invocation, "squid");
        }

        @Override
        String path() {
            return path;
        }
    }
}
