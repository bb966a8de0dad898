package io.millrace.cli.command.storage;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.StorageView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "online",
        abbreviateSynopsis = true,
        description = {
            "Bring an offline storage path back into use.",
            "After 'offline' it keeps its unchanged objects; otherwise it starts empty."
        },
        footer = {"", "Example: millctl storage online /var/cache/millrace"})
public final class StorageOnlineCommand extends ApiCommand {
    @Parameters(paramLabel = "PATH", description = "The storage path as configured.")
    private String path = "";

    public StorageOnlineCommand(Invocation invocation) {
        super(invocation, Invocation.STORAGE_TIMEOUT);
    }

    @Override
    protected boolean isChange() {
        return true;
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.post("/v1/storage/online", JsonText.object("path", path));
        show(response, StorageView.changed(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
