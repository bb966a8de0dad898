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
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Opens the dashboard on a loopback port of the launcher, and keeps the port open until it is interrupted. */
@Command(
        name = "dashboard",
        abbreviateSynopsis = true,
        description = {
            "Serve the dashboard on a loopback port and print its URL.",
            "The URL has a code for one login within 2 minutes. Port and logins end with",
            "this command. With --admin http://..., the URL is that of admin.listen."
        },
        footer = {"", "Example: millctl dashboard --no-browser"})
public final class DashboardCommand extends ApiCommand {
    /** Renewals in the time of one lease: two may fail. */
    private static final int RENEWALS_PER_LEASE = 3;

    /** Time until the browser has read the file that redirects it to the dashboard. */
    private static final Duration BROWSER_START = Duration.ofSeconds(10);

    @Option(names = "--no-browser", description = "Print the URL only; do not open a browser.")
    private boolean noBrowser;

    @Option(names = "--log-out-all", description = "End all sessions of all dashboards, and exit.")
    private boolean logOutAll;

    public DashboardCommand(Invocation invocation) {
        super(invocation, Invocation.QUERY_TIMEOUT);
    }

    @Override
    protected boolean isChange() {
        return true;
    }

    @Override
    protected int run(AdminClient client) throws AdminClientException, CommandFailure {
        if (logOutAll) {
            AdminResponse response = client.post("/v1/sessions/end", JsonText.emptyObject());
            long ended = answered(response).number("ended", 0);
            show(response, List.of(ended + (ended == 1 ? " session" : " sessions") + " ended"));
            return ExitCode.OK;
        }
        AdminResponse response = client.post("/v1/dashboard/open", JsonText.emptyObject());
        JsonObject opened = answered(response);
        String url = opened.text("url", "");
        String lease = opened.text("lease", "");
        show(response, List.of(url));
        console()
                .say("The URL works once, for " + opened.number("code_seconds", 0) / 60 + " minutes."
                        + (lease.isEmpty() ? "" : " Ctrl-C ends the dashboard."));
        console().flush();
        try (BrowserPage page = new BrowserPage(invocation().surroundings())) {
            boolean isOpened = !noBrowser && page.open(url);
            if (!lease.isEmpty()) {
                hold(client, lease, Duration.ofSeconds(opened.number("lease_seconds", 0)));
            } else if (isOpened) {
                invocation().pause().pass(BROWSER_START);
            }
        }
        return ExitCode.OK;
    }

    /** Renews the lease until the command is interrupted; then ends it, so that no port stays open. */
    private void hold(AdminClient client, String lease, Duration length) throws AdminClientException, CommandFailure {
        AtomicBoolean isOpen = new AtomicBoolean(true);
        Thread atExit = new Thread(() -> close(client, lease, isOpen), "close-dashboard");
        Runtime.getRuntime().addShutdownHook(atExit);
        try {
            while (invocation().pause().pass(length.dividedBy(RENEWALS_PER_LEASE))) {
                renew(client, lease);
            }
        } finally {
            close(client, lease, isOpen);
            removeHook(atExit);
        }
    }

    private void renew(AdminClient client, String lease) throws AdminClientException, CommandFailure {
        AdminResponse response = client.post("/v1/dashboard/renew", JsonText.object("lease", lease));
        if (response.status() == 409) {
            throw new CommandFailure(
                    ExitCode.FAILED, "the dashboard has ended, since the launcher was restarted; run this again");
        }
        answered(response);
    }

    private static void close(AdminClient client, String lease, AtomicBoolean isOpen) {
        if (isOpen.compareAndSet(true, false)) {
            try {
                client.post("/v1/dashboard/close", JsonText.object(Map.of("lease", lease)));
            } catch (AdminClientException e) {
                // The lease ends by itself.
            }
        }
    }

    private static void removeHook(Thread atExit) {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The process is exiting, and the hook has run.
        }
    }
}
