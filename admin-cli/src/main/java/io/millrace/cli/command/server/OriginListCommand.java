package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.OriginView;
import picocli.CommandLine.Command;

@Command(
        name = "list",
        abbreviateSynopsis = true,
        description = {"Show every host of every group of origins.", "State, reason, begin of the state, and requests."
        },
        footer = {"", "Example: millctl origin list"})
public final class OriginListCommand extends ApiCommand {
    public OriginListCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/v1/origins");
        show(response, OriginView.lines(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
