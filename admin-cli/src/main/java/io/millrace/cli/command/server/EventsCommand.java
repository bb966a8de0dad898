package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.past.EventView;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "events",
        abbreviateSynopsis = true,
        description = {
            "List what happened, oldest first.",
            "Reloads, new and dead workers, purges, origins and disks that went down",
            "or came back, certificates. Kept across restarts; times are UTC."
        },
        footer = {"", "Example: millctl events --since 1h --kind origin-down,origin-up"})
public final class EventsCommand extends ApiCommand {
    private static final Duration INTERVAL = Duration.ofSeconds(2);
    private static final int LIMIT_MAX = 2000;

    @Option(
            names = "--since",
            paramLabel = "TIME",
            description = "A span before now such as 15min, 1h or 7d, or a time such as 2026-11-28T10:00:00Z.")
    private @Nullable String since;

    @Option(names = "--kind", paramLabel = "KIND", split = ",", description = "Only this kind; may be repeated.")
    private List<String> kinds = List.of();

    @Option(names = "--limit", paramLabel = "N", description = "At most the latest N events, by default 200.")
    private int limit = 200;

    @Option(
            names = {"-f", "--follow"},
            description = "Wait for further events until Ctrl-C.")
    private boolean follows;

    public EventsCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        if (follows && invocation().watch() != null) {
            throw new CommandFailure(ExitCode.USAGE, "--follow and --watch exclude each other");
        }
    }

    @Override
    protected boolean isEndless() {
        return follows;
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse first = client.get(path("limit=" + limit));
        JsonObject report = answered(first);
        show(first, EventView.lines(report, console().paint()));
        long last = last(report, -1);
        while (follows && console().flush() && invocation().clock().sleep(INTERVAL)) {
            String next = path("limit=" + LIMIT_MAX + "&after=" + last);
            AdminResponse response = queryOrNull(client, () -> {
                AdminResponse answer = client.get(next);
                answered(answer);
                return answer;
            });
            if (response == null || response.json().objects("events").isEmpty()) {
                continue;
            }
            show(response, EventView.lines(response.json(), console().paint()));
            last = last(response.json(), last);
        }
        return ExitCode.OK;
    }

    private static long last(JsonObject report, long otherwise) {
        long last = otherwise;
        for (JsonObject event : report.objects("events")) {
            last = event.number("number", last);
        }
        return last;
    }

    private String path(String query) {
        List<String> parameters = new ArrayList<>();
        parameters.add(query);
        if (since != null) {
            parameters.add("since=" + encoded(since));
        }
        kinds.forEach(kind -> parameters.add("kind=" + encoded(kind)));
        return "/v1/events?" + String.join("&", parameters);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
