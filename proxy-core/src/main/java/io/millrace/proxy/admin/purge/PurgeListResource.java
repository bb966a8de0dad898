package io.millrace.proxy.admin.purge;

import io.millrace.proxy.admin.purge.PurgeControl.PurgeView;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.util.List;

/** {@code GET /v1/cache/purges}: the latest purges, newest first. Thread-safe. */
public final class PurgeListResource implements AdminResource {
    public static final String PATH = "/v1/cache/purges";

    private static final int LIMIT_DEFAULT = 100;
    private static final int LIMIT_MAX = 10_000;

    private final PurgeControl purges;

    public PurgeListResource(PurgeControl purges) {
        this.purges = purges;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return PATH;
    }

    /** Always true, because the records are in a file. */
    @Override
    public boolean isBlocking() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        int limit = limit(request);
        AdminCaller caller = request.caller();
        // For a client with limited rights, the purges of other tokens are removed below, so more records are read.
        int readLimit = caller.purgeRights() == null ? limit : LIMIT_MAX;
        List<PurgeView> latest = purges.latest(request.optionalParameter("before"), readLimit).stream()
                .filter(view -> caller.owns(view.record().client().token()))
                .limit(limit)
                .toList();
        responder.reply(AdminReply.json(json -> {
            json.writeArrayPropertyStart("purges");
            for (PurgeView view : latest) {
                json.writeStartObject();
                PurgeJson.write(json, view);
                json.writeEndObject();
            }
            json.writeEndArray();
        }));
    }

    private static int limit(AdminRequest request) throws AdminException {
        String text = request.optionalParameter("limit");
        if (text == null) {
            return LIMIT_DEFAULT;
        }
        try {
            int limit = Integer.parseInt(text);
            if (limit >= 1 && limit <= LIMIT_MAX) {
                return limit;
            }
        } catch (NumberFormatException e) {
            // A text that is not a number is handled below like a number out of range.
        }
        throw new AdminException(400, "bad-request", "limit: " + text + " is not a number from 1 to " + LIMIT_MAX);
    }
}
