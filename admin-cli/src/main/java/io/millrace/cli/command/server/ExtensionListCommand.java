package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.extension.ExtensionView;
import picocli.CommandLine.Command;

@Command(
        name = "list",
        abbreviateSynopsis = true,
        description = {
            "List the extensions in the order of their calls.",
            "State, version, jar, calls and failures of each hook, and the last failure.",
            "The figures begin with the running worker."
        },
        footer = {"", "Example: millctl extension list"})
public final class ExtensionListCommand extends ApiCommand {
    public ExtensionListCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/v1/extensions");
        show(response, ExtensionView.lines(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
