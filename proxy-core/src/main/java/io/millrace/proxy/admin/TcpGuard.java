package io.millrace.proxy.admin;

import io.millrace.proxy.admin.resource.AdminException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.NetUtil;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Checks admin requests on TCP. A request needs the token, and must not come from a page of another site in a
 * browser. Such a page can reach this port under its own name (DNS rebinding). So the Host must be an address, {@code
 * localhost} or the configured name of the listener, and an Origin must be that of this server. Immutable.
 */
final class TcpGuard {
    private final AdminToken token;
    private final String configuredHost;

    TcpGuard(AdminToken token, String configuredHost) {
        this.token = token;
        this.configuredHost = configuredHost.toLowerCase(Locale.ROOT);
    }

    /** Returns the error of a refused request; null if it is accepted. */
    @Nullable
    AdminException refuse(HttpRequest request, boolean isPublic) {
        HttpHeaders fields = request.headers();
        String authority = fields.get(HttpHeaderNames.HOST);
        if (authority == null || fields.getAll(HttpHeaderNames.HOST).size() != 1 || !isKnown(host(authority))) {
            return new AdminException(
                    403, "host-refused", "the Host must be an address, localhost, or the configured name");
        }
        String origin = fields.get(HttpHeaderNames.ORIGIN);
        if (origin != null && !origin.equalsIgnoreCase("http://" + authority)) {
            return new AdminException(403, "origin-refused", "requests from pages of another origin are refused");
        }
        if (!isPublic && !token.isIn(fields.get(HttpHeaderNames.AUTHORIZATION))) {
            return new AdminException(
                    401, "unauthorized", "the token of admin.token_file is needed as 'Authorization: Bearer TOKEN'");
        }
        return null;
    }

    /** Returns whether the request has a wrong token. */
    boolean hasWrongToken(HttpRequest request) {
        String authorization = request.headers().get(HttpHeaderNames.AUTHORIZATION);
        return authorization != null && !token.isIn(authorization);
    }

    private boolean isKnown(String host) {
        return NetUtil.isValidIpV4Address(host)
                || NetUtil.isValidIpV6Address(host)
                || host.equals("localhost")
                || host.equals(configuredHost);
    }

    private static String host(String authority) {
        String lower = authority.toLowerCase(Locale.ROOT);
        if (lower.startsWith("[")) {
            int end = lower.indexOf(']');
            return end < 0 ? "" : lower.substring(1, end);
        }
        int colon = lower.indexOf(':');
        return colon < 0 ? lower : lower.substring(0, colon);
    }
}
