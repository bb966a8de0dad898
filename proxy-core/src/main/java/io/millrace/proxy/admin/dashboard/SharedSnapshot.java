package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.time.Duration;

/** A query whose replies come from another resource and are shared by all clients. Ignores parameters. Thread-safe. */
final class SharedSnapshot implements AdminResource {
    private final String path;
    private final AdminResource source;
    private final SharedReplies replies;

    SharedSnapshot(String path, AdminResource source, SharedReplies replies) {
        this.path = path;
        this.source = source;
        this.replies = replies;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return path;
    }

    @Override
    public Duration timeout() {
        return source.timeout();
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) {
        AdminRequest sourceRequest = new AdminRequest(
                "GET",
                source.path(),
                source.path(),
                new byte[0],
                request.overTcp(),
                request.caller(),
                request.fields(),
                request.sender());
        replies.answer(source, sourceRequest, responder);
    }
}
