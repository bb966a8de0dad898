package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.util.Map;

/** {@code GET /ui}: redirects to the start page, whose links are relative to {@code /ui/}. Over TCP only. Immutable. */
final class StartRedirect implements AdminResource {
    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return "/ui";
    }

    @Override
    public boolean isPublic() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        Dashboard.requireTcp(request);
        responder.reply(new AdminReply(308, "text/plain", new byte[0]).with(Map.of("location", DashboardFiles.ROOT)));
    }
}
