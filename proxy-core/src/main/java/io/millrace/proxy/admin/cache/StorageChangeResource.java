package io.millrace.proxy.admin.cache;

import io.millrace.proxy.admin.cache.StorageControl.Volume;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/**
 * {@code POST /v1/storage/offline} and {@code /v1/storage/online}: takes a storage path offline or online. Thread-safe.
 */
public final class StorageChangeResource implements AdminResource {
    /** The time limit is long, because queued data is first written and synced, possibly to a failing disk. */
    static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final int REASON_LENGTH_MAX = 200;

    private final StorageControl control;
    private final boolean offline;

    private StorageChangeResource(StorageControl control, boolean offline) {
        this.control = control;
        this.offline = offline;
    }

    /** Creates {@code POST /v1/storage/offline}. */
    public static StorageChangeResource offline(StorageControl control) {
        return new StorageChangeResource(control, true);
    }

    /** Creates {@code POST /v1/storage/online}. */
    public static StorageChangeResource online(StorageControl control) {
        return new StorageChangeResource(control, false);
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return StorageResource.PATH + (offline ? "/offline" : "/online");
    }

    @Override
    public Duration timeout() {
        return TIMEOUT;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        Map<String, String> members = Json.strings(request.body(), offline ? Set.of("path", "reason") : Set.of("path"));
        String path = members.get("path");
        if (path == null || path.isEmpty()) {
            throw new AdminException(400, "bad-request", "the member 'path' is needed: a configured storage path");
        }
        String reason = members.getOrDefault("reason", "");
        if (reason.length() > REASON_LENGTH_MAX) {
            throw new AdminException(
                    400,
                    "bad-request",
                    "the member 'reason' is too long: actual=" + reason.length() + ", limit=" + REASON_LENGTH_MAX);
        }
        CompletionStage<List<Volume>> done = offline ? control.offline(path, reason) : control.online(path);
        responder.replyWhen(done, volumes -> AdminReply.json(json -> StorageResource.write(json, volumes)));
    }
}
