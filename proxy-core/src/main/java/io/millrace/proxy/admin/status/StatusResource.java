package io.millrace.proxy.admin.status;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;

/** {@code GET /v1/status}: the state of the proxy. Thread-safe. */
public final class StatusResource implements AdminResource {
    public static final String PATH = "/v1/status";

    private final StatusSource source;

    /** Creates the resource for a source. */
    public StatusResource(StatusSource source) {
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
    public void handle(AdminRequest request, AdminResponder responder) {
        ProxyStatus status = source.status();
        responder.reply(AdminReply.json(status::write));
    }
}
