package io.millrace.proxy.admin;

import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.access.AdminToken;
import io.millrace.proxy.admin.resource.AdminException;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Admits requests to the admin API over TCP: those with a token, and never those of a page in a browser. A page from
 * elsewhere can reach this port under a name of its own (DNS rebinding). Without TLS the Host must therefore be an
 * address, {@code localhost}, or the name that the listener was configured with; with TLS the certificate excludes other
 * names. An Origin must be this server's own.
 *
 * <p>A token in clear text is accepted from and at loopback addresses only. Thread-safe.
 */
final class TcpGuard {
    private static final String SCHEME = "Bearer ";

    /** Fields with the token alone, of clients of Fastly's and Cloudflare's APIs. */
    private static final List<String> TOKEN_FIELDS = List.of("fastly-key", "x-auth-key");

    private final AdminAccess access;
    private final String configuredHost;

    TcpGuard(AdminAccess access, String configuredHost) {
        this.access = access;
        this.configuredHost = configuredHost.toLowerCase(Locale.ROOT);
    }

    AdminAccess access() {
        return access;
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
    AdminException refuse(HttpRequest request, boolean isPublic, Link link) {
        HttpHeaders fields = request.headers();
        String authority = fields.get(HttpHeaderNames.HOST);
        boolean isOneHost =
                authority != null && fields.getAll(HttpHeaderNames.HOST).size() == 1;
        if (!isOneHost || (!link.isSecure() && !isKnown(host(authority)))) {
            return new AdminException(
                    403, "host-refused", "the Host must be an address, localhost, or the configured name");
        }
        String origin = fields.get(HttpHeaderNames.ORIGIN);
        String own = (link.isSecure() ? "https://" : "http://") + authority;
        if (origin != null && !origin.equalsIgnoreCase(own)) {
            return new AdminException(403, "origin-refused", "requests from pages of another origin are refused");
        }
        if (isPublic) {
            return null;
        }
        if (!link.isSecure() && !link.isLocal() && hasCredential(request)) {
            return new AdminException(
                    403,
                    "clear-text-refused",
                    "a token in clear text is accepted on loopback only, and may be known to others now: replace it, and"
                            + " set admin.tls for access from other machines");
        }
        return token(request) == null ? unauthorized() : null;
    }

    static AdminException unauthorized() {
        return new AdminException(
                401,
                "unauthorized",
                "a token of admin.token_file or admin.tokens is needed as 'Authorization: Bearer TOKEN'");
    }

    /** Whether the request has a credential that is no token. */
    boolean hasWrongToken(HttpRequest request) {
        return hasCredential(request) && token(request) == null;
    }

    private static boolean hasCredential(HttpRequest request) {
        return request.headers().contains(HttpHeaderNames.AUTHORIZATION)
                || TOKEN_FIELDS.stream().anyMatch(request.headers()::contains);
    }

    /** Returns the token of a request; null without one, or with a wrong one. Authorization has precedence. */
    @Nullable
    AdminToken token(HttpRequest request) {
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
