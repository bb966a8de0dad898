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
import io.millrace.cli.render.LookupView;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "lookup",
        abbreviateSynopsis = true,
        description = {
            "Show the stored response of a URL, its freshness, and the reasons.",
            "Sends no request to an origin and does not count as a hit."
        },
        footer = {
            "",
            "Example: millctl cache lookup http://www.example.com/ \\",
            "           -H 'Accept-Encoding: gzip'"
        })
public final class CacheLookupCommand extends ApiCommand {
    @Parameters(paramLabel = "URL", description = "URL as clients request it, with http:// or https://.")
    private String url = "";

    @Option(
            names = {"-H", "--header"},
            paramLabel = "FIELD",
            description = "Request header field, 'Name: value'; may be repeated. Chooses among variants.")
    private List<String> fields = List.of();

    public CacheLookupCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        TargetUrl.check(url);
        checkFields(fields);
    }

    /** Throws an exception unless all texts have the format {@code Name: value}. */
    static void checkFields(List<String> fields) throws CommandFailure {
        for (String field : fields) {
            if (field.indexOf(':') <= 0) {
                throw new CommandFailure(ExitCode.USAGE, "not of the form 'Name: value': " + field);
            }
        }
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        StringBuilder target = new StringBuilder("/v1/cache/lookup?url=").append(TargetUrl.encoded(url));
        for (String field : fields) {
            target.append("&header=").append(TargetUrl.encoded(field));
        }
        AdminResponse response = client.get(target.toString());
        JsonObject report = answered(response);
        show(response, LookupView.lines(report, url, console().paint()));
        return ExitCode.OK;
    }
}
