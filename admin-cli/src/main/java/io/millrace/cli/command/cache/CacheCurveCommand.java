package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.cache.CurveTable;
import picocli.CommandLine.Command;

@Command(
        name = "curve",
        abbreviateSynopsis = true,
        description = {
            "Estimate the hit ratios of other sizes of the RAM tier.",
            "The estimate uses recent requests; cache.curve must be true."
        },
        footer = {"", "Example: millctl cache curve"})
public final class CacheCurveCommand extends ApiCommand {
    public CacheCurveCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get("/v1/cache/curve");
        show(response, CurveTable.lines(answered(response)));
        return ExitCode.OK;
    }
}
