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

/** {@code POST /v1/server/restart}: a new worker in the place of the one that serves. Thread-safe. */
public final class RestartResource implements AdminResource {
    /** A worker may have a large store to open. */
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    /** Puts a new worker in the place of the one that serves. Thread-safe. */
    @FunctionalInterface
    public interface Restarter {
        /** Completes when the new one serves; an {@link AdminException} when the old one goes on. */
        CompletionStage<RestartReport> restart();
    }

    /**
     * What a restart came to. Immutable.
     *
     * @param previousPid process id of the worker before, which finishes what is in flight; 0 when there was none
     * @param pid of the one that serves now; 0 when the next start brings it
     * @param millis until that one served
     */
    public record RestartReport(long previousPid, long pid, long millis) {}

    private final Restarter restarter;

    /** The resource over a restarter. */
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
