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
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "show",
        abbreviateSynopsis = true,
        description = {"Show one purge.", "Shows the client, the time, the target, the state and the count."},
        footer = {"", "Example: millctl purge show seazlhklmjsqo"})
public final class PurgeShowCommand extends ApiCommand {
    @Parameters(paramLabel = "ID", description = "Identifier of the purge, from 'purge list'.")
    private String id = "";

    public PurgeShowCommand(Invocation invocation) {
        super(invocation, Invocation.CHANGE_TIMEOUT);
    }

    /** Returns the request target for one purge. */
    static String target(String id) {
        return "/v1/cache/purge?id=" + URLEncoder.encode(id, StandardCharsets.UTF_8);
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.get(target(id));
        show(response, PurgeView.show(answered(response)));
        return ExitCode.OK;
    }
}
