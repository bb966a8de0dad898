package io.millrace.proxy.admin;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.status.MetricsResource;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/**
 * {@code GET /metrics} with additional metrics. First come the metrics of another resource, such as the worker's, then
 * the metrics of this admin server. Thread-safe.
 */
final class MergedMetricsResource implements AdminResource {
    private final AdminResource metrics;
    private final List<Supplier<String>> ownMetrics;

    MergedMetricsResource(AdminResource metrics, List<Supplier<String>> ownMetrics) {
        this.metrics = metrics;
        this.ownMetrics = List.copyOf(ownMetrics);
    }

    @Override
    public String method() {
        return metrics.method();
    }

    @Override
    public String path() {
        return metrics.path();
    }

    @Override
    public boolean isPublic() {
        return metrics.isPublic();
    }

    @Override
    public boolean isBlocking() {
        return metrics.isBlocking();
    }

    @Override
    public Duration timeout() {
        return metrics.timeout();
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        metrics.handle(request, reply -> responder.reply(reply.status() == 200 ? withOwn(reply) : reply));
    }

    private AdminReply withOwn(AdminReply reply) {
        ByteArrayOutputStream body = new ByteArrayOutputStream(reply.body().length + 1024);
        boolean isOpen = reply.contentType().startsWith(MetricsResource.OPEN_METRICS);
        int length = isOpen ? OpenMetrics.lengthWithoutEnd(reply.body()) : reply.body().length;
        body.write(reply.body(), 0, length);
        for (Supplier<String> each : ownMetrics) {
            String text = isOpen ? OpenMetrics.of(each.get()) : each.get();
            body.writeBytes(text.getBytes(StandardCharsets.UTF_8));
        }
        if (isOpen) {
            body.writeBytes(OpenMetrics.end());
        }
        return new AdminReply(200, reply.contentType(), body.toByteArray());
    }
}
