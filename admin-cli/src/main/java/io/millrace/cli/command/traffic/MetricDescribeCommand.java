package io.millrace.cli.command.traffic;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.client.MetricFamilies;
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
        name = "describe",
        abbreviateSynopsis = true,
        description = "Describe a metric: meaning, kind and labels.",
        footer = {"", "Example: millctl metric describe cache_lookups"})
public final class MetricDescribeCommand extends ApiCommand {
    @Parameters(
            paramLabel = "NAME",
            arity = "1..*",
            description = "A metric of /metrics; 'millrace_' and '_total' may be left out.")
    private List<String> names = List.of();

    public MetricDescribeCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/metrics");
        if (!response.isSuccess()) {
            throw refused(response);
        }
        List<MetricSample> samples = MetricSample.parse(response.text());
        MetricFamilies families = MetricFamilies.parse(response.text(), samples);
        List<MetricFamilies.Family> found = new ArrayList<>();
        List<String> unknown = new ArrayList<>();
        for (String name : names) {
            boolean any = false;
            for (MetricFamilies.Family family : families.all()) {
                if (family.isOf(name)) {
                    any = true;
                    if (!found.contains(family)) {
                        found.add(family);
                    }
                }
            }
            if (!any) {
                unknown.add(name);
            }
        }
        if (invocation().isJson()) {
            console().json(JsonText.families(found));
        } else {
            console().data(MetricView.families(found, console().paint()));
        }
        for (String name : unknown) {
            console().say(MetricNames.unknown(name, samples));
        }
        return unknown.isEmpty() ? ExitCode.OK : ExitCode.FAILED;
    }
}
