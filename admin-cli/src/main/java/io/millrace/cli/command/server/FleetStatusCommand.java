package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.fleet.FleetView;
import picocli.CommandLine.Command;

@Command(
        name = "status",
        abbreviateSynopsis = true,
        description = {
            "Show the nodes of the fleet: tier, version, state and lag.",
            "The exit code is 1 if this node is not connected, or lacks a permission."
        },
        footer = {"", "Example: millctl fleet status"})
public final class FleetStatusCommand extends ApiCommand {
    public FleetStatusCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/v1/fleet");
        show(response, FleetView.status(answered(response), console().paint()));
        String state = response.json().text("state", "");
        return state.equals("connected") || state.equals("off") ? ExitCode.OK : ExitCode.FAILED;
    }
}
