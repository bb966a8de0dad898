package io.millrace.cli.command;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.render.OriginView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "up",
        abbreviateSynopsis = true,
        description = "Give a host requests again, whatever kept it from them.",
        footer = {"", "Example: millctl origin up 10.0.0.1:8080"})
final class OriginUpCommand extends ApiCommand {
    @Parameters(paramLabel = "NAME|HOST", description = "As for 'down'.")
    private String origin = "";

    OriginUpCommand(Invocation invocation) {
        super(invocation, Invocation.LOOK_TIMEOUT);
    }

    @Override
    boolean isChange() {
        return true;
    }

    @Override
    int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.post("/v1/origins/up", JsonText.object("origin", origin));
        show(response, OriginView.changed(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
