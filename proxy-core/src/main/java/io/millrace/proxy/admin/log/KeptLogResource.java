package io.millrace.proxy.admin.log;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.observe.log.live.KeptKind;
import io.millrace.proxy.observe.log.live.LiveLog;
import io.millrace.proxy.observe.log.live.LiveLogSettings;
import io.millrace.proxy.observe.log.live.NumberedRecord;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** {@code GET /v1/log/kept}: the last slow, failed or refused requests, newest first. Thread-safe. */
public final class KeptLogResource implements AdminResource {
    public static final String PATH = "/v1/log/kept";

    private static final int LIMIT_MAX = 1000;
    private static final int LIMIT_DEFAULT = 200;

    private final LiveLog log;

    /** Creates the resource for the live log of a proxy. */
    public KeptLogResource(LiveLog log) {
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

    /** Always true, because a condition is evaluated for up to 10,000 requests. */
    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        String word = request.parameter("kind");
        KeptKind kind = KeptKind.of(word);
        if (kind == null) {
            throw new AdminException(
                    400, "bad-request", "kind: '" + word + "' is not one of " + String.join(", ", KeptKind.words()));
        }
        int limit = (int) request.number("limit", 1, LIMIT_MAX, LIMIT_DEFAULT);
        List<NumberedRecord> records = log.kept(kind, LogCondition.of(request), limit);
        LiveLogSettings settings = log.settings();
        responder.reply(RecordsReply.of(
                json -> {
                    json.writeStringProperty("kind", kind.word());
                    json.writeNumberProperty("slow_threshold_ms", TimeUnit.NANOSECONDS.toMillis(settings.slowNanos()));
                    json.writeNumberProperty("kept_requests", settings.keptMax());
                },
                records,
                !request.caller().hasViewerRole()));
    }
}
