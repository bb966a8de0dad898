package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.access.AdminToken;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.admin.resource.RequestSender;
import java.net.InetAddress;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** {@code POST /v1/session}: opens a session with a token or a one-time code. Over TCP only. Thread-safe. */
final class LoginResource implements AdminResource {
    static final String PATH = "/v1/session";

    private final AdminAccess access;
    private final LoginCodes codes;
    private final Sessions sessions;
    private final LoginLimit limit;
    private final Consumer<@Nullable InetAddress> failed;

    /**
     * The resource.
     *
     * @param access the tokens that open sessions
     * @param failed receives the address of each failed login
     */
    LoginResource(
            AdminAccess access,
            LoginCodes codes,
            Sessions sessions,
            LoginLimit limit,
            Consumer<@Nullable InetAddress> failed) {
        this.access = access;
        this.codes = codes;
        this.sessions = sessions;
        this.limit = limit;
        this.failed = failed;
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return PATH;
    }

    @Override
    public boolean isPublic() {
        return true;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        Dashboard.requireTcp(request);
        RequestSender sender = request.sender();
        Dashboard.requirePage(request.method(), sender::field);
        if (sender.field(Dashboard.PROOF_FIELD) == null) {
            throw new AdminException(403, "page-refused", "the header field " + Dashboard.PROOF_FIELD + " is missing");
        }
        Map<String, String> members = Json.strings(request.body(), Set.of("token", "code"));
        if (members.size() != 1) {
            throw new AdminException(400, "bad-request", "one of the members 'token' and 'code' is needed");
        }
        long wait = limit.secondsToWait(sender.address());
        if (wait > 0) {
            responder.reply(
                    AdminReply.error(429, "too-many-logins", "too many failed logins; try again in " + wait + " s")
                            .with(Map.of("retry-after", Long.toString(wait))));
            return;
        }
        String code = members.get("code");
        LoginCodes.Code used = code == null ? null : codes.use(code);
        AdminToken token = code == null
                ? access.find(String.valueOf(members.get("token")))
                : used == null ? null : access.inForce(used.token());
        if (token == null) {
            limit.failed(sender.address());
            failed.accept(sender.address());
            throw code == null ? wrongToken() : wrongCode();
        }
        responder.reply(opened(sender, token, sessions.open(token, used == null ? null : used.lease())));
    }

    private static AdminReply opened(RequestSender sender, AdminToken token, Sessions.Opened opened) {
        return AdminReply.json(json -> {
                    SessionResource.write(json, token, Sessions.LIFETIME);
                    json.writeStringProperty("proof", opened.proof());
                })
                .with(Map.of("set-cookie", SessionCookie.set(sender, opened.cookie(), Sessions.LIFETIME)));
    }

    private static AdminException wrongToken() {
        return new AdminException(401, "wrong-token", "this is no token of admin.token_file or admin.tokens");
    }

    private static AdminException wrongCode() {
        return new AdminException(
                401,
                "wrong-code",
                "the code was used, or is older than " + LoginCodes.LIFETIME.toMinutes()
                        + " minutes; run 'millctl dashboard' again");
    }
}
