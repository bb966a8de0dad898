package io.millrace.proxy.admin;

import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.access.AdminToken;
import io.millrace.proxy.admin.dashboard.Dashboard;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.RequestSender;
import io.millrace.proxy.admin.resource.TargetPath;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Checks requests to the admin API over TCP. A request needs a token or a session of the dashboard, and must not come
 * from a page of another site in a browser. Such a page can reach this port under a name of its own (DNS rebinding).
 * Without TLS the Host must therefore be an address, {@code localhost}, or the name that the listener was configured
 * with; with TLS the certificate excludes other names. The field Origin, if present, must name this server.
 *
 * <p>A token in clear text is accepted only between loopback addresses. Without TLS, the dashboard too is served only
 * there. Thread-safe.
 */
final class TcpGuard {
    private static final String SCHEME = "Bearer ";

    /** Request fields that contain only the token. Clients of Fastly's and Cloudflare's APIs send them. */
    private static final List<String> TOKEN_FIELDS = List.of("fastly-key", "x-auth-key");

    private final AdminAccess access;
    private final boolean hasTls;
    private final String configuredHost;
    private final @Nullable Dashboard dashboard;

    private TcpGuard(AdminAccess access, boolean hasTls, String configuredHost, @Nullable Dashboard dashboard) {
        this.access = access;
        this.hasTls = hasTls;
        this.configuredHost = configuredHost.toLowerCase(Locale.ROOT);
        this.dashboard = dashboard;
    }

    /**
     * Creates the guard of {@code admin.listen}, which uses TLS if TLS is configured.
     *
     * @param dashboard null if the listener does not serve the dashboard
     */
    static TcpGuard of(AdminAccess access, String configuredHost, @Nullable Dashboard dashboard) {
        return new TcpGuard(access, true, configuredHost, dashboard);
    }

    /** Creates the guard of a port of {@code millctl dashboard}, which is on loopback and in clear text. */
    static TcpGuard ofLoopback(AdminAccess access, @Nullable Dashboard dashboard) {
        return new TcpGuard(access, false, "localhost", dashboard);
    }

    /** Creates the TLS handler of a new connection, which owns it; null for clear text. */
    @Nullable
    SslHandler newTlsHandler(ByteBufAllocator allocator, Duration handshakeTimeout) {
        return hasTls ? access.newTlsHandler(allocator, handshakeTimeout) : null;
    }

    /**
     * The properties of a connection that decide about tokens. Immutable.
     *
     * @param isSecure whether it uses TLS
     * @param isLocal whether both ends are loopback addresses
     */
    record Link(boolean isSecure, boolean isLocal) {
        static final Link LOCAL = new Link(false, true);

        static Link of(Channel channel) {
            return new Link(
                    channel.pipeline().get(SslHandler.class) != null,
                    isLoopback(channel.remoteAddress()) && isLoopback(channel.localAddress()));
        }

        private static boolean isLoopback(Object address) {
            return address instanceof InetSocketAddress end
                    && end.getAddress() != null
                    && end.getAddress().isLoopbackAddress();
        }
    }

    /** Returns the error for a request that is refused; null if it is admitted. */
    @Nullable
    AdminException refusal(HttpRequest request, boolean isPublic, Link link) {
        HttpHeaders fields = request.headers();
        String authority = fields.get(HttpHeaderNames.HOST);
        boolean isOneHost =
                authority != null && fields.getAll(HttpHeaderNames.HOST).size() == 1;
        if (!isOneHost || (!link.isSecure() && !isPermittedHost(host(authority)))) {
            return new AdminException(
                    403, "host-refused", "the Host must be an IP address, localhost or the host name in admin.listen");
        }
        String origin = fields.get(HttpHeaderNames.ORIGIN);
        String ownOrigin = (link.isSecure() ? "https://" : "http://") + authority;
        if (origin != null && !origin.equalsIgnoreCase(ownOrigin)) {
            return new AdminException(403, "origin-refused", "requests from pages of another origin are refused");
        }
        boolean isPrivate = link.isSecure() || link.isLocal();
        if (!(isPrivate && dashboard != null) && Dashboard.isForBrowsers(TargetPath.decoded(request.uri()))) {
            return new AdminException(
                    403,
                    "dashboard-refused",
                    "the dashboard is served on loopback, and on other addresses only with admin.tls; run"
                            + " 'millctl dashboard' on the machine");
        }
        if (isPublic) {
            return null;
        }
        if (!isPrivate && hasCredential(request)) {
            return new AdminException(
                    403,
                    "clear-text-refused",
                    "a token in clear text is accepted on loopback only, and may be known to others now: replace it,"
                            + " and set admin.tls for access from other machines");
        }
        try {
            return tokenOf(request, link) == null ? unauthorized() : null;
        } catch (AdminException e) {
            return e;
        }
    }

    static AdminException unauthorized() {
        return new AdminException(
                401,
                "unauthorized",
                "a token of admin.token_file or admin.tokens is needed, as 'Authorization: Bearer TOKEN', or in"
                        + " Fastly-Key or X-Auth-Key");
    }

    /** Returns true if the request has a credential that is not a valid token. */
    boolean hasWrongToken(HttpRequest request) {
        return hasCredential(request) && tokenOfCredential(request) == null;
    }

    private static boolean hasCredential(HttpRequest request) {
        return request.headers().contains(HttpHeaderNames.AUTHORIZATION)
                || TOKEN_FIELDS.stream().anyMatch(request.headers()::contains);
    }

    /**
     * Returns the token of a request, or the token of its session; null without either. A token has precedence over a
     * session.
     */
    @Nullable
    AdminToken token(HttpRequest request, Link link) {
        try {
            return tokenOf(request, link);
        } catch (AdminException e) {
            return null;
        }
    }

    private @Nullable AdminToken tokenOf(HttpRequest request, Link link) throws AdminException {
        if (hasCredential(request)) {
            return tokenOfCredential(request);
        }
        return dashboard == null || !(link.isSecure() || link.isLocal())
                ? null
                : dashboard.find(
                        request.method().name(), new RequestSender(null, link.isSecure(), request.headers()::get));
    }

    /**
     * Returns the token whose secret a request contains; null if there is none. The field Authorization has precedence.
     */
    private @Nullable AdminToken tokenOfCredential(HttpRequest request) {
        String authorization = request.headers().get(HttpHeaderNames.AUTHORIZATION);
        if (authorization != null) {
            return authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
                    ? access.find(authorization.substring(SCHEME.length()).strip())
                    : null;
        }
        for (String name : TOKEN_FIELDS) {
            String credential = request.headers().get(name);
            if (credential != null) {
                return access.find(credential.strip());
            }
        }
        return null;
    }

    private boolean isPermittedHost(String host) {
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
