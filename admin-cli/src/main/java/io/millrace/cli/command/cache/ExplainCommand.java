package io.millrace.cli.command.cache;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.command.TargetUrl;
import io.millrace.cli.render.ExplainView;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "explain",
        abbreviateSynopsis = true,
        description = {
            "Show how a request would be handled now, and the reasons.",
            "Rule, filters, key, stored response, freshness, origin.",
            "A dry run: no origin request, no change, no effect on metrics."
        },
        footer = {"", "Example: millctl explain http://www.example.com/ \\", "           -H 'Cache-Control: max-age=0'"
        })
public final class ExplainCommand extends ApiCommand {
    @Parameters(paramLabel = "URL", description = "URL as clients request it, with http:// or https://.")
    private String url = "";

    @Option(
            names = {"-H", "--header"},
            paramLabel = "FIELD",
            description = "Request header field, 'Name: value'; may be repeated.")
    private List<String> fields = List.of();

    @Option(
            names = {"-X", "--method"},
            paramLabel = "METHOD",
            description = "Method of the request. Default: GET.")
    private String method = "GET";

    @Option(names = "--client", paramLabel = "ADDRESS", description = "Address of the client. Default: loopback.")
    @Nullable
    private String client;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "Listening port of the request. Default: the first for the URL's scheme.")
    private int port;

    @Option(names = "--to-proxy", description = "The client uses this as its proxy and sends the whole URL.")
    private boolean toProxy;

    @Option(names = "--http2", description = "The request uses HTTP/2.")
    private boolean http2;

    public ExplainCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        TargetUrl.check(url);
        CacheLookupCommand.checkFields(fields);
    }

    @Override
    protected int run(AdminClient admin) throws AdminClientException, CommandFailure {
        StringBuilder target = new StringBuilder("/v1/explain?url=").append(TargetUrl.encoded(url));
        if (!method.equals("GET")) {
            target.append("&method=").append(TargetUrl.encoded(method));
        }
        for (String field : fields) {
            target.append("&header=").append(TargetUrl.encoded(field));
        }
        if (client != null) {
            target.append("&client=").append(TargetUrl.encoded(client));
        }
        if (port != 0) {
            target.append("&port=").append(port);
        }
        if (toProxy) {
            target.append("&to_proxy=true");
        }
        if (http2) {
            target.append("&http2=true");
        }
        AdminResponse response = admin.get(target.toString());
        JsonObject report = answered(response);
        show(response, ExplainView.lines(report, console().paint()));
        return ExitCode.OK;
    }
}
