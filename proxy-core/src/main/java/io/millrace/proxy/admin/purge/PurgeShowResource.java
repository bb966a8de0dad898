package io.millrace.proxy.admin.purge;

import io.millrace.proxy.admin.purge.PurgeControl.PurgeView;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;

/** {@code GET /v1/cache/purge?id=ID}: one purge or dry run. Thread-safe. */
public final class PurgeShowResource implements AdminResource {
    private final PurgeControl purges;

    public PurgeShowResource(PurgeControl purges) {
        this.purges = purges;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return "/v1/cache/purge";
    }

    /** Always true, because the records are in a file. */
    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        PurgeView view = requireOwner(purges.find(request.parameter("id")), request.caller());
        responder.reply(AdminReply.json(json -> PurgeJson.write(json, view)));
    }

    /**
     * Returns the purge if the client may see it.
     *
     * @throws AdminException if the client may not see the purge; the error is the same as for an unknown purge
     */
    static PurgeView requireOwner(PurgeView view, AdminCaller caller) throws AdminException {
        if (!caller.owns(view.record().client().token())) {
            throw new AdminException(
                    404,
                    "unknown-purge",
                    "token '" + caller.token() + "' has no purge with the identifier "
                            + view.record().id());
        }
        return view;
    }
}
