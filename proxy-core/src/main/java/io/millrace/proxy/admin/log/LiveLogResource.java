package io.millrace.proxy.admin.log;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.logged.LoggedFacts;
import io.millrace.proxy.observe.log.live.LiveBatch;
import io.millrace.proxy.observe.log.live.LiveLog;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * {@code GET /v1/log/live}: requests as they finish. The first request registers the client as a viewer, and is
 * answered at once. Each further request names the viewer and waits for records, up to the time in the parameter {@code
 * wait} (long poll). Thread-safe.
 */
public final class LiveLogResource implements AdminResource {
    public static final String PATH = "/v1/log/live";

    /** Limit of the wait in seconds, below the time limits of the API and of proxies in front of it. */
    private static final int WAIT_SECONDS_MAX = 20;

    private static final int WAIT_SECONDS = 10;

    private final LiveLog log;

    /** Creates the resource for the live log of a proxy. */
    public LiveLogResource(LiveLog log) {
        this.log = log;
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
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        // A caller with the role viewer does not see the addresses of clients. The parameter viewer names a client of
        // the live log instead.
        boolean showsClients = !request.caller().hasViewerRole();
        String viewer = request.optionalParameter("viewer");
        if (viewer == null) {
            responder.reply(reply(open(request), showsClients));
            return;
        }
        if (request.optionalParameter("where") != null) {
            throw new AdminException(
                    400,
                    "bad-request",
                    "where: only the first request of a viewer, without the parameter viewer, may have a condition");
        }
        long confirmed = request.number("after", 0, Long.MAX_VALUE, 0);
        long wait = request.number("wait", 0, WAIT_SECONDS_MAX, WAIT_SECONDS);
        CompletionStage<LiveBatch> next = log.next(viewer, confirmed, TimeUnit.SECONDS.toNanos(wait));
        if (next == null) {
            throw new AdminException(
                    404,
                    "unknown-viewer",
                    "this viewer is not known: it sent no request for 30 s, or another worker serves now; begin again"
                            + " without the parameter viewer");
        }
        responder.replyWhen(next, batch -> reply(batch, showsClients));
    }

    private LiveBatch open(AdminRequest request) throws AdminException {
        Expression<LoggedFacts> condition = LogCondition.of(request);
        LiveBatch opened = log.open(condition);
        if (opened == null) {
            throw new AdminException(
                    503,
                    "busy",
                    LiveLog.VIEWERS_MAX + " viewers watch the live log, which is the limit; end one of them",
                    30);
        }
        return opened;
    }

    private static AdminReply reply(LiveBatch batch, boolean showsClients) {
        return RecordsReply.of(
                json -> {
                    json.writeStringProperty("viewer", batch.viewer());
                    json.writeNumberProperty("lost", batch.lost());
                },
                batch.records(),
                showsClients);
    }
}
