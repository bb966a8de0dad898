package io.millrace.cli.command;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
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
final class ConfigGetCommand extends ApiCommand {
    @Parameters(arity = "1..*", paramLabel = "KEY", description = "A key or a section, such as cache.ram_size or dns.")
    private List<String> keys = new ArrayList<>();

    ConfigGetCommand(Invocation invocation) {
        super(invocation, Invocation.LOOK_TIMEOUT);
    }

    @Override
    int run(AdminClient client) throws AdminClientException, CommandFailure {
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
