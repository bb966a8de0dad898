package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.time.Duration;

/**
 * A resource whose requests change data that pages show. Each request invalidates the kept shared replies. Thread-safe.
 */
final class ChangingResource implements AdminResource {
    private final AdminResource change;
    private final SharedReplies replies;

    ChangingResource(AdminResource change, SharedReplies replies) {
        this.change = change;
        this.replies = replies;
    }

    @Override
    public String method() {
        return change.method();
    }

    @Override
    public String path() {
        return change.path();
    }

    @Override
    public boolean isPublic() {
        return change.isPublic();
    }

    @Override
    public boolean isBlocking() {
        return change.isBlocking();
    }

    @Override
    public Duration timeout() {
        return change.timeout();
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        try {
            change(request, responder);
        } catch (AdminException | RuntimeException e) {
            replies.forget();
            throw e;
        }
    }

    private void change(AdminRequest request, AdminResponder responder) throws AdminException {
        change.handle(request, new AdminResponder() {
            @Override
            public void reply(AdminReply reply) {
                replies.forget();
                responder.reply(reply);
            }

            @Override
            public void fail(AdminException error) {
                // A failed change may have taken effect in part, so the pages need new replies.
                replies.forget();
                responder.fail(error);
            }
        });
    }
}
