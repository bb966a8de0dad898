package io.millrace.cli.command;

import io.millrace.cli.client.AdminAddress;
import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** Base class of commands that send requests to the admin API and show responses. Confined to one thread. */
public abstract class ApiCommand implements Callable<Integer> {
    /** The value of {@code --node} for all live nodes of the fleet. No node has this name. */
    private static final String ALL = "all";

    private final Invocation invocation;
    private final Duration timeout;

    protected ApiCommand(Invocation invocation, Duration timeout) {
        this.invocation = invocation;
        this.timeout = timeout;
    }

    protected final Invocation invocation() {
        return invocation;
    }

    protected final Console console() {
        return invocation.console();
    }

    @Override
    public final Integer call() throws CommandFailure {
        check();
        Duration interval = invocation.watch();
        if (interval != null && isChange()) {
            throw new CommandFailure(ExitCode.USAGE, "--watch is only for commands that change nothing");
        }
        String node = invocation.node();
        if (node != null && (isChange() || isLocal())) {
            throw new CommandFailure(ExitCode.USAGE, "--node is only for commands that query the admin API");
        }
        if (ALL.equals(node) && isEndless()) {
            throw new CommandFailure(ExitCode.USAGE, "--node all is only for commands that end; name one node");
        }
        AdminClient client = invocation.client(timeout);
        return interval == null ? once(client) : watch(client, interval);
    }

    private int once(AdminClient client) throws CommandFailure {
        String node = invocation.node();
        if (ALL.equals(node)) {
            return onAllNodes(client);
        }
        return execute(node == null ? client : client.forNode(node));
    }

    /** Runs the command on each live node. Returns the highest exit code. */
    private int onAllNodes(AdminClient client) throws CommandFailure {
        int exitCode = ExitCode.OK;
        for (String name : liveNodes(client)) {
            console().node(name, invocation.isJson());
            try {
                exitCode = Math.max(exitCode, execute(client.forNode(name)));
            } catch (CommandFailure e) {
                console().report(e);
                exitCode = Math.max(exitCode, e.exitCode());
            }
        }
        console().node(null, invocation.isJson());
        return exitCode;
    }

    private List<String> liveNodes(AdminClient client) throws CommandFailure {
        try {
            JsonObject fleet = answered(client.get("/v1/fleet"));
            List<String> names = new ArrayList<>();
            for (JsonObject node : fleet.objects("nodes")) {
                String name = node.text("node", "?");
                if (node.text("state", "").equals("live")) {
                    names.add(name);
                } else {
                    console().say("node " + name + " is " + node.text("state", "?"));
                }
            }
            if (names.isEmpty()) {
                throw new CommandFailure(ExitCode.FAILED, "no node of a fleet is live; see: millctl fleet status");
            }
            return names;
        } catch (AdminClientException e) {
            throw failure(client, e);
        }
    }

    private int execute(AdminClient client) throws CommandFailure {
        try {
            return run(client);
        } catch (AdminClientException e) {
            throw failure(client, e);
        }
    }

    /** Repeats the command until an interrupt. From the second run on, a temporary failure does not end it. */
    private int watch(AdminClient client, Duration interval) throws CommandFailure {
        int exitCode = once(client);
        while (console().flush() && invocation.clock().sleep(interval)) {
            console().separate(invocation.isJson());
            try {
                exitCode = once(client);
            } catch (CommandFailure e) {
                reportIfTemporary(e);
            }
        }
        return exitCode;
    }

    /** Reports a temporary failure; throws any other failure again. */
    private void reportIfTemporary(CommandFailure failure) throws CommandFailure {
        if (!failure.isTemporary()) {
            throw failure;
        }
        console().say("millctl: " + failure.message() + "; retrying");
    }

    /**
     * Runs a query of a command that repeats its queries in its own loop. After a temporary failure, reports the
     * failure and returns null.
     */
    protected final <T> @Nullable T queryOrNull(AdminClient client, RepeatedQuery<T> query) throws CommandFailure {
        try {
            return query.run();
        } catch (AdminClientException e) {
            reportIfTemporary(failure(client, e));
        } catch (CommandFailure e) {
            reportIfTemporary(e);
        }
        return null;
    }

    /** A query that a command repeats in its own loop, without {@code --watch}. */
    @FunctionalInterface
    public interface RepeatedQuery<T> {
        T run() throws AdminClientException, CommandFailure;
    }

    /** Checks the arguments before a request is sent. The default accepts all arguments. */
    protected void check() throws CommandFailure {}

    /** Sends the request and shows the response. Returns the exit code. */
    protected abstract int run(AdminClient client) throws AdminClientException, CommandFailure;

    /**
     * Returns true if the command changes the state of the proxy. After a timeout, or if the launcher lost its
     * connection to the worker (the process that serves requests), such a command ends with
     * {@link ExitCode#IN_PROGRESS}, since the proxy may have executed the change.
     */
    protected boolean isChange() {
        return false;
    }

    /** Returns true if the command also uses files or processes of this machine, not only the admin API. */
    protected boolean isLocal() {
        return false;
    }

    /** Returns true if the command ends only when it is interrupted. */
    protected boolean isEndless() {
        return false;
    }

    /** Prints the JSON of the response for {@code -o json}, otherwise {@code lines}. */
    protected final void show(AdminResponse response, List<String> lines) {
        if (invocation.isJson()) {
            console().json(response.body());
        } else {
            console().data(lines);
        }
    }

    /** Returns the JSON of a successful response. For an error response, throws a failure with its error message. */
    protected final JsonObject answered(AdminResponse response) throws AdminClientException, CommandFailure {
        if (response.isSuccess()) {
            return response.json();
        }
        throw refused(response);
    }

    private CommandFailure failure(AdminClient client, AdminClientException e) {
        return switch (e.kind()) {
            case UNREACHABLE ->
                CommandFailure.temporary(
                        ExitCode.UNREACHABLE,
                        e.message(),
                        "start one:    millrace run --config FILE (or run --demo)",
                        "find another: millctl status, without --admin and MILLRACE_ADMIN");
            case UNTRUSTED ->
                new CommandFailure(
                        ExitCode.UNREACHABLE,
                        e.message(),
                        "name the authority of its certificate: --ca-file FILE, or set MILLRACE_ADMIN_CA",
                        "present a certificate: --client-certificate FILE --client-key FILE");
            case NO_ANSWER ->
                isChange()
                        ? new CommandFailure(
                                ExitCode.IN_PROGRESS,
                                e.message() + "; it may still be carried out",
                                "check later: " + invocation.statusCommand())
                        : CommandFailure.temporary(
                                ExitCode.UNREACHABLE,
                                e.message(),
                                "allow more time with --timeout, or look at the log of the launcher");
            case CHANGE_OF_OTHER_NODE -> new CommandFailure(ExitCode.USAGE, e.message());
            case BROKEN_ANSWER ->
                CommandFailure.temporary(
                        ExitCode.FAILED,
                        e.message(),
                        "is " + client.address() + " the admin API of a millrace?" + tlsAddressHint(client.address()));
        };
    }

    private static String tlsAddressHint(AdminAddress address) {
        return address instanceof AdminAddress.Tcp tcp && !tcp.secure()
                ? " With admin.tls it is https://" + tcp.authority()
                : "";
    }

    /** Returns the failure for an error response. With {@code -o json} it also prints the JSON of the response. */
    protected final CommandFailure refused(AdminResponse response) {
        JsonObject error;
        try {
            JsonObject answer = response.json();
            error = answer.object("error");
            if (invocation.isJson()) {
                console().json(response.body());
            }
        } catch (AdminClientException e) {
            return new CommandFailure(ExitCode.FAILED, e.message());
        }
        String code = error.text("code", "status " + response.status());
        String message = error.text("message", "the request was refused") + " (" + code + ")";
        boolean isUnknown = response.status() == 504 || code.equals("worker-failed");
        if (code.equals("in-progress") || (isUnknown && isChange())) {
            return new CommandFailure(ExitCode.IN_PROGRESS, message, "check later: " + invocation.statusCommand());
        }
        boolean isMissing = code.equals("unknown-purge") || code.equals("unknown-site");
        if (isMissing || (code.equals("unknown-node") && response.status() == 404)) {
            return new CommandFailure(ExitCode.FAILED, message);
        }
        return switch (response.status()) {
            case 400 -> new CommandFailure(ExitCode.USAGE, message, usageLines(message));
            case 401 ->
                new CommandFailure(
                        ExitCode.FAILED, message, "name the token: --token-file FILE, or set MILLRACE_ADMIN_TOKEN");
            case 404, 405 ->
                new CommandFailure(
                        ExitCode.FAILED, message, "is Millrace older than this millctl? see: millctl --version");
            case 502, 503, 504 -> CommandFailure.temporary(ExitCode.FAILED, message, whatNext());
            default -> new CommandFailure(ExitCode.FAILED, message);
        };
    }

    /** Returns lines that show where an argument is wrong; printed below the message of status 400. */
    protected String[] usageLines(String message) {
        return new String[0];
    }

    /** Returns advice for the user after a response with status 502, 503 or 504. */
    protected String whatNext() {
        return "check its state: " + invocation.statusCommand();
    }
}
