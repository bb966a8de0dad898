package io.millrace.cli.command.config;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.Invocation;
import picocli.CommandLine.Command;

@Command(
        name = "reload",
        abbreviateSynopsis = true,
        description = {
            "Read the configuration file again and apply the changes.",
            "No downtime. Shows the result for every changed setting."
        },
        footer = {
            "",
            "applied   in use now",
            "rolled    in use in a new worker; the old one finishes its requests",
            "relaunch  in use after the launcher itself is started again",
            "rejected  not in use"
        })
public final class ConfigReloadCommand extends ConfigChangeCommand {
    public ConfigReloadCommand(Invocation invocation) {
        super(invocation);
    }

    @Override
    String advice() {
        return whatNext();
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        return report(
                client.post("/v1/config/reload", JsonText.emptyObject()), "correct it, then: millctl config reload");
    }
}
