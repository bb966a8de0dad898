package io.millrace.launcher.nginx;

import io.millrace.launcher.nginx.remap.SplitClients;
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
 * @param authority host and port, or the name of an upstream; {@code localhost} for a Unix domain socket, as nginx
 *     sends it
 * @param path path of the URL; null if the URL has no path, so that the path of the request is sent unchanged
 * @param appends whether the whole path of the request follows {@code path}, as with {@code $request_uri}
 * @param socket path of a Unix domain socket; null for an origin that is reached by TCP
 * @param split the block that chooses among this origin and others; null if all requests have this origin
 */
record Target(
        Directive source,
        String scheme,
        String authority,
        @Nullable String path,
        boolean appends,
        boolean grpc,
        @Nullable String socket,
        @Nullable SplitClients split) {
    private static final Pattern URL = Pattern.compile("(?i)(https?|grpcs?)://([^/$\\s]+)(/[^$\\s]*)?");
    private static final Pattern SOCKET = Pattern.compile("(?i)(https?|grpcs?)://unix:(/[^:$\\s]+)(?::(/[^$\\s]*)?)?");

    /**
     * Returns the origin of a scope. Returns null if there is none. Returns null and marks the directive if it has no
     * equivalent.
     */
    @Nullable
    static Target of(Scope scope) {
        for (Directive each : scope.own("proxy_pass", "grpc_pass")) {
            return of(scope, each);
        }
        return null;
    }

    private static @Nullable Target of(Scope scope, Directive directive) {
        String text = scope.expand(directive.arg(0));
        SplitClients split = SplitClients.of(scope, text);
        if (split != null) {
            return ofSplit(directive, text, split);
        }
        if (text.startsWith("$scheme://")) {
            text = "http" + text.substring(7);
            directive.entry().note("the origin is reached by http, whatever the scheme of the client");
        }
        Target target = parse(directive, text, null);
        if (target != null
                && target.path != null
                && !target.appends
                && directive.arg(0).contains("$")) {
            directive.notMapped("in a URL with variables, " + target.path
                    + " replaces the path of all requests in nginx;" + " the rule appends the rest of the path to it");
        }
        if (target == null) {
            directive.notMapped(
                    text.contains("://unix:")
                            ? "the path of a Unix socket is absolute and has no variables"
                            : "the origin depends on variables; write one rule for each origin");
        }
        return target;
    }

    /** Returns the origin for the last value of a split. Returns null if a value has no equivalent. */
    private static @Nullable Target ofSplit(Directive directive, String text, SplitClients split) {
        Target last = null;
        for (SplitClients.Part each : split.parts()) {
            Target target = parse(directive, split.replaceIn(text, each), split);
            String fault = target == null
                    ? "'" + each.value() + "' of " + each.line().entry().place() + " leads to no origin"
                    : target.fault(last);
            if (fault != null) {
                directive.notMapped(fault);
                return null;
            }
            last = target;
        }
        return last;
    }

    /** Returns the reason why this origin and {@code other} cannot belong to one split; null if they can. */
    private @Nullable String fault(@Nullable Target other) {
        if (socket != null) {
            return "remap[].split cannot have a Unix socket; write an upstream with the socket";
        }
        if (path != null && !appends) {
            return "in a URL with variables, nginx replaces the path of all requests by this path";
        }
        return other == null || (other.scheme.equals(scheme) && Objects.equals(other.path, path))
                ? null
                : "the origins of a split need the same scheme and path";
    }

    /** Returns the origin that one value of a split chooses. Returns null if the origin has no split. */
    static @Nullable Target ofPart(Scope scope, Target ruleTarget, SplitClients.Part part) {
        return ruleTarget.split == null
                ? null
                : parse(
                        ruleTarget.source,
                        ruleTarget.split.replaceIn(scope.expand(ruleTarget.source.arg(0)), part),
                        ruleTarget.split);
    }

    private static @Nullable Target parse(Directive directive, String url, @Nullable SplitClients split) {
        boolean grpc = directive.name().equals("grpc_pass");
        String text = url;
        boolean appends = false;
        for (String rest : new String[] {"$request_uri", "$uri$is_args$args", "$uri"}) {
            if (text.endsWith(rest)) {
                text = text.substring(0, text.length() - rest.length());
                text = text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
                appends = true;
                break;
            }
        }
        if (grpc && !text.contains("://")) {
            text = "grpc://" + text;
        }
        Matcher socket = SOCKET.matcher(text);
        if (socket.matches()) {
            String path = grpc ? null : socket.group(3);
            return new Target(
                    directive, httpScheme(socket.group(1)), "localhost", path, appends, grpc, socket.group(2), split);
        }
        Matcher parts = URL.matcher(text);
        if (text.contains("://unix:") || !parts.matches()) {
            return null;
        }
        String path = grpc ? null : parts.group(3);
        return new Target(directive, httpScheme(parts.group(1)), parts.group(2), path, appends, grpc, null, split);
    }

    private static String httpScheme(String scheme) {
        String word = scheme.toLowerCase(Locale.ROOT);
        return word.equals("https") || word.equals("grpcs") ? "https" : "http";
    }

    /** Returns true if two locations send all requests to one origin, or split them among the same origins. */
    boolean isSameChoice(@Nullable Target other) {
        return isSameOrigin(other)
                && other != null
                && (split == null
                        ? other.split == null
                        : other.split != null && split.source().equals(other.split.source()));
    }

    /** Returns true if both targets have the same scheme, host and port, and the same Unix socket. */
    boolean isSameOrigin(@Nullable Target other) {
        return other != null
                && scheme.equals(other.scheme)
                && authority.equals(other.authority)
                && Objects.equals(socket, other.socket);
    }
}
