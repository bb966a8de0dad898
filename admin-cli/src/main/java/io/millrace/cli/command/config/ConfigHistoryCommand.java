package io.millrace.cli.command.config;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.HistoryView;
import picocli.CommandLine.Command;

@Command(
        name = "history",
        abbreviateSynopsis = true,
        description = {"List the configurations that were applied.", "Time, kind and changed keys of each."},
        footer = {"", "admin.config_history sets how many are kept.", "Example: millctl config history"})
public final class ConfigHistoryCommand extends ApiCommand {
    public ConfigHistoryCommand(Invocation invocation) {
        super(invocation, Invocation.CHANGE_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/v1/config/history");
        show(response, HistoryView.lines(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
