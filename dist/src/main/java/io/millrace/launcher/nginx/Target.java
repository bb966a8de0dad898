package io.millrace.launcher.nginx;

import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The origin of a location, as {@code proxy_pass} or {@code grpc_pass} sets it. Immutable.
 *
 * @param authority host and port, or the name of an upstream
 * @param path path of the URL; null if the URL has none, and the path of the request is sent unchanged
 */
record Target(
        Directive source,
        String scheme,
        String authority,
        @Nullable String path,
        boolean grpc) {
    private static final Pattern URL = Pattern.compile("(?i)(https?|grpcs?)://([^/$\\s]+)(/[^$\\s]*)?");

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
        Matcher url = URL.matcher(text);
        if (text.contains("://unix:")) {
            directive.notMapped("origins are reached by TCP; Unix sockets have no equivalent");
            return null;
        }
        if (!url.matches()) {
            directive.notMapped("the origin depends on variables; write one rule for each origin");
            return null;
        }
        String scheme = url.group(1).toLowerCase(java.util.Locale.ROOT);
        boolean tls = scheme.equals("https") || scheme.equals("grpcs");
        return new Target(directive, tls ? "https" : "http", url.group(2), grpc ? null : url.group(3), grpc);
    }

    /** Returns true if both targets have the same scheme, host and port. */
    boolean isSameOrigin(@Nullable Target other) {
        return other != null && scheme.equals(other.scheme) && authority.equals(other.authority);
    }
}
