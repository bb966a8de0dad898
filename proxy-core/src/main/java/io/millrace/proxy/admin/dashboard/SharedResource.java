package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.time.Duration;

/** A query that open pages repeat. Requests of pages share its replies, all others get their own. Thread-safe. */
final class SharedResource implements AdminResource {
    private final AdminResource source;
    private final SharedReplies replies;

    SharedResource(AdminResource source, SharedReplies replies) {
        this.source = source;
        this.replies = replies;
    }

    @Override
    public String method() {
        return source.method();
    }

    @Override
    public String path() {
        return source.path();
    }

    @Override
    public boolean isPublic() {
        return source.isPublic();
    }

    @Override
    public Duration timeout() {
        return source.timeout();
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) {
        if (SharedReplies.isShared(request)) {
            replies.answer(source, request, responder);
        } else {
            replies.call(source, request, responder);
        }
    }
}
