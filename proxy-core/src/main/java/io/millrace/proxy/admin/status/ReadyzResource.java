package io.millrace.proxy.admin.status;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;

/** {@code GET /readyz}: 200 while the proxy accepts new requests, 503 while starting or draining. Thread-safe. */
public final class ReadyzResource implements AdminResource {
    public static final String PATH = "/readyz";

    private final HealthSource source;

    /** Creates the resource for a source. */
    public ReadyzResource(HealthSource source) {
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
        String problem = source.notReady();
        if (problem != null) {
            throw new AdminException(503, "not-ready", problem);
        }
        responder.reply(AdminReply.json(json -> json.writeBooleanProperty("ready", true)));
    }
}
