package io.millrace.proxy.admin.fleet;

import io.millrace.proxy.admin.copy.ObjectResource;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.config.fleet.FleetConfig;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * {@code GET /v1/fleet/read?node=NAME&target=TARGET}: the answer of another node to a query. Permits only queries that
 * the role viewer may send, because the other node does not know the token of the client. Thread-safe.
 */
public final class FleetReadResource implements AdminResource {
    /** The path on the launcher's socket. */
    public static final String PATH = "/v1/fleet/read";

    /** Limit of a target, in characters. */
    public static final int TARGET_LENGTH_MAX = 16 << 10;

    /** Paths that read files or the content of responses, change sessions, or ask a third node. */
    private static final Set<String> DENIED =
            Set.of(PATH, "/v1/tls/check", "/v1/session", ObjectResource.HEAD_PATH, ObjectResource.CONTENT_PATH);

    private final Reads reads;

    /** Sends queries to other nodes. Thread-safe; never blocks. */
    @FunctionalInterface
    public interface Reads {
        /**
         * Sends a query to the admin API of a node.
         *
         * @param target path and query
         * @return the answer with any status; fails with an {@link AdminException} if the node does not answer
         */
        CompletionStage<AdminReply> read(String node, String target);
    }

    public FleetReadResource(Reads reads) {
        this.reads = reads;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return PATH;
    }

    @Override
    public Duration timeout() {
        return Duration.ofSeconds(40);
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        String node = request.parameter("node");
        if (!FleetConfig.isName(node)) {
            throw new AdminException(400, "bad-request", "node: '" + node + "' is not the name of a node");
        }
        String target = request.parameter("target");
        check(target);
        responder.replyWhen(reads.read(node, target), Function.identity());
    }

    /**
     * Checks the target of a query of another node.
     *
     * @throws AdminException if other nodes may not read it
     */
    public static void check(String target) throws AdminException {
        int query = target.indexOf('?');
        String path = query < 0 ? target : target.substring(0, query);
        boolean isPath = path.equals("/metrics") || path.startsWith("/v1/");
        boolean isVisible = target.chars().allMatch(c -> c > ' ' && c < 0x7f);
        if (!isPath || !isVisible || path.indexOf('%') >= 0 || target.length() > TARGET_LENGTH_MAX) {
            throw new AdminException(
                    400,
                    "bad-request",
                    "target: not a path of the admin API of at most " + TARGET_LENGTH_MAX + " characters");
        }
        if (DENIED.contains(path)) {
            throw new AdminException(
                    403, "not-from-other-nodes", path + " cannot be read from another node; ask the node itself");
        }
    }
}
