package io.millrace.cli.command;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The options that every command accepts, before or after its name. Picocli sets the fields. */
public final class GlobalOptions {
    @Option(
            names = "--admin",
            paramLabel = "PATH|URL",
            scope = ScopeType.INHERIT,
            description = "Admin socket, state directory, or http[s]://HOST:PORT.")
    @Nullable
    String admin;

    @Option(
            names = "--node",
            paramLabel = "NAME|all",
            hidden = true,
            scope = ScopeType.INHERIT,
            description = "Ask this node of the fleet, or all live nodes.")
    @Nullable
    String node;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description = "File with the token for the admin API over TCP.")
    @Nullable
    Path tokenFile;

    @Option(
            names = "--ca-file",
            paramLabel = "FILE",
            hidden = true,
            scope = ScopeType.INHERIT,
            description = "With https: PEM file of the authorities of the server's certificate.")
    @Nullable
    Path caFile;

    @Option(
            names = "--client-certificate",
            paramLabel = "FILE",
            hidden = true,
            scope = ScopeType.INHERIT,
            description = "With https: PEM file with the certificate of this client.")
    @Nullable
    Path clientCertificate;

    @Option(
            names = "--client-key",
            paramLabel = "FILE",
            hidden = true,
            scope = ScopeType.INHERIT,
            description = "With https: PEM file with the private key of the client certificate.")
    @Nullable
    Path clientKey;

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            scope = ScopeType.INHERIT,
            converter = DurationConverter.class,
            description = "Longest wait for an answer, such as 10s.")
    @Nullable
    Duration timeout;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            scope = ScopeType.INHERIT,
            converter = OutputFormat.Converter.class,
            completionCandidates = OutputFormat.Words.class,
            description = "table (default) or json.")
    OutputFormat output = OutputFormat.TABLE;

    @Option(
            names = {"-w", "--watch"},
            paramLabel = "SECONDS",
            arity = "0..1",
            fallbackValue = WatchInterval.DEFAULT_SECONDS,
            scope = ScopeType.INHERIT,
            converter = WatchInterval.class,
            preprocessor = WatchInterval.class,
            description = "Repeat the command, by default every 2 s.")
    @Nullable
    Duration watch;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            scope = ScopeType.INHERIT,
            description = "Show this help.")
    boolean help;
}
