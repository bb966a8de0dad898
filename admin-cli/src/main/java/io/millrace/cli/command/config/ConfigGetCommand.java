package io.millrace.cli.command.config;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
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
        name = "get",
        abbreviateSynopsis = true,
        description = "Show the present values of keys, or of all keys of a section.",
        footer = {"", "Example: millctl config get cache.ram_size timeouts"})
public final class ConfigGetCommand extends ApiCommand {
    @Parameters(arity = "1..*", paramLabel = "KEY", description = "A key or a section, such as cache.ram_size or dns.")
    private List<String> keys = new ArrayList<>();

    public ConfigGetCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get(ConfigQuery.ofKeys(keys));
        JsonObject report = answered(response);
        show(response, SettingView.values(report));
        if (!invocation().isJson()) {
            for (String note : SettingView.notes(report)) {
                console().say("note: " + note);
            }
        }
        return ExitCode.OK;
    }
}
