package io.millrace.cli.command.traffic;

import io.millrace.cli.client.AdminAddress;
import io.millrace.cli.client.Instances;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.ProcessEnvironment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the access log for the log commands, and parses their option {@code --since}. Stateless. */
final class LogPlaces {
    private static final Path SERVICE_LOGS = Path.of("/var/log/millrace");

    /** Default names of the access log, as text and as binary log. */
    private static final List<String> NAMES = List.of("access.log", "access.blog");

    private LogPlaces() {}

    /**
     * Returns the access log of the instance that {@code --admin} names. Without it, returns the only access log in the
     * standard locations.
     *
     * @throws CommandFailure if no log or more than one is found
     */
    static Path accessLog(Invocation invocation) throws CommandFailure {
        if (invocation.namedAddress() instanceof AdminAddress.UnixSocket named) {
            Path beside = logBeside(named.path());
            if (beside != null) {
                return beside;
            }
        }
        List<Path> found = new ArrayList<>();
        for (String name : NAMES) {
            if (Files.isReadable(SERVICE_LOGS.resolve(name))) {
                found.add(SERVICE_LOGS.resolve(name));
            }
        }
        ProcessEnvironment environment = invocation.environment();
        for (Instances.Candidate candidate : Instances.find(environment.runDirectory(), environment.stateHome())
                .checked()) {
            Path log = logBeside(candidate.socket());
            if (log != null) {
                found.add(log);
            }
        }
        if (found.size() == 1) {
            return found.get(0);
        }
        List<String> next = new ArrayList<>();
        found.forEach(log -> next.add("millctl log ... " + log));
        throw new CommandFailure(
                ExitCode.USAGE,
                found.isEmpty() ? "found no access log; name the file" : "there are several access logs; name the file",
                next.toArray(String[]::new));
    }

    private static @Nullable Path logBeside(Path socket) {
        Path directory = Files.isDirectory(socket) ? socket : socket.getParent();
        for (String name : NAMES) {
            Path log = directory == null ? null : directory.resolve("log").resolve(name);
            if (log != null && Files.isReadable(log)) {
                return log;
            }
        }
        return null;
    }

    /**
     * Parses the option {@code --since} into epoch milliseconds.
     *
     * @param text a time, or a duration before now; null for the earliest possible time
     * @throws IllegalArgumentException if the text is not a time
     */
    static long since(@Nullable String text) {
        if (text == null) {
            return Long.MIN_VALUE;
        }
        try {
            return Instant.parse(text).toEpochMilli();
        } catch (DateTimeException e) {
            return System.currentTimeMillis() - millis(text);
        }
    }

    private static long millis(String text) {
        long factor =
                switch (text.isEmpty() ? ' ' : text.charAt(text.length() - 1)) {
                    case 's' -> 1000;
                    case 'm' -> 60_000;
                    case 'h' -> 3_600_000;
                    case 'd' -> 86_400_000;
                    default -> 0;
                };
        try {
            long number = Long.parseLong(text.substring(0, Math.max(0, text.length() - 1)));
            if (factor > 0 && number >= 0 && number < 100_000) {
                return number * factor;
            }
        } catch (NumberFormatException e) {
            // The exception below reports this problem.
        }
        throw new IllegalArgumentException(
                "--since is a time such as 10m, 2h, 7d or 2026-11-22T10:00:00Z, not: " + text);
    }
}
