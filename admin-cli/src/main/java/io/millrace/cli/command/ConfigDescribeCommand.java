package io.millrace.cli.command;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.render.SettingView;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "describe",
        abbreviateSynopsis = true,
        description = {
            "Show everything about keys of the configuration.",
            "What they do and take, bounds, default, what a change takes, the present",
            "value and where it comes from."
        },
        footer = {"", "Example: millctl config describe cache.ram_size"})
final class ConfigDescribeCommand extends ApiCommand {
    @Parameters(arity = "1..*", paramLabel = "KEY", description = "A key or a section; of a list, as storage[].size.")
    private List<String> keys = new ArrayList<>();

    ConfigDescribeCommand(Invocation invocation) {
        super(invocation, Invocation.LOOK_TIMEOUT);
    }

    @Override
    int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get(ConfigQuery.ofKeys(keys));
        show(response, SettingView.descriptions(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
