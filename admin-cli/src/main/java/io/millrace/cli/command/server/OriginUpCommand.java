package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.OriginView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "up",
        abbreviateSynopsis = true,
        description = "Resume requests to a host that is marked down.",
        footer = {"", "Example: millctl origin up 10.0.0.1:8080"})
public final class OriginUpCommand extends ApiCommand {
    @Parameters(paramLabel = "NAME|HOST", description = "A group, or a host, as in 'origin down'.")
    private String origin = "";

    public OriginUpCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected boolean isChange() {
        return true;
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.post("/v1/origins/up", JsonText.object("origin", origin));
        show(response, OriginView.changed(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
