package io.millrace.proxy.admin;

import io.millrace.proxy.admin.access.AdminToken;
import io.millrace.proxy.admin.copy.ObjectResource;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.config.admin.AdminRole;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Decides which requests a token may send, by its role and its limit of requests. Stateless. */
final class TokenRights {
    /** Resources that every role may request: its own session. */
    private static final Set<String> FOR_EVERY_ROLE = Set.of("GET /v1/session", "POST /v1/session/end");

    /** Resources that the role purger may request. The worker also checks sites and kinds, and the owner of a purge. */
    private static final Set<String> FOR_PURGERS = Set.of(
            "POST /v1/cache/purge",
            "POST /v1/cache/purge/dry-run",
            "POST /v1/cache/purge/undo",
            "POST /v1/cache/purge/cancel",
            "GET /v1/cache/purge",
            "GET /v1/cache/purges",
            "POST /service/{id}/purge/{key}",
            "POST /service/{id}/purge",
            "POST /service/{id}/purge_all",
            "POST /zones/{id}/purge_cache",
            "POST /client/v4/zones/{id}/purge_cache");

    /** Queries that viewers may not send. They read files that the request names, or the content of responses. */
    private static final Set<String> DENIED_TO_VIEWERS =
            Set.of("/v1/tls/check", ObjectResource.HEAD_PATH, ObjectResource.CONTENT_PATH);

    private TokenRights() {}

    /**
     * Counts a request, and returns the error if it is refused. Returns null if it is allowed.
     *
     * @param resource null for an unknown path, which every token may request
     */
    static @Nullable AdminException refusal(AdminToken token, String method, @Nullable AdminResource resource) {
        long waitSeconds = token.countRequest();
        if (waitSeconds > 0) {
            return new AdminException(
                    429,
                    "rate-limited",
                    "token '" + token.name() + "' is limited to " + token.requestsPerMinute()
                            + " requests per minute (admin.tokens[].requests_per_minute); try again in " + waitSeconds
                            + " s",
                    waitSeconds);
        }
        if (resource == null || mayRequest(token.role(), resource)) {
            return null;
        }
        return new AdminException(
                403,
                "role-refused",
                "token '" + token.name() + "' has the role "
                        + token.role().name().toLowerCase(Locale.ROOT) + ", which does not allow " + method + " "
                        + resource.path());
    }

    private static boolean mayRequest(AdminRole role, AdminResource resource) {
        String request = resource.method() + " " + resource.path();
        return FOR_EVERY_ROLE.contains(request)
                || switch (role) {
                    case OPERATOR -> true;
                    case VIEWER -> resource.method().equals("GET") && !DENIED_TO_VIEWERS.contains(resource.path());
                    case PURGER -> FOR_PURGERS.contains(request);
                };
    }
}
