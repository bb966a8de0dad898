package io.millrace.cli.command.server;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandClock;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code millctl dashboard}. The launcher (the process with the admin API) opens a loopback port for the
 * dashboard; this command renews the lease of the port until it is interrupted.
 */
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
    /** Time that a browser needs to start and to read the file that redirects to the dashboard. */
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
        Duration codeTime = Duration.ofSeconds(opened.number("code_seconds", 0));
        show(response, List.of(url));
        console()
                .say("Open the URL within " + codeTime.toMinutes() + " minutes. It is valid for one login."
                        + (lease.isEmpty() ? "" : " Ctrl-C ends the dashboard."));
        console().flush();
        if (lease.isEmpty()) {
            try (BrowserPage page = new BrowserPage(invocation().environment())) {
                if (!noBrowser && page.open(url)) {
                    invocation().clock().sleep(BROWSER_START);
                }
            }
        } else {
            Duration length = Duration.ofSeconds(opened.number("lease_seconds", 0));
            CommandClock clock = invocation().clock();
            hold(new DashboardLease(client, clock, console()::say, lease, length), clock, url, codeTime);
        }
        return ExitCode.OK;
    }

    /** Opens the browser and renews the lease until the command is interrupted. Then ends the lease. */
    private void hold(DashboardLease lease, CommandClock clock, String url, Duration codeTime)
            throws AdminClientException, CommandFailure {
        Thread atExit = new Thread(lease::close, "close-dashboard");
        Runtime.getRuntime().addShutdownHook(atExit);
        long codeEndNanos = clock.nanoTime() + codeTime.toNanos();
        try (BrowserPage page = new BrowserPage(invocation().environment())) {
            if (!noBrowser) {
                page.open(url);
            }
            lease.hold(() -> {
                if (clock.nanoTime() - codeEndNanos >= 0) {
                    page.delete();
                }
            });
        } finally {
            lease.close();
            removeHook(atExit);
        }
    }

    private static void removeHook(Thread atExit) {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            // The process is exiting, so the shutdown hook was started and cannot be removed.
        }
    }
}
