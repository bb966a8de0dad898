package io.millrace.cli.command;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.render.PurgeView;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "purge",
        abbreviateSynopsis = true,
        description = {
            "Remove every stored variant of a URL.",
            "The next request goes to the origin. Nothing stored is no failure."
        },
        footer = {"", "Example: millctl purge http://www.example.com/logo.png"})
final class PurgeCommand extends ApiCommand {
    @Parameters(paramLabel = "URL", description = "As clients ask for it, with http:// or https://.")
    private String url = "";

    PurgeCommand(Invocation invocation) {
        super(invocation, Invocation.CHANGE_TIMEOUT);
    }

    @Override
    void check() throws CommandFailure {
        TargetUrl.check(url);
    }

    @Override
    boolean isChange() {
        return true;
    }

    @Override
    int run(AdminClient client) throws AdminClientException, CommandFailure {
        AdminResponse response = client.post("/v1/cache/purge", JsonText.object("url", url));
        show(response, PurgeView.lines(answered(response), url));
        return ExitCode.OK;
    }
}
