package io.millrace.proxy.admin.status;

import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /metrics}: all metrics as Prometheus text, or in the OpenMetrics format for clients that accept it. Only
 * OpenMetrics has exemplars. Thread-safe.
 */
public final class MetricsResource implements AdminResource {
    public static final String PATH = "/metrics";
    public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

    public static final String OPEN_METRICS = "application/openmetrics-text";
    public static final String OPEN_METRICS_TYPE = OPEN_METRICS + "; version=1.0.0; charset=utf-8";

    private final MetricsSource source;
    private final @Nullable MetricsSource openMetrics;

    /** Creates the resource for a source of the Prometheus text, which all clients get. */
    public MetricsResource(MetricsSource source) {
        this.source = source;
        this.openMetrics = null;
    }

    /** Creates the resource for a source of the Prometheus text and one of the OpenMetrics text. */
    public MetricsResource(MetricsSource source, MetricsSource openMetrics) {
        this.source = source;
        this.openMetrics = openMetrics;
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
        MetricsSource open = request.fields().getOrDefault("accept", "").contains(OPEN_METRICS) ? openMetrics : null;
        responder.reply(
                open == null
                        ? AdminReply.text(CONTENT_TYPE, source.text())
                        : AdminReply.text(OPEN_METRICS_TYPE, open.text()));
    }
}
