package io.millrace.cli.command.traffic;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.client.MetricSample;
import io.millrace.cli.client.NamePattern;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.MetricView;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "match",
        abbreviateSynopsis = true,
        description = "Show the metrics whose names match an expression.",
        footer = {"", "Example: millctl metric match 'origin_.*_total'"})
public final class MetricMatchCommand extends ApiCommand {
    @Parameters(paramLabel = "REGEX", arity = "1..*", description = "A regular expression.")
    private List<String> expressions = List.of();

    private final List<NamePattern> patterns = new ArrayList<>();

    public MetricMatchCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        for (String expression : expressions) {
            try {
                patterns.add(NamePattern.of(expression));
            } catch (IllegalArgumentException e) {
                throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()));
            }
        }
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/metrics");
        if (!response.isSuccess()) {
            throw refused(response);
        }
        List<MetricSample> found = new ArrayList<>();
        for (MetricSample sample : MetricSample.parse(response.text())) {
            if (isMatched(sample.name())) {
                found.add(sample);
            }
        }
        if (invocation().isJson()) {
            console().json(JsonText.metrics(found));
        } else {
            console().data(MetricView.lines(found));
        }
        if (found.isEmpty()) {
            console().say("millctl: no metric name matches");
            return ExitCode.FAILED;
        }
        return ExitCode.OK;
    }

    private boolean isMatched(String name) {
        for (NamePattern pattern : patterns) {
            if (pattern.isFoundIn(name)) {
                return true;
            }
        }
        return false;
    }
}
