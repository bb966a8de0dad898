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
import io.millrace.cli.command.TargetUrl;
import io.millrace.cli.render.PurgeView;
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
            "Remove stored responses of a URL, a host, a group, tags, or all.",
            "A URL includes all variants; --prefix includes all URLs that begin with it.",
            "The next request goes to the origin. The exit code is 0 if nothing was stored."
        },
        footer = {
            "",
            "Example: millctl purge http://www.example.com/logo.png",
            "         millctl purge --host www.example.com",
            "         millctl purge --prefix http://www.example.com/blog/ --soft",
            "         millctl purge --tag post-17 --tag archive --site www.example.com"
        })
public final class PurgeCommand extends ApiCommand {
    @Parameters(
            paramLabel = "URL",
            arity = "0..1",
            description = "URL as clients request it, with http:// or https://.")
    private @Nullable String url;

    @Option(
            names = "--host",
            paramLabel = "HOST",
            description = "All of a host, http and https; with its port if that is not the default.")
    private @Nullable String host;

    @Option(names = "--prefix", paramLabel = "URL", description = "All URLs that begin with this one.")
    private @Nullable String prefix;

    @Option(
            names = "--group",
            paramLabel = "NAME",
            description = "With --host: the members of a cache group (Cache-Groups, RFC 9875).")
    private @Nullable String group;

    @Option(
            names = "--tag",
            paramLabel = "TAG",
            description = "Responses with this tag (Surrogate-Key, xkey, Cache-Tag, Cache-Groups); may be repeated.")
    private List<String> tags = new ArrayList<>();

    @Option(
            names = "--site",
            paramLabel = "SITE",
            description = "With --tag: only tags of this site (a host, or the site of a rule). Default: every site.")
    private @Nullable String site;

    @Option(names = "--all", description = "All stored responses.")
    private boolean all;

    @Option(names = "--soft", description = "Keep the responses, but validate them before their next use.")
    private boolean soft;

    public PurgeCommand(Invocation invocation) {
        super(invocation, Invocation.CHANGE_TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        int asked = (url == null ? 0 : 1) + (host == null ? 0 : 1) + (prefix == null ? 0 : 1);
        asked += (all ? 1 : 0) + (tags.isEmpty() ? 0 : 1);
        if (asked != 1) {
            throw new CommandFailure(ExitCode.USAGE, "one of URL, --host, --prefix, --tag and --all is needed");
        }
        if (group != null && host == null) {
            throw new CommandFailure(ExitCode.USAGE, "--group is of a host: --host HOST is missing");
        }
        if (site != null && tags.isEmpty()) {
            throw new CommandFailure(ExitCode.USAGE, "--site is of tags: --tag TAG is missing");
        }
        if (url != null || prefix != null) {
            TargetUrl.check(String.valueOf(url == null ? prefix : url));
        }
    }

    @Override
    protected boolean isChange() {
        return true;
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        Map<String, String> members = new LinkedHashMap<>();
        put(members, "url", url);
        put(members, "prefix", prefix);
        put(members, "host", host);
        put(members, "group", group);
        put(members, "scope", all ? "all" : null);
        put(members, "mode", soft ? "soft" : null);
        put(members, "site", site);
        AdminResponse response = client.post("/v1/cache/purge", JsonText.purge(members, tags));
        JsonObject report = answered(response);
        show(response, url == null || report.has("scope") ? PurgeView.scope(report) : PurgeView.lines(report, url));
        return ExitCode.OK;
    }

    private static void put(Map<String, String> members, String name, @Nullable String value) {
        if (value != null) {
            members.put(name, value);
        }
    }
}
