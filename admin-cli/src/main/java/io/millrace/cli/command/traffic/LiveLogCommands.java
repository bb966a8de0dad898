package io.millrace.cli.command.traffic;

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
import io.millrace.cli.render.past.LiveLogView;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The commands {@code millctl log follow}, {@code slow}, {@code failed} and {@code refused}, over the admin API. */
public final class LiveLogCommands {
    private LiveLogCommands() {}

    /** Base class of the commands, with the condition for requests. Confined to one thread. */
    abstract static class LiveLogCommand extends ApiCommand {
        @Option(
                names = "--where",
                paramLabel = "EXPR",
                description =
                        "Only requests for which this expression holds, over host, status, cache, duration and others.")
        private @Nullable String where;

        LiveLogCommand(Invocation invocation) {
            super(invocation, Invocation.QUERY_TIMEOUT);
        }

        /** Adds the condition to a path that has a query. */
        final String withCondition(String path) {
            return where == null ? path : path + "&where=" + TargetUrl.encoded(where);
        }

        @Override
        protected final String[] usageLines(String message) {
            return where == null ? super.usageLines(message) : MarkedExpression.lines(where, message);
        }
    }

    @Command(
            name = "follow",
            abbreviateSynopsis = true,
            description = {
                "Print requests as they finish, until it is interrupted.",
                "From the memory of the running proxy, also without an access log; with",
                "-o json one object for each request. A busy proxy may lose some: the",
                "command says how many."
            },
            footer = {"", "Example: millctl log follow --where 'status >= 500 && host == \"www.example.com\"'"})
    public static final class Follow extends LiveLogCommand {
        private static final Duration PERIOD = Duration.ofMillis(250);
        private static final long WAIT_SECONDS_MAX = 5;

        @Option(names = "--count", paramLabel = "N", description = "End after N requests.")
        private long count = Long.MAX_VALUE;

        private String viewer = "";
        private long last;
        private long lost;

        public Follow(Invocation invocation) {
            super(invocation);
        }

        @Override
        protected void check() throws CommandFailure {
            if (invocation().watch() != null) {
                throw new CommandFailure(ExitCode.USAGE, "follow continues by itself: use it without --watch");
            }
            if (count < 1) {
                throw new CommandFailure(ExitCode.USAGE, "--count: actual=" + count + ", expected a number from 1");
            }
        }

        @Override
        protected boolean isEndless() {
            return count == Long.MAX_VALUE;
        }

        @Override
        protected int run(AdminClient client) throws AdminClientException, CommandFailure {
            open(client);
            long shown = 0;
            while (shown < count && console().flush() && invocation().clock().sleep(PERIOD)) {
                JsonObject batch = queryOrNull(client, () -> next(client));
                if (batch != null) {
                    shown += show(batch, count - shown);
                }
            }
            console().flush();
            return ExitCode.OK;
        }

        private void open(AdminClient client) throws AdminClientException, CommandFailure {
            JsonObject opened = answered(client.get(withCondition("/v1/log/live?wait=0")));
            viewer = opened.text("viewer", "");
            last = 0;
            lost = 0;
        }

        /**
         * Returns the next records. If the proxy does not know the identifier of this viewer any more, requests a new
         * one and begins again.
         */
        private JsonObject next(AdminClient client) throws AdminClientException, CommandFailure {
            long wait = Math.min(
                    WAIT_SECONDS_MAX,
                    invocation().timeout(Invocation.QUERY_TIMEOUT).toSeconds() / 2);
            AdminResponse response =
                    client.get("/v1/log/live?wait=" + wait + "&viewer=" + TargetUrl.encoded(viewer) + "&after=" + last);
            if (response.status() == 404
                    && response.json().object("error").text("code", "").equals("unknown-viewer")) {
                console()
                        .say("millctl: another worker serves, or this command was stopped for a while; some requests"
                                + " may be missing");
                open(client);
                return JsonObject.empty();
            }
            if (response.status() >= 502 && response.status() <= 504) {
                // This is a message on standard error and not a JSON object, since standard output contains only
                // requests.
                console().say("millctl: the worker does not answer now (status " + response.status() + "); retrying");
                return JsonObject.empty();
            }
            return answered(response);
        }

        private long show(JsonObject batch, long limit) {
            long lostNow = batch.number("lost", lost);
            if (lostNow > lost) {
                console()
                        .say("millctl: " + (lostNow - lost) + " requests were lost, because the proxy is busy; use"
                                + " --where for fewer requests");
                lost = lostNow;
            }
            long shown = 0;
            for (JsonObject record : batch.objects("records")) {
                last = Math.max(last, record.number("number", last));
                if (shown < limit) {
                    shown++;
                    if (invocation().isJson()) {
                        console().json(LiveLogView.json(record));
                    } else {
                        console().data(LiveLogView.line(record));
                    }
                }
            }
            return shown;
        }
    }

    /**
     * Base class of the commands that list kept requests: the last slow, failed or refused requests in the proxy's
     * memory.
     */
    abstract static class KeptCommand extends LiveLogCommand {
        private static final int LIMIT_MAX = 1000;

        @Option(names = "--limit", paramLabel = "N", description = "The last N requests, 1 to 1000; default 200.")
        private int limit = 200;

        private final String kind;

        KeptCommand(Invocation invocation, String kind) {
            super(invocation);
            this.kind = kind;
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
            AdminResponse response = client.get(withCondition("/v1/log/kept?kind=" + kind + "&limit=" + limit));
            show(response, LiveLogView.kept(answered(response)));
            return ExitCode.OK;
        }
    }

    @Command(
            name = "slow",
            abbreviateSynopsis = true,
            description = {
                "List the last slow requests, oldest first.",
                "Requests whose first byte of the response came after log.slow_threshold.",
                "With -o json the response of the admin API, newest first."
            },
            footer = {"", "Example: millctl log slow --where 'first_byte > 5s'"})
    public static final class Slow extends KeptCommand {
        public Slow(Invocation invocation) {
            super(invocation, "slow");
        }
    }

    @Command(
            name = "failed",
            abbreviateSynopsis = true,
            description = {
                "List the last failed requests, oldest first.",
                "Responses with status 5xx, and responses that were incomplete because of",
                "the origin or the disk. With -o json the response of the admin API,",
                "newest first."
            },
            footer = {"", "Example: millctl log failed --where 'origin == \"10.0.0.7\"'"})
    public static final class Failed extends KeptCommand {
        public Failed(Invocation invocation) {
            super(invocation, "failed");
        }
    }

    @Command(
            name = "refused",
            abbreviateSynopsis = true,
            description = {
                "List the last refused requests, oldest first.",
                "Requests refused by a rule or a limit, and invalid requests. With -o json",
                "the response of the admin API, newest first."
            },
            footer = {"", "Example: millctl log refused --where 'client == \"192.0.2.7\"'"})
    public static final class Refused extends KeptCommand {
        public Refused(Invocation invocation) {
            super(invocation, "refused");
        }
    }
}
