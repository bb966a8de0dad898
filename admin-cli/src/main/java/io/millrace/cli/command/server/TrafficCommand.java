package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.cache.TrafficView;
import picocli.CommandLine.Command;

@Command(
        name = "traffic",
        abbreviateSynopsis = true,
        description = {
            "Show requests, misses and errors by host.",
            "A host is a name that clients request. The hosts with most requests have a",
            "line each, those with most misses first; admin.hosts is their number. All",
            "others share one line. Figures count from the start of the worker."
        },
        footer = {"", "Example: millctl traffic"})
public final class TrafficCommand extends ApiCommand {
    public TrafficCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/v1/traffic");
        show(response, TrafficView.lines(answered(response)));
        return ExitCode.OK;
    }
}
