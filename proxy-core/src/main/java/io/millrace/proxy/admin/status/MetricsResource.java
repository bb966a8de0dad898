package io.millrace.proxy.admin.status;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;

/** {@code GET /metrics}: the Prometheus text. Thread-safe. */
public final class MetricsResource implements AdminResource {
    public static final String PATH = "/metrics";
    public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    private final MetricsSource source;

    /** Creates the resource for a source. */
    public MetricsResource(MetricsSource source) {
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
        responder.reply(AdminReply.text(CONTENT_TYPE, source.prometheusText()));
    }
}
