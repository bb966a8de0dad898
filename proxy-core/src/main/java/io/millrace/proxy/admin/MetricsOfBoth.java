package io.millrace.proxy.admin;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** {@code GET /metrics} of the worker, followed by the counters of this admin server's TCP listener. Thread-safe. */
final class MetricsOfBoth implements AdminResource {
    private final AdminResource metrics;
    private final TcpRefusals refusals;

    MetricsOfBoth(AdminResource metrics, TcpRefusals refusals) {
        this.metrics = metrics;
        this.refusals = refusals;
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
        metrics.handle(request, reply -> responder.reply(reply.status() == 200 ? withRefusals(reply) : reply));
    }

    private AdminReply withRefusals(AdminReply reply) {
        ByteArrayOutputStream body = new ByteArrayOutputStream(reply.body().length + 1024);
        body.writeBytes(reply.body());
        body.writeBytes(refusals.prometheusText().getBytes(StandardCharsets.UTF_8));
        return new AdminReply(200, reply.contentType(), body.toByteArray());
    }
}
