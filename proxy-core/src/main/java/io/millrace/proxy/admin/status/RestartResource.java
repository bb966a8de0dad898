package io.millrace.proxy.admin.status;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** {@code POST /v1/server/restart}: replaces the worker, the process that serves requests. Thread-safe. */
public final class RestartResource implements AdminResource {
    /** The time limit is long, because a worker may open a large store. */
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    /** Replaces the worker. Thread-safe. */
    @FunctionalInterface
    public interface Restarter {
        /** Completes when the new worker serves; fails with {@link AdminException} if the old worker continues. */
        CompletionStage<RestartReport> restart();
    }

    /**
     * The result of a restart. Immutable.
     *
     * @param previousPid process id of the previous worker, which finishes its requests; 0 for none
     * @param pid process id of the new worker; 0 if it starts later
     * @param millis time until the new worker served
     */
    public record RestartReport(long previousPid, long pid, long millis) {}

    private final Restarter restarter;

    /** Creates the resource for a restarter. */
    public RestartResource(Restarter restarter) {
        this.restarter = restarter;
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return "/v1/server/restart";
    }

    @Override
    public Duration timeout() {
        return TIMEOUT;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        Json.strings(request.body(), Set.of());
        responder.replyWhen(
                restarter.restart(),
                report -> AdminReply.json(json -> {
                    json.writeNumberProperty("previous_pid", report.previousPid());
                    json.writeNumberProperty("pid", report.pid());
                    json.writeNumberProperty("millis", report.millis());
                }));
    }
}
