package io.millrace.cli.command.storage;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.StorageView;
import picocli.CommandLine.Command;

@Command(
        name = "status",
        abbreviateSynopsis = true,
        description = "Show every storage path: state, used space, readers, errors.",
        footer = {"", "Example: millctl storage status"})
public final class StorageStatusCommand extends ApiCommand {
    public StorageStatusCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/v1/storage");
        show(response, StorageView.lines(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
