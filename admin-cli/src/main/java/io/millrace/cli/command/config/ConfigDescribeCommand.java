package io.millrace.cli.command.config;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
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
            "Meaning, type, bounds, default, how a change is applied, the present",
            "value and its source."
        },
        footer = {"", "Example: millctl config describe cache.ram_size"})
public final class ConfigDescribeCommand extends ApiCommand {
    @Parameters(
            arity = "1..*",
            paramLabel = "KEY",
            description = "A key or a section; a key of list elements is written storage[].size.")
    private List<String> keys = new ArrayList<>();

    public ConfigDescribeCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get(ConfigQuery.ofKeys(keys));
        show(response, SettingView.descriptions(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
