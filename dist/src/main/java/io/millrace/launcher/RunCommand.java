package io.millrace.launcher;

import io.millrace.launcher.config.LaunchOptions;
import io.millrace.launcher.config.TlsSite;
import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.LaunchException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code millrace run}: starts the launcher. */
@Command(
        name = "run",
        description = "Starts the proxy and keeps it running until SIGTERM or Ctrl-C.",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:stopped; every request was answered, or timeouts.drain had passed",
            "1:could not start",
            "2:wrong usage, or problems in the configuration",
            "143:stopped at once, by a second signal"
        })
final class RunCommand implements Callable<Integer> {
    /** The options that select the origin; at most one of them is allowed. */
    private static final class Source {
        @Option(names = "--demo", description = "Serve a built-in sample site.")
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
            description = "Listening address instead of those in the file, such as :8080; may be repeated.")
    private List<String> listen = List.of();

    @Option(
            names = "--domain",
            paramLabel = "NAME",
            description = "Serve HTTPS for this name with an automatically issued certificate. May be repeated."
                    + " Listens on :443 and :80. Needs --accept-terms, and --origin or --demo.")
    private List<String> domains = List.of();

    @Option(names = "--https", paramLabel = "ADDRESS", description = "HTTPS address instead of :443, with --domain.")
    private String https = TlsSite.HTTPS_DEFAULT;

    @Option(
            names = "--email",
            paramLabel = "ADDRESS",
            description = "E-mail address for the issuer of the certificates, with --domain.")
    private @Nullable String email;

    @Option(
            names = "--accept-terms",
            description = "Accept the terms of service of the issuer (Let's Encrypt, unless --set names another).")
    private boolean acceptsTerms;

    @Option(
            names = "--state",
            paramLabel = "DIR",
            description = "Directory for cache, logs and sockets whose paths the configuration does not set.")
    private @Nullable Path state;

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Override a key of the file; may be repeated.")
    private Map<String, String> set = Map.of();

    private final String workerClass;

    /** @param workerClass main class of the worker */
    RunCommand(String workerClass) {
        this.workerClass = workerClass;
    }

    @Override
    public Integer call() throws Exception {
        if (state != null && state.toString().isEmpty()) {
            throw new LaunchException("--state is empty; set it to a directory", ExitCode.USAGE);
        }
        Source from = source == null ? new Source() : source;
        TlsSite site = domains.isEmpty() ? null : new TlsSite(domains, https, email, acceptsTerms);
        if (site != null && from.origin == null && !from.demo) {
            throw new LaunchException(
                    "--domain needs --origin URL or --demo; in a configuration file set tls.acme.names instead",
                    ExitCode.USAGE);
        }
        if (site == null && (acceptsTerms || email != null || !https.equals(TlsSite.HTTPS_DEFAULT))) {
            throw new LaunchException("--https, --email and --accept-terms need --domain NAME", ExitCode.USAGE);
        }
        LaunchOptions options = new LaunchOptions(from.demo, from.origin, listen, from.config, state, set, site);
        return new Launcher(options, workerClass, System.out).run();
    }
}
