package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.access.AdminToken;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.Json;
import io.netty.util.NetUtil;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The resources below {@code /v1/dashboard/} that {@code millctl dashboard} uses. {@code open} opens a loopback
 * listener with a one-time code, {@code renew} keeps it open, and {@code close} closes it. Over TCP, {@code open} opens
 * no listener, but returns a code for the listener that received the request.
 *
 * <p>Thread-safe.
 */
final class LeaseResource implements AdminResource {
    private static final String PATH_PREFIX = "/v1/dashboard/";
    private static final String LEASE = "lease";

    /** The change that a request makes. */
    private enum Action {
        OPEN("open"),
        RENEW("renew"),
        CLOSE("close");

        private final String word;

        Action(String word) {
            this.word = word;
        }
    }

    private final Action action;
    private final Leases leases;
    private final LoginCodes codes;
    private final AdminAccess access;

    private LeaseResource(Action action, Leases leases, LoginCodes codes, AdminAccess access) {
        this.action = action;
        this.leases = leases;
        this.codes = codes;
        this.access = access;
    }

    /** One resource for each action. */
    static List<AdminResource> all(Leases leases, LoginCodes codes, AdminAccess access) {
        List<AdminResource> resources = new ArrayList<>();
        for (Action action : Action.values()) {
            resources.add(new LeaseResource(action, leases, codes, access));
        }
        return resources;
    }

    @Override
    public String method() {
        return "POST";
    }

    @Override
    public String path() {
        return PATH_PREFIX + action.word;
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) throws AdminException {
        if (action == Action.OPEN) {
            Json.strings(request.body(), Set.of());
            open(request, responder);
            return;
        }
        String lease = Json.strings(request.body(), Set.of(LEASE)).get(LEASE);
        if (lease == null) {
            throw new AdminException(400, "bad-request", "the member 'lease' is needed");
        }
        boolean hasLease = action == Action.RENEW ? leases.renew(lease) : leases.close(lease);
        if (!hasLease) {
            throw new AdminException(
                    409,
                    "lease-ended",
                    "this dashboard has ended, for example because the launcher was restarted; run"
                            + " 'millctl dashboard' again");
        }
        responder.reply(AdminReply.json(json ->
                json.writeNumberProperty("lease_seconds", action == Action.RENEW ? Leases.LENGTH.toSeconds() : 0)));
    }

    private void open(AdminRequest request, AdminResponder responder) throws AdminException {
        if (request.overTcp()) {
            // The session of this code ends when the token is removed. A session that was opened for a lease has no
            // token and gets no code here, because the session of the code could outlive the lease.
            AdminToken token = access.named(request.caller().token());
            if (token == null) {
                throw new AdminException(
                        403, "token-required", "a new code needs a token; run 'millctl dashboard' on the machine");
            }
            String scheme = request.sender().isSecure() ? "https://" : "http://";
            responder.reply(opened(scheme + request.sender().field("host"), "", codes.next(token, null)));
            return;
        }
        responder.replyWhen(
                leases.open(),
                lease -> opened(origin(lease), lease.id(), codes.next(AdminToken.OF_DASHBOARD, lease.id())));
    }

    static String origin(Leases.Lease lease) {
        return "http://" + NetUtil.toSocketAddressString(lease.listener().address());
    }

    /** The URL of the start page with a one-time code. */
    static String url(String origin, String code) {
        return origin + DashboardFiles.ROOT + "#code=" + code;
    }

    private static AdminReply opened(String origin, String lease, String code) {
        return AdminReply.json(json -> {
            json.writeStringProperty("url", url(origin, code));
            json.writeNumberProperty("code_seconds", LoginCodes.LIFETIME.toSeconds());
            json.writeStringProperty(LEASE, lease);
            json.writeNumberProperty("lease_seconds", lease.isEmpty() ? 0 : Leases.LENGTH.toSeconds());
        });
    }
}
