package io.millrace.cli.command.config;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "rollback",
        abbreviateSynopsis = true,
        description = {
            "Apply an earlier configuration again.",
            "The file is not changed; the next reload applies the file."
        },
        footer = {"", "Example: millctl config rollback"})
public final class ConfigRollbackCommand extends ConfigChangeCommand {
    @Parameters(
            arity = "0..1",
            paramLabel = "N",
            description = "Number of the configuration in 'config history'. Default: the one before the current one.")
    private int number;

    public ConfigRollbackCommand(Invocation invocation) {
        super(invocation);
    }

    @Override
    protected void check() throws CommandFailure {
        if (number < 0) {
            throw new CommandFailure(ExitCode.USAGE, "not a number of the history: " + number);
        }
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        return report(
                client.post("/v1/config/rollback", JsonText.configRollback(number)),
                "choose another: millctl config history");
    }
}
