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
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /v1/session}: opens a session with a token or a one-time code. Over TCP only.
 *
 * <p>Failed logins are limited for each address, with separate limits for tokens and for codes. All users of a machine
 * share its loopback address. A user who sends wrong codes must not lock the others out, so a right code is accepted
 * above the limit too: it has 192 random bits and cannot be guessed. A token may be chosen by a person, so above the
 * limit tokens are refused without a comparison.
 *
 * <p>Thread-safe.
 */
final class LoginResource implements AdminResource {
    static final String PATH = "/v1/session";

    private final AdminAccess access;
    private final LoginCodes codes;
    private final Sessions sessions;
    private final LoginLimit wrongTokens;
    private final LoginLimit wrongCodes;

    /**
     * Creates the resource.
     *
     * @param access the tokens that open sessions
     * @param wrongTokens the limit of failed logins with tokens
     * @param wrongCodes the limit of failed logins with codes
     */
    LoginResource(
            AdminAccess access, LoginCodes codes, Sessions sessions, LoginLimit wrongTokens, LoginLimit wrongCodes) {
        this.access = access;
        this.codes = codes;
        this.sessions = sessions;
        this.wrongTokens = wrongTokens;
        this.wrongCodes = wrongCodes;
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
        String code = members.get("code");
        responder.reply(
                code == null ? withToken(sender, String.valueOf(members.get("token"))) : withCode(sender, code));
    }

    private AdminReply withToken(RequestSender sender, String credential) throws AdminException {
        checkLimit(wrongTokens, sender, "tokens");
        AdminToken token = access.find(credential);
        if (token == null) {
            wrongTokens.failed(sender.address());
            throw new AdminException(401, "wrong-token", "this is not a token of admin.token_file or admin.tokens");
        }
        return opened(sender, token, null);
    }

    private AdminReply withCode(RequestSender sender, String code) throws AdminException {
        LoginCodes.Code used = codes.use(code);
        AdminToken token = used == null ? null : access.inForce(used.token());
        if (used == null || token == null) {
            checkLimit(wrongCodes, sender, "codes");
            wrongCodes.failed(sender.address());
            throw new AdminException(
                    401,
                    "wrong-code",
                    "the code was used, or is older than " + LoginCodes.LIFETIME.toMinutes()
                            + " minutes; run 'millctl dashboard' again");
        }
        return opened(sender, token, used.lease());
    }

    private static void checkLimit(LoginLimit limit, RequestSender sender, String credentials) throws AdminException {
        long wait = limit.secondsToWait(sender.address());
        if (wait > 0) {
            throw new AdminException(
                    429,
                    "too-many-logins",
                    "too many failed logins with " + credentials + " from this address; try again in " + wait + " s",
                    wait);
        }
    }

    private AdminReply opened(RequestSender sender, AdminToken token, @Nullable String lease) {
        Sessions.Opened opened = sessions.open(token, lease);
        return AdminReply.json(json -> {
                    SessionResource.write(json, token, Sessions.LIFETIME);
                    json.writeStringProperty("proof", opened.proof());
                })
                .with(Map.of("set-cookie", SessionCookie.set(sender, opened.cookie(), Sessions.LIFETIME)));
    }
}
