package io.millrace.proxy.admin.purge;

import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.cache.PurgeResource;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;

/** {@code POST /v1/cache/purge/dry-run}: counts the objects that a purge would cover. Thread-safe. */
public final class PurgeDryRunResource implements AdminResource {
    private final DryRunSource source;

    public PurgeDryRunResource(DryRunSource source) {
        this.source = source;
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return "/v1/cache/purge/dry-run";
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        Scope scope = PurgeResource.scope(request.body());
        responder.replyWhen(
                source.dryRun(scope, request.caller()), view -> AdminReply.json(json -> PurgeJson.write(json, view)));
    }
}
