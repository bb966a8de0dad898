package io.millrace.cli.command;

import io.millrace.cli.client.AdminAddress;
import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.Instances;
import io.millrace.cli.client.TlsFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** One run of {@code millctl}: its options, environment, console and client. Confined to one thread. */
public final class Invocation {
    /** Timeout of queries. A healthy launcher (the process with the admin API) responds much earlier. */
    public static final Duration QUERY_TIMEOUT = Duration.ofSeconds(10);

    /** Timeout of changes. It exceeds the limit of 30 s in the admin API, so that the API reports a timeout first. */
    public static final Duration CHANGE_TIMEOUT = Duration.ofSeconds(40);

    /** Timeout of storage changes. It exceeds the admin API's own limit for taking a disk offline or online. */
    public static final Duration STORAGE_TIMEOUT = Duration.ofSeconds(80);

    private static final int TOKEN_LENGTH_MAX = 4096;

    private final GlobalOptions options;
    private final ProcessEnvironment environment;
    private final Console console;
    private final CommandClock clock;

    public Invocation(GlobalOptions options, ProcessEnvironment environment, Console console) {
        this(options, environment, console, CommandClock::sleepThread);
    }

    /** @param clock waits between two repetitions of a command */
    public Invocation(GlobalOptions options, ProcessEnvironment environment, Console console, CommandClock clock) {
        this.clock = clock;
        this.options = options;
        this.environment = environment;
        this.console = console;
    }

    public ProcessEnvironment environment() {
        return environment;
    }

    public Console console() {
        return console;
    }

    /** Returns the wait between two repetitions of a command. */
    public CommandClock clock() {
        return clock;
    }

    /** Returns the interval of {@code --watch}; null to run the command once. */
    @Nullable
    public Duration watch() {
        return options.watch;
    }

    /** Returns the value of {@code --node}; null without it. */
    @Nullable
    public String node() {
        return options.node;
    }

    /** Returns the value of {@code --timeout}; {@code otherwise} if the option is not set. */
    public Duration timeout(Duration otherwise) {
        return options.timeout == null ? otherwise : options.timeout;
    }

    public boolean isJson() {
        return options.output == OutputFormat.JSON;
    }

    /** Returns the address in {@code --admin} or {@code MILLRACE_ADMIN}; null if neither is set. */
    @Nullable
    public AdminAddress namedAddress() throws CommandFailure {
        String named = options.admin;
        String by = "--admin";
        if (named == null) {
            named = environment.variable("MILLRACE_ADMIN");
            by = "MILLRACE_ADMIN";
        }
        if (named == null) {
            return null;
        }
        try {
            return AdminAddress.parse(named);
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.USAGE, by + ": " + e.getMessage());
        }
    }

    /** Returns the global options of this run as arguments. The shell passes them to each of its commands. */
    public List<String> sharedArguments() {
        List<String> arguments = new ArrayList<>();
        add(arguments, "--admin", options.admin);
        add(arguments, "--node", options.node);
        add(arguments, "--token-file", options.tokenFile);
        add(arguments, "--ca-file", options.caFile);
        add(arguments, "--client-certificate", options.clientCertificate);
        add(arguments, "--client-key", options.clientKey);
        add(arguments, "--timeout", options.timeout == null ? null : options.timeout.toMillis() + "ms");
        add(arguments, "--output", isJson() ? "json" : null);
        return arguments;
    }

    private static void add(List<String> arguments, String option, @Nullable Object value) {
        if (value != null) {
            arguments.add(option + "=" + value);
        }
    }

    /** Returns a command line for the user that shows the status of the same instance. */
    String statusCommand() {
        return "millctl status" + (options.admin == null ? "" : " --admin " + options.admin);
    }

    /**
     * Returns a client for the instance in {@code --admin} or {@code MILLRACE_ADMIN}. If neither is set, uses the only
     * running instance in the standard locations.
     *
     * @param timeout the timeout if {@code --timeout} is not set
     * @throws CommandFailure if no instance or more than one is running; the message lists them
     */
    AdminClient client(Duration timeout) throws CommandFailure {
        AdminAddress address = namedAddress();
        return clientOf(address == null ? onlyRunning() : address, timeout);
    }

    /**
     * Returns the address in {@code --admin} or {@code MILLRACE_ADMIN}. If neither is set, returns the address of the
     * only running instance in the standard locations; null if none or several are running.
     */
    @Nullable
    public AdminAddress addressIfAny() throws CommandFailure {
        AdminAddress named = namedAddress();
        if (named != null) {
            return named;
        }
        List<Path> running = Instances.find(environment.runDirectory(), environment.stateHome())
                .running();
        return running.size() == 1 ? new AdminAddress.UnixSocket(running.get(0)) : null;
    }

    /**
     * Returns a client for an address.
     *
     * @param timeout the timeout if {@code --timeout} is not set
     */
    public AdminClient clientOf(AdminAddress address, Duration timeout) throws CommandFailure {
        boolean isTcp = address instanceof AdminAddress.Tcp;
        return new AdminClient(
                address,
                isTcp ? token() : null,
                options.timeout == null ? timeout : options.timeout,
                address instanceof AdminAddress.Tcp tcp && tcp.secure() ? tls() : null);
    }

    /** Reads the TLS files that the options name, or the environment variables if an option is not set. */
    private SSLContext tls() throws CommandFailure {
        Path certificate = file(options.clientCertificate, "MILLRACE_ADMIN_CERTIFICATE");
        Path key = file(options.clientKey, "MILLRACE_ADMIN_KEY");
        if ((certificate == null) != (key == null)) {
            throw new CommandFailure(ExitCode.USAGE, "--client-certificate and --client-key go together");
        }
        try {
            return new TlsFiles(file(options.caFile, "MILLRACE_ADMIN_CA"), certificate, key).context();
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()));
        }
    }

    private @Nullable Path file(@Nullable Path option, String variable) {
        String named = option == null ? environment.variable(variable) : null;
        return named == null ? option : Path.of(named);
    }

    /** Returns the address of the only running instance in the standard locations. */
    private AdminAddress onlyRunning() throws CommandFailure {
        Instances instances = Instances.find(environment.runDirectory(), environment.stateHome());
        List<Path> running = instances.running();
        if (running.size() == 1) {
            return new AdminAddress.UnixSocket(running.get(0));
        }
        List<String> next = new ArrayList<>();
        if (running.isEmpty()) {
            for (Instances.Candidate candidate : instances.checked()) {
                next.add(candidate.socket() + ": " + candidate.state().words());
            }
            next.add("start one:    millrace run --config FILE (or run --demo)");
            next.add("name another: millctl --admin PATH ... (or set MILLRACE_ADMIN)");
            throw new CommandFailure(
                    ExitCode.UNREACHABLE, "found no running millrace; checked", next.toArray(String[]::new));
        }
        for (Path socket : running) {
            next.add("millctl --admin " + socket);
        }
        throw new CommandFailure(
                ExitCode.USAGE,
                running.size() + " instances of millrace are running; say which",
                next.toArray(String[]::new));
    }

    /** Returns the token from {@code --token-file} or {@code MILLRACE_ADMIN_TOKEN}; null if neither is set. */
    private @Nullable String token() throws CommandFailure {
        String token;
        String from;
        if (options.tokenFile == null) {
            token = environment.variable("MILLRACE_ADMIN_TOKEN");
            from = "MILLRACE_ADMIN_TOKEN";
        } else {
            token = read(options.tokenFile);
            from = options.tokenFile.toString();
        }
        if (token == null) {
            return null;
        }
        token = token.strip();
        boolean valid = !token.isEmpty() && token.length() <= TOKEN_LENGTH_MAX;
        for (int i = 0; i < token.length(); i++) {
            valid &= token.charAt(i) > ' ' && token.charAt(i) < 0x7f;
        }
        if (!valid) {
            throw new CommandFailure(ExitCode.USAGE, from + ": not a token: one word of visible ASCII is needed");
        }
        return token;
    }

    private static String read(Path file) throws CommandFailure {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (NoSuchFileException e) {
            throw new CommandFailure(ExitCode.USAGE, "--token-file " + file + ": no such file");
        } catch (IOException e) {
            throw new CommandFailure(
                    ExitCode.USAGE, "--token-file " + file + ": cannot be read (" + e.getMessage() + ")");
        }
    }
}
