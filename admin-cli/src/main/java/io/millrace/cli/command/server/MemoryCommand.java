package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.MemoryView;
import picocli.CommandLine.Command;

@Command(
        name = "memory",
        abbreviateSynopsis = true,
        description = {
            "Show the memory of the worker, part by part.",
            "Compares the sum of the parts with the kernel's figure."
        },
        footer = {"", "Example: millctl memory"})
public final class MemoryCommand extends ApiCommand {
    public MemoryCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/v1/memory");
        show(response, MemoryView.lines(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
