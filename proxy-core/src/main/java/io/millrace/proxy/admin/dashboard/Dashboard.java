package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.access.AdminToken;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.RequestSender;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The dashboard of an admin server: its resources, and the check of requests that carry a session. Thread-safe. */
public final class Dashboard {
    /**
     * The header field with the proof of a session, a secret in addition to the cookie. A page of another origin cannot
     * send it.
     */
    static final String PROOF_FIELD = "x-millrace-session";

    private final AdminAccess access;
    private final LoginCodes codes;
    private final Sessions sessions;
    private final Leases leases;
    private final LoginResource login;

    /**
     * Creates a dashboard without sessions.
     *
     * @param access the tokens that open sessions
     * @param atLimit receives an event code when a limit is reached: {@code session-evicted}, {@code code-evicted},
     *     {@code login-address-evicted}, {@code dashboards-full}
     * @param nanoTime as {@link System#nanoTime}
     */
    public Dashboard(AdminAccess access, LoopbackListeners listeners, Consumer<String> atLimit, LongSupplier nanoTime) {
        this.access = access;
        codes = new LoginCodes(nanoTime, () -> atLimit.accept("code-evicted"));
        sessions = new Sessions(nanoTime, () -> atLimit.accept("session-evicted"));
        leases = new Leases(listeners, codes, sessions, nanoTime, () -> atLimit.accept("dashboards-full"));
        Runnable onAddressEvicted = () -> atLimit.accept("login-address-evicted");
        login = new LoginResource(
                access,
                codes,
                sessions,
                new LoginLimit(nanoTime, onAddressEvicted),
                new LoginLimit(nanoTime, onAddressEvicted));
    }

    /** Every resource of the dashboard. */
    public List<AdminResource> resources() {
        List<AdminResource> resources = new ArrayList<>(FileResource.all(new DashboardFiles()));
        resources.add(new StartRedirect());
        resources.add(login);
        resources.add(new SessionResource(access, sessions));
        resources.add(LogoutResource.ofOne(sessions));
        resources.add(LogoutResource.ofAll(sessions));
        resources.addAll(LeaseResource.all(leases, codes, access));
        return resources;
    }

    /**
     * Opens a loopback listener until the admin server is closed. Returns its URL, with a code for one login within two
     * minutes.
     */
    public CompletionStage<String> open() {
        return leases.openUnlimited()
                .thenApply(lease -> LeaseResource.url(
                        LeaseResource.origin(lease), codes.next(AdminToken.OF_DASHBOARD, lease.id())));
    }

    /** Returns whether a path is for browsers: a file of the dashboard, or its login. */
    public static boolean isForBrowsers(String path) {
        return path.equals("/ui") || path.startsWith(DashboardFiles.ROOT) || path.equals(LoginResource.PATH);
    }

    /**
     * Returns the token that determines the present rights of a request's session. Returns null if the request belongs
     * to no session.
     *
     * @throws AdminException if the request has the cookie of a session, but does not come from the dashboard's own
     *     page; also if the token of the session was removed or replaced
     */
    public @Nullable AdminToken find(String method, RequestSender sender) throws AdminException {
        boolean lacksProof = false;
        for (String cookie : SessionCookie.values(sender)) {
            Sessions.Found found = sessions.find(cookie, sender.field(PROOF_FIELD));
            if (found != null && found.hasProof()) {
                requirePage(method, sender::field);
                return currentToken(found.token());
            }
            lacksProof |= found != null;
        }
        if (lacksProof) {
            throw new AdminException(
                    403,
                    "page-refused",
                    "the header field " + PROOF_FIELD + " does not belong to the session; log in again");
        }
        return null;
    }

    private AdminToken currentToken(AdminToken opener) throws AdminException {
        AdminToken token = access.inForce(opener);
        if (token == null) {
            throw new AdminException(
                    401,
                    "session-ended",
                    "the token '" + opener.name()
                            + "' was removed or replaced, which ended the session; log in with another token");
        }
        return token;
    }

    /**
     * Refuses requests that a page of another origin caused. The caller has already compared an Origin field with the
     * Host field.
     */
    static void requirePage(String method, RequestSender.Fields fields) throws AdminException {
        String site = fields.value("sec-fetch-site");
        boolean isChange = !method.equals("GET") && !method.equals("HEAD");
        if ((site != null && !site.equals("same-origin")) || (isChange && fields.value("origin") == null)) {
            throw new AdminException(403, "page-refused", "only the dashboard's own page may send this request");
        }
    }

    static void requireTcp(AdminRequest request) throws AdminException {
        if (!request.overTcp()) {
            throw new AdminException(
                    404, "not-found", "the dashboard is not served on the Unix socket; run 'millctl dashboard'");
        }
    }
}
