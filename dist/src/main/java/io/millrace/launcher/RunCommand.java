package io.millrace.launcher;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code millrace run}: the launcher. */
@Command(
        name = "run",
        description = "Starts the proxy and keeps it running until SIGTERM or Ctrl-C.",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:stopped, and every request was answered or had its time",
            "1:could not start",
            "2:wrong usage, or problems in the configuration",
            "143:stopped at once, by a second signal"
        })
final class RunCommand implements Callable<Integer> {
    /** Where the traffic goes comes from one place. */
    private static final class Source {
        @Option(names = "--demo", description = "Serve a small site that comes with Millrace.")
        private boolean demo;

        @Option(
                names = "--origin",
                paramLabel = "URL",
                description = "Serve this origin for every host, without a file.")
        private @Nullable String origin;

        @Option(
                names = "--config",
                paramLabel = "FILE",
                description = "Configuration file. Without it: ./millrace.yaml, else /etc/millrace/millrace.yaml.")
        private @Nullable Path config;
    }

    @ArgGroup(exclusive = true)
    private @Nullable Source source;

    @Option(
            names = "--listen",
            paramLabel = "ADDRESS",
            description = "Listen here, in place of what the file says; may be repeated. Such as :8080 or 127.0.0.1:0.")
    private List<String> listen = List.of();

    @Option(
            names = "--state",
            paramLabel = "DIR",
            description = "Where cache, logs and sockets live that the configuration does not place elsewhere.")
    private @Nullable Path state;

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Set a key over the file's; may be repeated.")
    private Map<String, String> set = Map.of();

    private final String workerClass;

    /** @param workerClass main class of the worker */
    RunCommand(String workerClass) {
        this.workerClass = workerClass;
    }

    @Override
    public Integer call() throws Exception {
        if (state != null && state.toString().isEmpty()) {
            throw new LaunchException("--state is empty; it names a directory", ExitCode.USAGE);
        }
        Source from = source == null ? new Source() : source;
        LaunchOptions options = new LaunchOptions(from.demo, from.origin, listen, from.config, state, set);
        return new Launcher(options, workerClass, System.out).run();
    }
}
