package io.millrace.cli.command;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The options of every command, before or after its name. Filled by Picocli. */
public final class GlobalOptions {
    @Option(
            names = "--admin",
            paramLabel = "PATH|URL",
            scope = ScopeType.INHERIT,
            description = "Admin socket, state directory, or http://HOST:PORT.")
    @Nullable
    String admin;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description = "File with the token for the admin API over TCP.")
    @Nullable
    Path tokenFile;

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
