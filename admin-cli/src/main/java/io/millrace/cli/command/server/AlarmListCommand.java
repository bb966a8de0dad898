package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.past.AlarmView;
import picocli.CommandLine.Command;

@Command(
        name = "list",
        abbreviateSynopsis = true,
        description = {
            "List the alarms that are raised now.",
            "Disks out of use, groups of origins without a host, certificates that end",
            "soon, workers that die repeatedly, a rejected reload, logs that cannot be",
            "written. Times are UTC; millctl events has alarms of the past."
        },
        footer = {"", "Example: millctl alarm list"})
public final class AlarmListCommand extends ApiCommand {
    public AlarmListCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/v1/alarms");
        show(response, AlarmView.lines(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
