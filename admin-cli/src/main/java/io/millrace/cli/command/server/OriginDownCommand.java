package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.OriginView;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "down",
        abbreviateSynopsis = true,
        description = {
            "Stop new requests to a host of an origin group, or to all of its hosts.",
            "Requests in progress finish. A new worker keeps the host down."
        },
        footer = {"", "Example: millctl origin down 10.0.0.1:8080 --reason deploy --time 10m"})
public final class OriginDownCommand extends ApiCommand {
    @Parameters(
            paramLabel = "NAME|HOST",
            description = "A group, or a host: 10.0.0.1:8080 in every group, shop/10.0.0.1:8080 in one.")
    private String origin = "";

    @Option(names = "--reason", paramLabel = "TEXT", description = "Reason, shown by 'list'.")
    private String reason = "";

    @Option(
            names = "--time",
            paramLabel = "TIME",
            converter = DowntimeConverter.class,
            description = "Duration: 90s, 10m, 2h, 7d. Default: until 'up'.")
    private @Nullable Duration time;

    public OriginDownCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected boolean isChange() {
        return true;
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        String seconds = Long.toString(time == null ? 0 : time.toSeconds());
        Map<String, String> members = new LinkedHashMap<>();
        members.put("origin", origin);
        members.put("reason", reason);
        members.put("seconds", seconds);
        AdminResponse response = client.post("/v1/origins/down", JsonText.object(members));
        show(response, OriginView.changed(answered(response), console().paint()));
        return ExitCode.OK;
    }
}
