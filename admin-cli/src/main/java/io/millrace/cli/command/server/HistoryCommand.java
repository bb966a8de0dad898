package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.past.FiguresView;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "history",
        abbreviateSynopsis = true,
        description = {
            "Show figures of the past: requests, hits, errors, latency.",
            "The launcher records them every 10 s; admin.history sets how much is kept."
        },
        footer = {"", "Example: millctl history --last 24h"})
public final class HistoryCommand extends ApiCommand {
    private static final int DIGITS_MAX = 6;

    /** Durations that one line of the table may cover, in seconds. */
    private static final long[] STEPS = {
        10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 604_800
    };

    private static final int LINES_MAX = 30;

    @Option(
            names = "--last",
            paramLabel = "SPAN",
            description = "Time before now, such as 15min, 24h or 7d; 1h by default.")
    private String last = "1h";

    @Option(
            names = "--step",
            paramLabel = "SPAN",
            description = "Time of a line, such as 1min; by default at most 30 lines.")
    private @Nullable String step;

    public HistoryCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        seconds("--last", last);
        if (step != null) {
            seconds("--step", step);
        }
    }

    private static long seconds(String option, String text) throws CommandFailure {
        int digits = 0;
        while (digits < text.length() && text.charAt(digits) >= '0' && text.charAt(digits) <= '9') {
            digits++;
        }
        long number = digits > 0 && digits <= DIGITS_MAX ? Long.parseLong(text.substring(0, digits)) : 0;
        long seconds = number * unit(text.substring(digits));
        if (seconds == 0) {
            throw new CommandFailure(
                    ExitCode.USAGE, option + ": '" + text + "' is not a time, expected for example 15min, 24h or 7d");
        }
        return seconds;
    }

    /** Returns the number of seconds in a unit of time; 0 for an unknown unit. */
    private static long unit(String word) {
        return switch (word) {
            case "s" -> 1;
            case "m", "min" -> 60;
            case "h" -> 3600;
            case "d" -> 86_400;
            default -> 0;
        };
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        long span = seconds("--last", last);
        long chosen = step == null ? step(span) : seconds("--step", step);
        AdminResponse response = client.get("/v1/history?from=" + span + "s&step=" + chosen + "s");
        show(response, FiguresView.lines(answered(response), console().paint()));
        return ExitCode.OK;
    }

    /**
     * Returns the shortest step with which a table of {@code span} seconds has about {@link #LINES_MAX} lines at most.
     * If there is none, because the span exceeds 217 days, returns the longest step.
     */
    private static long step(long span) {
        for (long candidate : STEPS) {
            if (span / candidate <= LINES_MAX) {
                return candidate;
            }
        }
        return STEPS[STEPS.length - 1];
    }
}
