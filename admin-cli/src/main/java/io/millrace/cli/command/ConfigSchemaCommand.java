package io.millrace.cli.command;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import picocli.CommandLine.Command;

@Command(
        name = "schema",
        abbreviateSynopsis = true,
        description = {
            "Print the JSON Schema of the configuration file.",
            "For editors that check YAML while it is written. Without a running proxy:",
            "bin/millrace schema."
        },
        footer = {"", "Example: millctl config schema > millrace.schema.json"})
final class ConfigSchemaCommand extends ApiCommand {
    ConfigSchemaCommand(Invocation invocation) {
        super(invocation, Invocation.LOOK_TIMEOUT);
    }

    @Override
    int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/v1/config/schema");
        answered(response);
        console().json(response.body());
        return ExitCode.OK;
    }
}
