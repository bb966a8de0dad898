package io.millrace.cli.command.config;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "reset",
        abbreviateSynopsis = true,
        description = {"Remove values that 'config set' has set.", "'config diff' marks them with a star."},
        footer = {"", "Example: millctl config reset limits.connections"})
public final class ConfigResetCommand extends ConfigChangeCommand {
    @Parameters(arity = "0..*", paramLabel = "KEY", description = "A key that was set.")
    private List<String> keys = new ArrayList<>();

    @Option(names = "--all", description = "All values that were set.")
    private boolean all;

    public ConfigResetCommand(Invocation invocation) {
        super(invocation);
    }

    @Override
    protected void check() throws CommandFailure {
        if (keys.isEmpty() != all) {
            throw new CommandFailure(ExitCode.USAGE, "name keys, or --all");
        }
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        return report(
                client.post("/v1/config/reset", JsonText.configReset(keys)),
                "see the values that are set: millctl config diff");
    }
}
