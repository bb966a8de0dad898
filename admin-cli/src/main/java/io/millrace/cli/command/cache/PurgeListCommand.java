package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.PurgeView;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "list",
        abbreviateSynopsis = true,
        description = {
            "List the latest purges, newest first.",
            "The setting purge.history limits the number of records."
        },
        footer = {"", "Example: millctl purge list --limit 20"})
public final class PurgeListCommand extends ApiCommand {
    @Option(names = "--limit", paramLabel = "N", description = "At most N purges, by default 100.")
    private int limit = 100;

    @Option(names = "--before", paramLabel = "ID", description = "Purges older than this one.")
    private @Nullable String before;

    public PurgeListCommand(Invocation invocation) {
        super(invocation, Invocation.CHANGE_TIMEOUT);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        String from = before == null ? "" : "&before=" + URLEncoder.encode(before, StandardCharsets.UTF_8);
        AdminResponse response = client.get("/v1/cache/purges?limit=" + limit + from);
        show(response, PurgeView.list(answered(response)));
        return ExitCode.OK;
    }
}
