package io.millrace.cli.command.fleet;

import io.millrace.cli.client.AdminClient;
import io.millrace.cli.client.AdminClientException;
import io.millrace.cli.client.AdminResponse;
import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.ApiCommand;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import io.millrace.cli.render.Printable;
import io.millrace.cli.render.fleet.FleetConfigView;
import io.millrace.cli.sign.RevisionSigner;
import io.millrace.cli.sign.RevisionSigner.Statement;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Base class of the commands that sign and publish a revision of the configuration that a fleet of nodes shares.
 * Confined to one thread.
 */
abstract class RevisionCommand extends ApiCommand {
    static final String PATH = "/v1/fleet/config";
    static final String NONE = "none";

    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final Duration INTERVAL = Duration.ofMillis(200);
    /**
     * Time limit of {@code --wait}. With a canary (nodes that apply a revision first and are observed), it is twice the
     * sum of this time and the observation time.
     */
    private static final long WAIT_SECONDS = 30;

    /** Limit of characters of the user name that a revision contains. */
    private static final int USER_LENGTH_MAX = 64;

    @Option(names = "--key", paramLabel = "FILE", description = "Private key that signs the revision.")
    private @Nullable Path key;

    @Option(names = "--wait", description = "Wait until every live node has applied or rejected it.")
    private boolean wait;

    RevisionCommand(Invocation invocation) {
        super(invocation, TIMEOUT);
    }

    @Override
    protected void check() throws CommandFailure {
        if (key == null) {
            throw new CommandFailure(
                    ExitCode.USAGE, "--key FILE is needed", "make a key: millctl fleet config keygen FILE");
        }
    }

    @Override
    protected boolean isChange() {
        return true;
    }

    @Override
    protected boolean isLocal() {
        return true;
    }

    final RevisionSigner signer() throws CommandFailure {
        Path file = key;
        try {
            return RevisionSigner.read(file == null ? Path.of("") : file);
        } catch (IOException e) {
            throw new CommandFailure(ExitCode.USAGE, file + " cannot be used: " + e.getMessage());
        }
    }

    /** Returns the state of the configuration of the fleet; fails if this node does not use it or cannot reach it. */
    final JsonObject state(AdminClient client) throws AdminClientException, CommandFailure {
        JsonObject state = answered(client.get(PATH));
        if (!state.text("state", "").equals("on")) {
            String failure = state.text("state", "").equals("off")
                    ? "this node does not share a configuration: "
                    : "the configuration of the fleet cannot be reached, so no node has changed: ";
            throw new CommandFailure(ExitCode.FAILED, failure + state.text("problem", ""));
        }
        return state;
    }

    static Statement statement(
            JsonObject state,
            long revision,
            String content,
            long restoredRevision,
            List<String> canary,
            long observationSeconds,
            List<String> guards) {
        String user = System.getProperty("user.name", "").replaceAll("[^!-~]", "?");
        return new Statement(
                state.text("fleet", ""),
                revision,
                content,
                restoredRevision,
                canary,
                observationSeconds,
                guards,
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                user.isEmpty() ? "unknown" : user.substring(0, Math.min(USER_LENGTH_MAX, user.length())));
    }

    /**
     * Signs and publishes a revision, and shows the result.
     *
     * @param fallback revision that replaces the published one if a guard (a condition on metrics of the canary nodes)
     *     fails; null without a canary
     * @param file name of the file in messages; null for none
     */
    final int publish(AdminClient client, Statement revision, @Nullable Statement fallback, @Nullable Path file)
            throws AdminClientException, CommandFailure {
        RevisionSigner signer = signer();
        Map<String, String> members = new LinkedHashMap<>();
        members.put("statement", revision.text());
        members.put("signature", signer.sign(revision.text()));
        if (fallback != null) {
            members.put("fallback", fallback.text());
            members.put("fallback_signature", signer.sign(fallback.text()));
        }
        AdminResponse response = client.post(PATH + "/push", JsonText.object(members));
        JsonObject report = answered(response);
        if (!report.isTrue("ok")) {
            show(response, FleetConfigView.refused(report, file == null ? "" : file.toString()));
            console().say("not published; no node has changed");
            return ExitCode.USAGE;
        }
        if (!wait) {
            show(response, FleetConfigView.pushed(report, revision.canary()));
            return ExitCode.OK;
        }
        FleetConfigView.pushed(report, revision.canary()).forEach(console()::say);
        return waitFor(client, revision);
    }

    private int waitFor(AdminClient client, Statement revision) throws AdminClientException, CommandFailure {
        long limit = WAIT_SECONDS + (revision.canary().isEmpty() ? 0 : 2 * revision.seconds() + WAIT_SECONDS);
        long end = invocation().clock().nanoTime() + Duration.ofSeconds(limit).toNanos();
        AdminResponse response = client.get(PATH);
        while (!isDecided(answered(response), revision.revision())
                && invocation().clock().nanoTime() < end
                && invocation().clock().sleep(INTERVAL)) {
            response = client.get(PATH);
        }
        JsonObject state = answered(response);
        show(response, FleetConfigView.status(state, console().paint()));
        if (!isDecided(state, revision.revision())) {
            console().say(unconfirmed(state, revision.revision(), limit));
            return ExitCode.IN_PROGRESS;
        }
        return isRejected(state) || state.number("failed", 0) == revision.revision() ? ExitCode.FAILED : ExitCode.OK;
    }

    /** Returns a message that names the nodes that have neither applied nor rejected a revision, as far as is known. */
    private static String unconfirmed(JsonObject state, long revision, long seconds) {
        long newest = Math.max(revision, state.number("newest", 0));
        List<String> nodes = new ArrayList<>();
        for (JsonObject node : state.objects("nodes")) {
            String connection = node.text("connection", "");
            // If this node has no connection to the fleet, it reports the state "away" even for live nodes. So nodes
            // that are away are counted then.
            boolean isCounted = isLive(node) || (connection.equals("away") && !isOn(state));
            if (isCounted && !isDecided(node.text("state", ""), node, newest)) {
                nodes.add(node.text("node", "?"));
            }
        }
        String begin = "revision " + revision + " is not confirmed after " + seconds + " s";
        if (isOn(state) && state.text("stage", "").equals("canary")) {
            return Printable.of(begin + ": it waits for the verdicts of " + String.join(", ", state.texts("canary")));
        }
        String names = nodes.isEmpty() ? "unknown nodes" : String.join(", ", nodes);
        return Printable.of(begin + " by " + names + reason(state));
    }

    private static String reason(JsonObject state) {
        String problem = state.text("problem", "");
        return switch (state.text("state", "")) {
            case "on" -> "";
            case "off" -> ": this node does not share a configuration: " + problem;
            case "disconnected" -> ": this node has no connection to the fleet: " + problem;
            default -> ": the configuration of the fleet cannot be reached: " + problem;
        };
    }

    private static boolean isOn(JsonObject state) {
        return state.text("state", "").equals("on");
    }

    private static boolean isLive(JsonObject node) {
        return node.text("connection", "").equals("live");
    }

    /** Returns true if a live node rejects the newest revision. */
    static boolean isRejected(JsonObject state) {
        for (JsonObject node : state.objects("nodes")) {
            if (isLive(node) && node.text("state", "").equals("rejected")) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns true if every live node has applied or rejected the newest revision, and the newest revision is at least
     * {@code revision}. Returns false during a canary, or if this node does not know the live nodes.
     */
    private static boolean isDecided(JsonObject state, long revision) {
        long newest = state.number("newest", 0);
        if (!isOn(state) || newest < revision || state.text("stage", "").equals("canary")) {
            return false;
        }
        for (JsonObject node : state.objects("nodes")) {
            if (isLive(node) && !isDecided(node.text("state", ""), node, newest)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns true if a node has applied or rejected the newest revision. Also checks the node's state: a node may
     * report the number before it has recorded the revision. A node with the state "off" does not use the shared
     * configuration, so it counts as decided.
     */
    private static boolean isDecided(String state, JsonObject node, long newest) {
        return switch (state) {
            case "off" -> true;
            case "applied" -> node.number("revision", 0) >= newest;
            case "rejected" -> node.number("newest", 0) >= newest;
            default -> false;
        };
    }
}
