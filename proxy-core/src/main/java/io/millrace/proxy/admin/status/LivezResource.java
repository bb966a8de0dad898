package io.millrace.proxy.admin.status;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;

/** {@code GET /livez}: 200 while the process works, 503 when it should be restarted. Thread-safe. */
public final class LivezResource implements AdminResource {
    public static final String PATH = "/livez";

    private final HealthSource source;

    /** Creates the resource for a source. */
    public LivezResource(HealthSource source) {
        this.source = source;
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
    public boolean isPublic() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        String problem = source.notLive();
        if (problem != null) {
            throw new AdminException(503, "not-live", problem);
        }
        responder.reply(AdminReply.json(json -> json.writeBooleanProperty("live", true)));
    }
}
