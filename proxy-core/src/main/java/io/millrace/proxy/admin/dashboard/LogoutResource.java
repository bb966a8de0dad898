package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import java.util.Map;
import java.util.Set;

/**
 * {@code POST /v1/session/end} ends the session of the request, {@code POST /v1/sessions/end} all sessions.
 * Thread-safe.
 */
final class LogoutResource implements AdminResource {
    private final Sessions sessions;
    private final boolean isForAll;

    private LogoutResource(Sessions sessions, boolean isForAll) {
        this.sessions = sessions;
        this.isForAll = isForAll;
    }

    /** Ends the session of the request. Clients of every role may use it. */
    static LogoutResource ofOne(Sessions sessions) {
        return new LogoutResource(sessions, false);
    }

    /** Ends every session. */
    static LogoutResource ofAll(Sessions sessions) {
        return new LogoutResource(sessions, true);
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return isForAll ? "/v1/sessions/end" : "/v1/session/end";
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        Json.strings(request.body(), Set.of());
        int ended = 0;
        if (isForAll) {
            ended = sessions.endAll();
        } else {
            for (String cookie : SessionCookie.values(request.sender())) {
                ended += sessions.end(cookie) ? 1 : 0;
            }
        }
        int count = ended;
        responder.reply(AdminReply.json(json -> json.writeNumberProperty("ended", count))
                .with(Map.of("set-cookie", SessionCookie.removed(request.sender()))));
    }
}
