package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.resource.RequestSender;
import io.netty.handler.codec.http.cookie.Cookie;
import io.netty.handler.codec.http.cookie.ServerCookieDecoder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The cookie of a session. Over TLS its name has the prefix {@code __Host-}; without TLS, on loopback, browsers refuse that prefix.
 * There the name has the port, because the cookies of all ports of a host name share one list.
 */
final class SessionCookie {
    private static final String NAME = "millrace-session";
    private static final String SECURE_NAME = "__Host-" + NAME;

    private SessionCookie() {}

    /** The value of Set-Cookie for a session. */
    static String set(RequestSender sender, String value, Duration lifetime) {
        String name = sender.isSecure() ? SECURE_NAME : NAME + '-' + port(sender.field("host"));
        return name + '=' + value + "; Max-Age=" + lifetime.toSeconds() + "; Path=/; HttpOnly; SameSite=Strict"
                + (sender.isSecure() ? "; Secure" : "");
    }

    /** The value of Set-Cookie that removes the cookie. */
    static String removed(RequestSender sender) {
        return set(sender, "", Duration.ZERO);
    }

    /** The values of all session cookies of a request: without TLS a browser sends those of other ports too. */
    static List<String> values(RequestSender sender) {
        List<String> values = new ArrayList<>();
        String field = sender.field("cookie");
        if (field != null) {
            for (Cookie cookie : ServerCookieDecoder.LAX.decodeAll(field)) {
                if (sender.isSecure()
                        ? cookie.name().equals(SECURE_NAME)
                        : cookie.name().startsWith(NAME + '-')) {
                    values.add(cookie.value());
                }
            }
        }
        return values;
    }

    /** The port of a Host field; 80 if it has none. */
    private static String port(@Nullable String authority) {
        int colon = authority == null ? -1 : authority.lastIndexOf(':');
        String port = colon < 0 ? "" : String.valueOf(authority).substring(colon + 1);
        return !port.isEmpty() && port.length() <= 5 && port.chars().allMatch(c -> c >= '0' && c <= '9') ? port : "80";
    }
}
