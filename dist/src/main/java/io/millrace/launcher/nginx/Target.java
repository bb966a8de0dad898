package io.millrace.launcher.nginx;

import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The origin of a location, as {@code proxy_pass} or {@code grpc_pass} sets it. Immutable.
 *
 * @param authority host and port, or the name of an upstream; {@code localhost} for a Unix domain socket, as nginx sends
 *     it
 * @param path path of the URL; null if the URL has none, and the path of the request is sent unchanged
 * @param socket path of a Unix domain socket; null for an origin that is reached by TCP
 */
record Target(
        Directive source,
        String scheme,
        String authority,
        @Nullable String path,
        boolean grpc,
        @Nullable String socket) {
    private static final Pattern URL = Pattern.compile("(?i)(https?|grpcs?)://([^/$\\s]+)(/[^$\\s]*)?");
    private static final Pattern SOCKET = Pattern.compile("(?i)(https?|grpcs?)://unix:(/[^:$\\s]+)(?::(/[^$\\s]*)?)?");

    /**
     * Returns the origin of a scope. Returns null if there is none, or none with an equivalent. Marks the directive in
     * that case.
     */
    @Nullable
    static Target of(Scope scope) {
        for (Directive each : scope.own("proxy_pass", "grpc_pass")) {
            return of(scope, each);
        }
        return null;
    }

    private static @Nullable Target of(Scope scope, Directive directive) {
        boolean grpc = directive.name().equals("grpc_pass");
        String text = scope.expand(directive.arg(0));
        if (text.startsWith("$scheme://")) {
            text = "http" + text.substring(7);
            directive.entry().note("the origin is reached by http, whatever the scheme of the client");
        }
        for (String rest : new String[] {"$request_uri", "$uri$is_args$args", "$uri"}) {
            if (text.endsWith(rest)) {
                text = text.substring(0, text.length() - rest.length());
                text = text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
                break;
            }
        }
        if (grpc && !text.contains("://")) {
            text = "grpc://" + text;
        }
        Matcher socket = SOCKET.matcher(text);
        if (socket.matches()) {
            String scheme = httpScheme(socket.group(1));
            return new Target(directive, scheme, "localhost", grpc ? null : socket.group(3), grpc, socket.group(2));
        }
        Matcher url = URL.matcher(text);
        if (text.contains("://unix:")) {
            directive.notMapped("the path of a Unix socket is absolute and has no variables");
            return null;
        }
        if (!url.matches()) {
            directive.notMapped("the origin depends on variables; write one rule for each origin");
            return null;
        }
        return new Target(directive, httpScheme(url.group(1)), url.group(2), grpc ? null : url.group(3), grpc, null);
    }

    private static String httpScheme(String scheme) {
        String word = scheme.toLowerCase(Locale.ROOT);
        return word.equals("https") || word.equals("grpcs") ? "https" : "http";
    }

    /** Returns true if both targets have the same scheme, host and port, and the same Unix socket. */
    boolean isSameOrigin(@Nullable Target other) {
        return other != null
                && scheme.equals(other.scheme)
                && authority.equals(other.authority)
                && Objects.equals(socket, other.socket);
    }
}
