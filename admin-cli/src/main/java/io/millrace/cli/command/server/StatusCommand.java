package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.StatusView;
import picocli.CommandLine.Command;

@Command(
        name = "status",
        abbreviateSynopsis = true,
        description = "Show the state of the proxy: processes, traffic, cache, config.",
        footer = {"", "Example: millctl status -o json"})
public final class StatusCommand extends ApiCommand {
    public StatusCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected String whatNext() {
        return "look at the log of the launcher, such as: journalctl -u millrace";
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/v1/status");
        JsonObject status = answered(response);
        show(response, StatusView.lines(status, client.source(), console().paint()));
        if (StatusView.isLastReloadRejected(status) && !invocation().isJson()) {
            console()
                    .say("try: millctl config check " + status.object("config").text("file", "FILE")
                            + "; then millctl config reload");
        }
        return ExitCode.OK;
    }
}
