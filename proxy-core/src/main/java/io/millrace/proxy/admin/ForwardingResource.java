package io.millrace.proxy.admin;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.FailureReply;
import io.millrace.proxy.admin.status.LivezResource;
import io.millrace.proxy.admin.status.ReadyzResource;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Forwards requests from the launcher's admin server to the worker's. Thread-safe. */
final class ForwardingResource implements AdminResource {
    /** Time that is added to the worker's time limit, so that the client gets the worker's error. */
    private static final Duration MARGIN = Duration.ofSeconds(5);

    private final AdminClient client;
    private final String method;
    private final String path;
    private final Supplier<@Nullable Path> socket;
    private final Duration timeout;

    ForwardingResource(
            AdminClient client, String method, String path, Supplier<@Nullable Path> socket, Duration timeout) {
        this.client = client;
        this.method = method;
        this.path = path;
        this.socket = socket;
        this.timeout = timeout;
    }

    @Override
    public String method() {
        return method;
    }

    @Override
    public String path() {
        return path;
    }

    /** True for health checks, which are public in the worker too. */
    @Override
    public boolean isPublic() {
        return path.equals(LivezResource.PATH) || path.equals(ReadyzResource.PATH);
    }

    @Override
    public Duration timeout() {
        return timeout.plus(MARGIN);
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) {
        client.send(socket.get(), request, timeout).whenComplete((reply, failure) -> {
            if (failure == null) {
                responder.reply(reply);
            } else {
                responder.fail(withOutcome(FailureReply.exceptionOf(failure)));
            }
        });
    }

    /** Adds to the error of a request that changes state whether the change may have been made. */
    private AdminException withOutcome(AdminException error) {
        if (!method.equals("POST") || path.endsWith("/dry-run")) {
            return error;
        }
        String outcome =
                switch (error.code()) {
                    case AdminClient.DOWN -> "nothing was changed";
                    case AdminClient.FAILED, AdminClient.TIMEOUT -> uncertain();
                    default -> "";
                };
        return outcome.isEmpty()
                ? error
                : new AdminException(error.status(), error.code(), error.message() + "; " + outcome);
    }

    private String uncertain() {
        if (path.startsWith("/v1/cache/purge/")) {
            return "the change may have been made: 'millctl purge show ID' shows the state of the purge";
        }
        return path.contains("/purge")
                ? "the purge may be in force: repeat it, or look for it with 'millctl purge list'"
                : "the change may have been made";
    }
}
