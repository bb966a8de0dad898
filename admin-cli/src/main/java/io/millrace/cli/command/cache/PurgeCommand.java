package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.MarkedExpression;
import io.millrace.cli.command.TargetUrl;
import io.millrace.cli.render.PurgeView;
import io.millrace.cli.render.fleet.FleetView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "purge",
        abbreviateSynopsis = true,
        description = {
            "Remove responses by URL, host, group, tag or pattern, or all.",
            "A URL includes all variants. The exit code is 0 if nothing was stored."
        },
        footer = "Example: millctl purge --tag post-17 --site www.example.com --dry-run")
public final class PurgeCommand extends ApiCommand {
    private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

    @Parameters(paramLabel = "URL", arity = "0..1", description = "Absolute URL, as clients request it.")
    private @Nullable String url;

    @Option(names = "--host", paramLabel = "HOST", description = "All of a host; with its port if not the default.")
    private @Nullable String host;

    @Option(names = "--prefix", paramLabel = "URL", description = "All URLs that begin with this one.")
    private @Nullable String prefix;

    @Option(names = "--group", paramLabel = "NAME", description = "With --host: a cache group, http and https.")
    private @Nullable String group;

    @Option(names = "--tag", paramLabel = "TAG", description = "Responses with this tag; may be repeated.")
    private List<String> tags = new ArrayList<>();

    @Option(names = "--site", paramLabel = "SITE", description = "With --tag: this site only; default: every site.")
    private @Nullable String site;

    @Option(names = "--where", paramLabel = "EXPR", description = "Responses for which the expression holds.")
    private @Nullable String where;

    @Option(names = "--regex", paramLabel = "RE", description = "Whole URLs in which an RE2 expression matches.")
    private @Nullable String regex;

    @Option(names = "--wildcard", paramLabel = "URL", description = "URLs like this, http and https; * is any text.")
    private @Nullable String wildcard;

    @Option(names = "--all", description = "All stored responses.")
    private boolean all;

    @Option(names = "--soft", description = "Validate responses instead of removing them.")
    private boolean soft;

    @Option(names = "--dry-run", description = "Count the responses, and purge nothing.")
    private boolean dryRun;

    @Option(names = "--wait", description = "Purge, and wait for the count and the fleet.")
    private boolean wait;

    public PurgeCommand(Invocation invocation) {
        super(invocation, Invocation.CHANGE_TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        if (group != null && host == null) {
            throw new CommandFailure(ExitCode.USAGE, "--group needs --host HOST");
        }
        int asked = (url == null ? 0 : 1) + (host == null ? 0 : 1) + (prefix == null ? 0 : 1);
        asked += (all ? 1 : 0) + (tags.isEmpty() ? 0 : 1);
        asked += (where == null ? 0 : 1) + (regex == null ? 0 : 1) + (wildcard == null ? 0 : 1);
        if (asked != 1) {
            throw new CommandFailure(
                    ExitCode.USAGE,
                    "one of URL, --host (with --group or without), --prefix, --tag, --where, --regex, --wildcard and"
                            + " --all is needed" + (asked > 1 ? ", not " + asked : ""));
        }
        if (dryRun && wait) {
            throw new CommandFailure(ExitCode.USAGE, "--dry-run always waits for its count; leave out --wait");
        }
        if (site != null && tags.isEmpty()) {
            throw new CommandFailure(ExitCode.USAGE, "--site needs --tag TAG");
        }
        if (url != null || prefix != null) {
            TargetUrl.check(String.valueOf(url == null ? prefix : url));
        }
    }

    @Override
    protected boolean isChange() {
        return !dryRun;
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        Map<String, String> members = new LinkedHashMap<>();
        put(members, "url", url);
        put(members, "prefix", prefix);
        put(members, "host", host);
        put(members, "group", group);
        put(members, "where", where);
        put(members, "regex", regex);
        put(members, "wildcard", wildcard);
        put(members, "scope", all ? "all" : null);
        put(members, "mode", soft ? "soft" : null);
        put(members, "site", site);
        String path = dryRun ? "/v1/cache/purge/dry-run" : "/v1/cache/purge";
        AdminResponse response = client.post(path, JsonText.purge(members, tags, wait));
        JsonObject report = answered(response);
        if (regex != null && regex.startsWith("^/")) {
            console()
                    .say("an expression is compared with the whole URL, such as http://www.example.com/blog/, so ^/"
                            + " matches none; use --prefix, or --where with path");
        }
        if (isCounting(report)) {
            String state = report.text("fleet", "");
            response = waitForCount(client, report.text("id", ""));
            report = answered(response);
            show(response, dryRun ? PurgeView.dryRun(report) : PurgeView.counted(report));
            return state.isEmpty() ? ExitCode.OK : waitForFleet(client, report.text("id", ""));
        }
        if (dryRun) {
            show(response, PurgeView.dryRun(report));
            return ExitCode.OK;
        }
        if (wait && !report.has("objects")) {
            console().say("not counted: no inventory (list of stored objects), or too many counts at once");
        }
        show(
                response,
                url == null || report.has("stamp") ? PurgeView.scope(report, soft) : PurgeView.lines(report, url));
        if (url != null && url.contains("*") && !report.isTrue("purged") && !report.has("stamp")) {
            console().say("a * in a URL is no pattern in this command; use --prefix or --wildcard");
        }
        return wait && report.has("fleet") ? waitForFleet(client, report.text("id", "")) : ExitCode.OK;
    }

    /**
     * Waits at most about 30 s until the other nodes of the fleet have applied the purge. Prints which nodes have
     * applied it.
     */
    private int waitForFleet(AdminClient client, String id) throws AdminClientException, CommandFailure {
        AdminResponse response = FleetWait.until(client, invocation(), id);
        FleetView.purge(answered(response)).forEach(console()::say);
        return FleetWait.isComplete(response) ? ExitCode.OK : ExitCode.IN_PROGRESS;
    }

    private static boolean isCounting(JsonObject report) {
        return report.text("state", "").equals("counting");
    }

    /** Waits until the proxy has counted the affected objects, and prints the progress. */
    private AdminResponse waitForCount(AdminClient client, String id) throws AdminClientException, CommandFailure {
        if (dryRun) {
            console().say("counting; to stop: millctl purge cancel " + id);
        }
        while (invocation().clock().sleep(POLL_INTERVAL)) {
            AdminResponse response = client.get(PurgeShowCommand.target(id));
            JsonObject report = answered(response);
            if (!isCounting(report)) {
                return response;
            }
            console().say("counting: " + PurgeView.progress(report));
        }
        throw new CommandFailure(
                ExitCode.IN_PROGRESS, "the count is still in progress", "look again: millctl purge show " + id);
    }

    @Override
    protected String[] usageLines(String message) {
        return where == null ? super.usageLines(message) : MarkedExpression.lines(where, message);
    }

    private static void put(Map<String, String> members, String name, @Nullable String value) {
        if (value != null) {
            members.put(name, value);
        }
    }
}
