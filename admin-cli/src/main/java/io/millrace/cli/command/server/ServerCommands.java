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
import io.millrace.cli.render.ServerView;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The commands {@code millctl server}: status, drain, restart and threads of the worker, which serves requests. */
public final class ServerCommands {
    private ServerCommands() {}

    @Command(
            name = "status",
            abbreviateSynopsis = true,
            description = "Show the serving process and each of its event loops.",
            footer = {"", "Example: millctl server status"})
    public static final class Status extends ApiCommand {
        public Status(Invocation invocation) {
            super(invocation, Invocation.QUERY_TIMEOUT);
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            AdminResponse response = client.get("/v1/server");
            JsonObject server = answered(response);
            show(
                    response,
                    ServerView.status(
                            server,
                            invocation().isJson() ? JsonObject.empty() : launcherPart(client),
                            console().paint()));
            return ExitCode.OK;
        }

        /** Returns the launcher's data about its worker processes; empty if the status request fails. */
        private static JsonObject launcherPart(AdminClient client) throws AdminClientException {
            AdminResponse status = client.get("/v1/status");
            return status.isSuccess() ? status.json().object("process") : JsonObject.empty();
        }
    }

    @Command(
            name = "drain",
            abbreviateSynopsis = true,
            description = {
                "Drain: ask clients to use another server.",
                "Every response has 'Connection: close', and /readyz reports draining.",
                "Connections are accepted as before."
            },
            footer = {"", "Example: millctl server drain; millctl server drain --undo"})
    public static final class Drain extends ApiCommand {
        @Option(names = "--undo", description = "End the drain.")
        private boolean undo;

        public Drain(Invocation invocation) {
            super(invocation, Invocation.CHANGE_TIMEOUT);
        }

        @Override
        protected boolean isChange() {
            return true;
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            byte[] body = undo ? JsonText.object("undo", "true") : JsonText.emptyObject();
            AdminResponse response = client.post("/v1/server/drain", body);
            show(response, ServerView.status(answered(response), console().paint()));
            return ExitCode.OK;
        }
    }

    @Command(
            name = "restart",
            abbreviateSynopsis = true,
            description = {
                "Replace the serving worker by a new one.",
                "Waits until the new one serves. No connection is refused; the old one finishes its requests."
            },
            footer = {"", "Example: millctl server restart"})
    public static final class Restart extends ApiCommand {
        /** Timeout of a restart. It exceeds the admin API's own limit of 5 minutes for the start of a new worker. */
        private static final Duration TIMEOUT = Duration.ofSeconds(320);

        public Restart(Invocation invocation) {
            super(invocation, TIMEOUT);
        }

        @Override
        protected boolean isChange() {
            return true;
        }

        @Override
        protected String whatNext() {
            return "look at the log of the launcher, such as: journalctl -u millrace";
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            AdminResponse response = client.post("/v1/server/restart", JsonText.emptyObject());
            show(response, ServerView.restart(answered(response), console().paint()));
            return ExitCode.OK;
        }
    }

    @Command(
            name = "threads",
            abbreviateSynopsis = true,
            description = "Show the worker's threads and their stacks, most CPU first.",
            footer = {"", "Example: millctl server threads --depth 20"})
    public static final class Threads extends ApiCommand {
        private static final int DEPTH_DEFAULT = 8;
        private static final int DEPTH_MAX = 64;

        @Option(names = "--depth", paramLabel = "N", description = "Frames of each stack, 0 to 64. Default: 8.")
        private int depth = DEPTH_DEFAULT;

        public Threads(Invocation invocation) {
            super(invocation, Invocation.QUERY_TIMEOUT);
        }

        @Override
        protected void check() throws CommandFailure {
            if (depth < 0 || depth > DEPTH_MAX) {
                throw new CommandFailure(
                        ExitCode.USAGE, "--depth is a number from 0 to " + DEPTH_MAX + ", not " + depth);
            }
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            String query = depth == DEPTH_DEFAULT ? "" : "?depth=" + depth;
            AdminResponse response = client.get("/v1/server/threads" + query);
            show(response, ServerView.threads(answered(response), console().paint()));
            return ExitCode.OK;
        }
    }
}
