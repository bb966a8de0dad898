package io.millrace.cli.command.config;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "set",
        abbreviateSynopsis = true,
        description = {
            "Set keys in the running proxy.",
            "The change takes effect immediately and overrides the file. It lasts until a",
            "reset, a change of the same key in the file, or the end of the launcher.",
            "All of the keys are set, or none."
        },
        footer = {
            "",
            "A list is set as a whole, in square brackets.",
            "Example: millctl config set cache.max_stale_age=1h limits.connections=5000",
            "         millctl config set --save cache.ram_size=8GiB"
        })
public final class ConfigSetCommand extends ConfigChangeCommand {
    @Parameters(
            arity = "1..*",
            paramLabel = "KEY=VALUE",
            description = "A configuration key with its value, written as in the file.")
    private List<String> given = new ArrayList<>();

    @Option(names = "--save", description = "Write the values into the file, and keep its comments.")
    private boolean save;

    private final Map<String, String> settings = new LinkedHashMap<>();

    public ConfigSetCommand(Invocation invocation) {
        super(invocation);
    }

    @Override
    protected void check() throws CommandFailure {
        for (String one : given) {
            int equals = one.indexOf('=');
            if (equals <= 0) {
                throw new CommandFailure(ExitCode.USAGE, "not KEY=VALUE: " + one);
            }
            if (settings.put(one.substring(0, equals), one.substring(equals + 1)) != null) {
                throw new CommandFailure(ExitCode.USAGE, "set twice: " + one.substring(0, equals));
            }
        }
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        return report(
                client.post("/v1/config/set", JsonText.configSet(settings, save)),
                "see what a key takes: millctl config describe KEY");
    }
}
