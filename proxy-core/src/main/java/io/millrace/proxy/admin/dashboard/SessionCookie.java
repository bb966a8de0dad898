package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.resource.RequestSender;
import io.netty.handler.codec.http.cookie.Cookie;
import io.netty.handler.codec.http.cookie.ServerCookieDecoder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The cookie of a session. Its name contains the port, because a browser keeps one list of cookies for all ports of a
 * host: dashboards on several ports would overwrite each other's cookie. A request's cookies of other ports are
 * ignored.
 *
 * <p>Over TLS the name has the prefix {@code __Host-}; without TLS, on loopback, browsers refuse that prefix.
 */
final class SessionCookie {
    private static final String NAME = "millrace-session-";
    private static final String SECURE_PREFIX = "__Host-";

    private SessionCookie() {}

    /** The value of Set-Cookie for a session. */
    static String set(RequestSender sender, String value, Duration lifetime) {
        return name(sender) + '=' + value + "; Max-Age=" + lifetime.toSeconds() + "; Path=/; HttpOnly; SameSite=Strict"
                + (sender.isSecure() ? "; Secure" : "");
    }

    /** The value of Set-Cookie that removes the cookie. */
    static String removed(RequestSender sender) {
        return set(sender, "", Duration.ZERO);
    }

    /**
     * The values of the session cookies for the port of the request. A browser sends one; another client may send more.
     */
    static List<String> values(RequestSender sender) {
        String field = sender.field("cookie");
        if (field == null) {
            return List.of();
        }
        List<String> values = new ArrayList<>();
        String name = name(sender);
        for (Cookie cookie : ServerCookieDecoder.LAX.decodeAll(field)) {
            if (cookie.name().equals(name)) {
                values.add(cookie.value());
            }
        }
        return values;
    }

    private static String name(RequestSender sender) {
        String port = port(String.valueOf(sender.field("host")), sender.isSecure() ? "443" : "80");
        return (sender.isSecure() ? SECURE_PREFIX : "") + NAME + port;
    }

    /**
     * Returns the port of a Host field. The browser connects to this port. With SSH port forwarding, this port differs
     * from the port on which this process listens.
     */
    private static String port(String authority, String defaultPort) {
        String port = authority.substring(authority.lastIndexOf(':') + 1);
        return authority.indexOf(':') >= 0
                        && !port.isEmpty()
                        && port.length() <= 5
                        && port.chars().allMatch(c -> c >= '0' && c <= '9')
                ? port
                : defaultPort;
    }
}
