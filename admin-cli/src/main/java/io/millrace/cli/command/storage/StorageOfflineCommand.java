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
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "offline",
        abbreviateSynopsis = true,
        description = {
            "Take a storage path offline, with its shares of volumes.",
            "Writes queued data and closes its files. The path stays offline until",
            "'online' or the next worker. Other paths stay in use."
        },
        footer = {"", "Example: millctl storage offline /var/cache/millrace --reason disk"})
public final class StorageOfflineCommand extends ApiCommand {
    @Parameters(paramLabel = "PATH", description = "The storage path as configured; or the directory of one share.")
    private String path = "";

    @Option(
            names = {"--reason"},
            paramLabel = "TEXT",
            description = "Reason, shown by 'status'.")
    private String reason = "";

    public StorageOfflineCommand(Invocation invocation) {
        super(invocation, Invocation.STORAGE_TIMEOUT);
    }

    @Override
    protected boolean isChange() {
        return true;
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        byte[] body =
                reason.isEmpty() ? JsonText.object("path", path) : JsonText.object("path", path, "reason", reason);
        AdminResponse response = client.post("/v1/storage/offline", body);
        show(response, StorageView.changed(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
