package io.millrace.cli.command.config;

import io.millrace.cli.client.AdminAddress;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.LocalRun;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * The command {@code millctl config schema}. It prints the schema of the running launcher (the process that owns the
 * configuration), because the launcher's version decides which keys a configuration file may have. If no launcher is
 * found, or the launcher does not respond, the command runs {@code bin/millrace schema}. Confined to one thread.
 */
@Command(
        name = "schema",
        abbreviateSynopsis = true,
        description = {
            "Print the JSON Schema of the configuration file.",
            "For editors that check YAML as you type. Needs no running proxy."
        },
        footer = {"", "Example: millctl config schema > millrace.schema.json"})
public final class ConfigSchemaCommand implements Callable<Integer> {
    private static final List<String> LOCAL_ARGUMENTS = List.of("schema");

    private final Invocation invocation;

    public ConfigSchemaCommand(Invocation invocation) {
        this.invocation = invocation;
    }

    @Override
    public Integer call() throws CommandFailure {
        AdminAddress address = invocation.addressIfAny();
        if (address == null) {
            return LocalRun.run(invocation, LOCAL_ARGUMENTS);
        }
        String why;
        try {
            AdminResponse response =
                    invocation.clientOf(address, Invocation.QUERY_TIMEOUT).get("/v1/config/schema");
            if (response.isSuccess()) {
                response.json();
                invocation.console().json(response.body());
                return ExitCode.OK;
            }
            why = response.json()
                    .object("error")
                    .text("message", "the launcher refused with status " + response.status());
        } catch (AdminClientException e) {
            why = e.message();
        }
        // A TCP address usually denotes another machine, whose version may differ. So no local schema is printed.
        if (address instanceof AdminAddress.Tcp) {
            throw new CommandFailure(
                    ExitCode.UNREACHABLE,
                    why,
                    "without --admin and MILLRACE_ADMIN, millctl prints the schema of its own version");
        }
        invocation.console().say("millctl: " + why + "; this is the schema of millctl's own version");
        return LocalRun.run(invocation, LOCAL_ARGUMENTS);
    }
}
