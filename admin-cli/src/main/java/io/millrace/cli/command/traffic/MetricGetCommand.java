package io.millrace.cli.command.traffic;

import io.millrace.cli.client.AdminAddress;
import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.client.MetricSample;
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
        name = "get",
        abbreviateSynopsis = true,
        description = "Show the values of metrics, one line per set of labels.",
        footer = {"", "Example: millctl metric get millrace_requests_total cache_bytes"})
public final class MetricGetCommand extends ApiCommand {
    @Parameters(
            paramLabel = "NAME",
            arity = "1..*",
            description = {
                "A metric of /metrics; 'millrace_' and '_total' may be left out.",
                "Labels may follow, as in 'requests{result=\"hit\"}'."
            })
    private List<String> names = List.of();

    public MetricGetCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/metrics");
        if (!response.isSuccess()) {
            throw refused(response);
        }
        List<MetricSample> all = MetricSample.parse(response.text());
        List<MetricSample> found = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (String name : names) {
            int before = found.size();
            for (MetricSample sample : all) {
                if (sample.isOf(name) && !found.contains(sample)) {
                    found.add(sample);
                }
            }
            if (before == found.size() && !isAny(found, name)) {
                unknown.add(name);
            }
        }
        if (invocation().isJson()) {
            console().json(JsonText.metrics(found));
        } else {
            console().data(MetricView.lines(found));
        }
        for (String name : unknown) {
            console().say(MetricNames.unknown(name, all));
        }
        if (unknown.isEmpty()) {
            return ExitCode.OK;
        }
        if (client.address() instanceof AdminAddress.UnixSocket socket) {
            console().say("  see all: curl -s --unix-socket " + socket + " http://localhost/metrics");
        }
        return ExitCode.FAILED;
    }

    private static boolean isAny(List<MetricSample> samples, String name) {
        for (MetricSample sample : samples) {
            if (sample.isOf(name)) {
                return true;
            }
        }
        return false;
    }
}
