package io.millrace.proxy.admin.purge;

import io.millrace.proxy.admin.purge.PurgeControl.PurgeView;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** {@code POST /v1/cache/purge/undo} and {@code /v1/cache/purge/cancel}. Thread-safe. */
public final class PurgeChangeResource implements AdminResource {
    private final String path;
    private final PurgeControl purges;
    private final Change change;

    /** The change that a resource makes. */
    private interface Change {
        CompletionStage<PurgeView> apply(String id, AdminCaller caller) throws AdminException;
    }

    private PurgeChangeResource(String path, PurgeControl purges, Change change) {
        this.path = path;
        this.purges = purges;
        this.change = change;
    }

    /** Creates the resource that undoes soft purges. */
    public static PurgeChangeResource undo(PurgeControl purges) {
        return new PurgeChangeResource("/v1/cache/purge/undo", purges, purges::undo);
    }

    /** Creates the resource that cancels a purge by pattern, or the running count of the objects a purge covers. */
    public static PurgeChangeResource cancel(PurgeControl purges) {
        return new PurgeChangeResource("/v1/cache/purge/cancel", purges, purges::cancel);
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return path;
    }

    /** Always true, because the records are in a file. */
    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        Map<String, String> members = Json.strings(request.body(), Set.of("id"));
        String id = members.get("id");
        if (id == null || id.isEmpty()) {
            throw new AdminException(400, "bad-request", "the member 'id' is needed: the identifier of a purge");
        }
        if (request.caller().purgeRights() != null) {
            PurgeShowResource.requireOwner(purges.find(id), request.caller());
        }
        responder.replyWhen(
                change.apply(id, request.caller()), view -> AdminReply.json(json -> PurgeJson.write(json, view)));
    }
}
