package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.MarkedExpression;
import io.millrace.cli.command.TargetUrl;
import io.millrace.cli.render.ListView;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "list",
        abbreviateSynopsis = true,
        description = {
            "List the objects on disk page by page, or count them by host.",
            "Objects that are not on disk yet, or in RAM only, are not listed."
        },
        footer = {
            "",
            "Example: millctl cache list --prefix http://www.example.com/js/",
            "         millctl cache list --where 'type =~ \"^image/\" && age > 2d' --count"
        })
public final class CacheListCommand extends ApiCommand {
    private static final int LIMIT_MAX = 1000;

    @Option(names = "--prefix", paramLabel = "URL", description = "Only URLs with this prefix.")
    private @Nullable String prefix;

    @Option(
            names = "--regex",
            paramLabel = "RE",
            description = "Only URLs in which this RE2 expression matches anywhere.")
    private @Nullable String regex;

    @Option(
            names = "--host",
            paramLabel = "HOST",
            description = "Only URLs of this host; with its port unless it is the scheme's default.")
    private @Nullable String host;

    @Option(
            names = "--where",
            paramLabel = "EXPR",
            description =
                    "Only responses for which this expression holds, over host, path, type, age, size and others.")
    private @Nullable String where;

    @Option(names = "--limit", paramLabel = "N", description = "Objects on a page, 1 to 1000; default 100.")
    private int limit = 100;

    @Option(
            names = "--after",
            paramLabel = "PLACE",
            description = "Continue after an earlier page; its last line has the PLACE.")
    private @Nullable String after;

    @Option(names = "--count", description = "Count objects and bytes by host instead.")
    private boolean count;

    public CacheListCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        if (limit < 1 || limit > LIMIT_MAX) {
            throw new CommandFailure(
                    ExitCode.USAGE, "--limit: actual=" + limit + ", expected a number from 1 to " + LIMIT_MAX);
        }
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        StringBuilder target = new StringBuilder("/v1/cache/list?limit=").append(limit);
        add(target, "prefix", prefix);
        add(target, "regex", regex);
        add(target, "host", host);
        add(target, "where", where);
        add(target, "after", after);
        add(target, "count", count ? "host" : null);
        AdminResponse response = client.get(target.toString());
        JsonObject report = answered(response);
        show(response, ListView.lines(report, count));
        return ExitCode.OK;
    }

    @Override
    protected String[] usageLines(String message) {
        return where == null ? super.usageLines(message) : MarkedExpression.lines(where, message);
    }

    private static void add(StringBuilder target, String name, @Nullable String value) {
        if (value != null) {
            target.append('&').append(name).append('=').append(TargetUrl.encoded(value));
        }
    }
}
