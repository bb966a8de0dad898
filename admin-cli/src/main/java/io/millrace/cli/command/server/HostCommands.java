package io.millrace.cli.command.server;

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
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The commands {@code millctl host}: origins without a group, and cached addresses. */
public final class HostCommands {
    private static final String HOSTS = "/v1/hosts";

    private HostCommands() {}

    @Command(
            name = "list",
            abbreviateSynopsis = true,
            description = {
                "Show every origin without a group, and the cached addresses of names.",
                "State, reason of the last failure, and time of the next attempt."
            },
            footer = {"", "Example: millctl host list"})
    public static final class ListAll extends ApiCommand {
        public ListAll(Invocation invocation) {
            super(invocation, Invocation.QUERY_TIMEOUT);
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            AdminResponse response = client.get(HOSTS);
            show(response, HostView.lines(answered(response), console().paint()));
            return ExitCode.OK;
        }
    }

    @Command(
            name = "show",
            abbreviateSynopsis = true,
            description = {"Show the origins and the addresses of one host."},
            footer = {"", "Example: millctl host show www.example.com"})
    public static final class Show extends ApiCommand {
        @Parameters(paramLabel = "HOST", description = "A name or an address, without port.")
        private String host = "";

        public Show(Invocation invocation) {
            super(invocation, Invocation.QUERY_TIMEOUT);
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            AdminResponse response = client.get(HOSTS + "?host=" + TargetUrl.encoded(host));
            JsonObject report = answered(response);
            if (report.objects("origins").isEmpty() && report.objects("names").isEmpty()) {
                throw new CommandFailure(ExitCode.FAILED, "nothing is known about " + host + "; see millctl host list");
            }
            show(response, HostView.lines(report, console().paint()));
            return ExitCode.OK;
        }
    }

    @Command(
            name = "clear",
            abbreviateSynopsis = true,
            description = {
                "Forget the state and the addresses of one host, or of all.",
                "The next request tries the origin and queries its name."
            },
            footer = {"", "Example: millctl host clear www.example.com"})
    public static final class Clear extends ApiCommand {
        @Parameters(
                paramLabel = "HOST",
                arity = "0..1",
                description = "A name or an address, without port; all without it.")
        private String host = "";

        public Clear(Invocation invocation) {
            super(invocation, Invocation.QUERY_TIMEOUT);
        }

        @Override
        protected boolean isChange() {
            return true;
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            AdminResponse response = client.post(HOSTS + "/clear", JsonText.object("host", host));
            JsonObject cleared = answered(response);
            show(
                    response,
                    List.of("forgot " + HostView.count(cleared, "origins", "origin") + " and "
                            + HostView.count(cleared, "names", "name")));
            return ExitCode.OK;
        }
    }
}
