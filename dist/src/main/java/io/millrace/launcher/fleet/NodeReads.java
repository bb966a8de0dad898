package io.millrace.launcher.fleet;

import io.millrace.proxy.admin.fleet.FleetReadResource;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.config.fleet.FleetConfig;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Queries between the admin APIs of the nodes of a fleet. Sends queries of local clients to other nodes, and answers
 * queries of other nodes. A query is a JSON object that contains the target (path and parameters). An answer begins
 * with a line that contains status and media type; the content follows. Thread-safe.
 */
public final class NodeReads implements FleetReadResource.Reads {
    /** Limit of the content of an answer. NATS servers accept messages of 1 MiB by default. */
    static final int ANSWER_BYTES_MAX = 1000 << 10;

    /** Limit of queries of other nodes in progress; further queries get status 503. */
    static final int IN_PROGRESS_MAX = 16;

    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    /** Time limit of the local answer, so that its error reaches the other node in time. */
    private static final Duration LOCAL_TIMEOUT = Duration.ofSeconds(15);

    /** Version of the query format. */
    private static final int FORMAT_VERSION = 1;

    private static final int REQUEST_BYTES_MAX = 2 * FleetReadResource.TARGET_LENGTH_MAX;

    private final FleetFigures figures;
    private final Predicate<String> mayExist;
    private final AtomicInteger inProgress = new AtomicInteger();
    private volatile @Nullable Local local;
    private volatile @Nullable FleetLink link;
    private volatile @Nullable FleetConfig settings;

    /** @param mayExist returns false for a node that is certainly not in the fleet */
    NodeReads(FleetFigures figures, Predicate<String> mayExist) {
        this.figures = figures;
        this.mayExist = mayExist;
    }

    /** Sends a query to the admin API of this node. */
    @FunctionalInterface
    public interface Local {
        /** Fails if this admin API does not answer within the time. */
        CompletionStage<AdminReply> get(String target, Duration timeout);
    }

    void setLocal(Local queries) {
        local = queries;
    }

    /** Begins to send queries over a connection, and to answer the queries that arrive over it. */
    void begin(FleetConfig present, FleetLink connection) {
        settings = present;
        link = connection;
        connection.onAsk(this::answer);
    }

    /** Stops the use of the connection. */
    void end() {
        link = null;
    }

    @Override
    public CompletionStage<AdminReply> read(String node, String target) {
        FleetConfig present = settings;
        FleetLink connection = link;
        Local queries = local;
        if (present != null && queries != null && node.equals(present.node())) {
            return queries.get(target, TIMEOUT);
        }
        if (present == null || connection == null || !connection.isConnected()) {
            return failed(
                    503, "fleet-not-connected", "this node is not connected to a fleet; see millctl fleet status");
        }
        if (!mayExist.test(node)) {
            return failed(
                    404,
                    "unknown-node",
                    "node '" + node + "' is unknown, because no report of it has arrived; see millctl fleet status");
        }
        CompletableFuture<AdminReply> reply = new CompletableFuture<>();
        byte[] request = AdminReply.json(json -> {
                    json.writeNumberProperty("v", FORMAT_VERSION);
                    json.writeStringProperty("fleet", present.name());
                    json.writeStringProperty("target", target);
                })
                .body();
        var unused = connection.ask(node, request, TIMEOUT).whenComplete((answer, failure) -> {
            if (failure != null || answer == null) {
                reply.completeExceptionally(noAnswer(node, connection.queryRefusal(node)));
                return;
            }
            try {
                reply.complete(replyOf(answer));
            } catch (AdminException e) {
                reply.completeExceptionally(new AdminException(
                        502, "bad-answer", "the answer of node '" + node + "' cannot be read: " + e.message()));
            }
        });
        return reply;
    }

    /**
     * @param refusal the permission for the query that the NATS servers have refused, with the remedy; empty if they
     *     refused none
     */
    private static AdminException noAnswer(String node, String refusal) {
        return refusal.isEmpty()
                ? new AdminException(
                        504,
                        "node-silent",
                        "node '" + node + "' did not answer within " + TIMEOUT.toSeconds()
                                + " s, or is not connected; see millctl fleet status")
                : new AdminException(409, "fleet-not-permitted", refusal);
    }

    private static CompletionStage<AdminReply> failed(int status, String code, String message) {
        return CompletableFuture.failedFuture(new AdminException(status, code, message));
    }

    private static AdminReply replyOf(byte[] answer) throws AdminException {
        int end = 0;
        while (end < answer.length && answer[end] != '\n') {
            end++;
        }
        Map<String, Object> head = Json.members(Arrays.copyOf(answer, end));
        Long status = Json.member(head, "status", Long.class);
        String type = Json.member(head, "type", String.class);
        if (status == null || status < 200 || status > 599 || type == null || end == answer.length) {
            throw new AdminException(502, "bad-answer", "its first line has no status and type");
        }
        AdminReply reply = new AdminReply(status.intValue(), type, Arrays.copyOfRange(answer, end + 1, answer.length));
        String code = Json.member(head, "code", String.class);
        return code == null ? reply : reply.withErrorCode(code);
    }

    /** Answers the query of another node. Never fails. */
    CompletionStage<byte[]> answer(byte[] request) {
        Local queries = local;
        String target;
        try {
            target = targetOf(request);
            if (queries == null) {
                throw new AdminException(503, "starting", "the node starts");
            }
            if (inProgress.incrementAndGet() > IN_PROGRESS_MAX) {
                inProgress.decrementAndGet();
                throw new AdminException(
                        503, "busy", "queries of other nodes in progress: limit=" + IN_PROGRESS_MAX + "; try again");
            }
        } catch (AdminException e) {
            figures.countQuery("refused");
            return CompletableFuture.completedFuture(bytes(AdminReply.error(e)));
        }
        figures.countQuery("answered");
        return queries.get(target, LOCAL_TIMEOUT).handle((reply, failure) -> {
            inProgress.decrementAndGet();
            return bytes(
                    reply == null
                            ? AdminReply.error(504, "no-answer", "the admin API of the node did not answer")
                            : reply);
        });
    }

    private String targetOf(byte[] request) throws AdminException {
        if (request.length > REQUEST_BYTES_MAX) {
            throw new AdminException(
                    400, "too-long", "length of the query: actual=" + request.length + ", limit=" + REQUEST_BYTES_MAX);
        }
        Map<String, Object> members = Json.members(request);
        FleetConfig present = settings;
        if (!Long.valueOf(FORMAT_VERSION).equals(members.get("v"))) {
            throw new AdminException(
                    400,
                    "version",
                    "version of the query: actual=" + members.get("v") + ", supported=" + FORMAT_VERSION);
        }
        if (present == null || !present.name().equals(members.get("fleet"))) {
            throw new AdminException(400, "other-fleet", "the query is of another fleet");
        }
        String target = Json.member(members, "target", String.class);
        if (target == null) {
            throw new AdminException(400, "bad-request", "the member 'target' is missing");
        }
        FleetReadResource.check(target);
        return target;
    }

    private static byte[] bytes(AdminReply reply) {
        AdminReply sent = reply.body().length <= ANSWER_BYTES_MAX
                ? reply
                : AdminReply.error(
                        413,
                        "too-long",
                        "length of the answer: actual=" + reply.body().length + ", limit=" + ANSWER_BYTES_MAX
                                + "; request less, or ask the node itself");
        byte[] head = AdminReply.json(json -> {
                    json.writeNumberProperty("v", FORMAT_VERSION);
                    json.writeNumberProperty("status", sent.status());
                    json.writeStringProperty("type", sent.contentType());
                    String code = sent.errorCode();
                    if (code != null) {
                        json.writeStringProperty("code", code);
                    }
                })
                .body();
        byte[] line = (new String(head, StandardCharsets.UTF_8).strip() + "\n").getBytes(StandardCharsets.UTF_8);
        byte[] all = Arrays.copyOf(line, line.length + sent.body().length);
        System.arraycopy(sent.body(), 0, all, line.length, sent.body().length);
        return all;
    }
}
