package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.access.AdminToken;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.PurgeRights;
import java.time.Duration;
import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/session}: name and rights of the session of the request. Thread-safe. */
final class SessionResource implements AdminResource {
    private final AdminAccess access;
    private final Sessions sessions;

    SessionResource(AdminAccess access, Sessions sessions) {
        this.access = access;
        this.sessions = sessions;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return LoginResource.PATH;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        for (String cookie : SessionCookie.values(request.sender())) {
            Sessions.Found found = sessions.find(cookie, request.sender().field(Dashboard.PROOF_FIELD));
            AdminToken token = found == null ? null : access.inForce(found.token());
            if (found != null && token != null && found.hasProof()) {
                responder.reply(reply(token, found.remaining()));
                return;
            }
        }
        throw new AdminException(404, "no-session", "the request belongs to no session of the dashboard");
    }

    private static AdminReply reply(AdminToken token, Duration remaining) {
        return AdminReply.json(json -> write(json, token, remaining));
    }

    /** Writes the members that describe a session. Empty lists of sites or kinds mean no limit. */
    static void write(JsonGenerator json, AdminToken token, Duration remaining) {
        PurgeRights rights = token.purgeRights();
        json.writeStringProperty("name", token.name());
        json.writeStringProperty("role", token.role().name().toLowerCase(Locale.ROOT));
        write(json, "sites", rights == null ? Set.of() : rights.sites());
        write(json, "kinds", rights == null ? Set.of() : rights.kinds());
        json.writeNumberProperty("seconds", remaining.toSeconds());
    }

    private static void write(JsonGenerator json, String name, Collection<String> words) {
        json.writeArrayPropertyStart(name);
        words.stream().sorted().forEach(json::writeString);
        json.writeEndArray();
    }
}
