package io.millrace.cli.command;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.render.StorageView;
import picocli.CommandLine.Command;

@Command(
        name = "status",
        abbreviateSynopsis = true,
        description = "Show every storage path: state, how full it is, readers, errors.",
        footer = {"", "Example: millctl storage status"})
final class StorageStatusCommand extends ApiCommand {
    StorageStatusCommand(Invocation invocation) {
        super(invocation, Invocation.LOOK_TIMEOUT);
    }

    @Override
    int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/v1/storage");
        show(response, StorageView.lines(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
