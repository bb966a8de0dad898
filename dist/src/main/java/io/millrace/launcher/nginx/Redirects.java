package io.millrace.launcher.nginx;

import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.request.Conditions;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Translates {@code return} and {@code rewrite} directives to redirections. Stateless. */
final class Redirects {
    /** Endings of a target URL that append the whole path of the request. */
    private static final List<String> WHOLE_PATH =
            List.of("$request_uri", "$uri$is_args$args", "$uri$is_args$query_string", "$uri?$args", "$uri");

    /** An expression for paths that begin with fixed text. */
    private static final Pattern REST = Pattern.compile("\\^?(/?[A-Za-z0-9/_~.\\\\-]*)(?:\\(\\.\\*\\)|\\.\\*)\\$?");
    /** An expression for one path. */
    private static final Pattern EXACT = Pattern.compile("\\^(/[A-Za-z0-9/_~.\\\\-]*)(?:/\\?)?\\$");

    /**
     * A redirection. Immutable.
     *
     * @param prefix path that is redirected; null for the path of the location
     * @param target URL or path, without the variable for the path of the request
     * @param rest whether the path after {@code prefix} is appended to the target
     * @param whole whether the whole path of the request is appended to the target
     * @param exact whether only requests for the path {@code prefix} itself are redirected
     */
    record Redirect(
            Directive source,
            int status,
            @Nullable String prefix,
            String target,
            boolean rest,
            boolean whole,
            boolean exact) {
        /** Returns true if a location with this path redirects only some of the paths below it. */
        boolean coversOnlyPartOf(String path) {
            return source.name().equals("rewrite") && (exact || (prefix != null && !path.startsWith(prefix)));
        }
    }

    private Redirects() {}

    /**
     * Returns the redirection of a directive. Returns null if the directive is not a redirection with an equivalent.
     */
    @Nullable
    static Redirect of(Directive directive) {
        return directive.name().equals("return") ? ofReturn(directive) : ofRewrite(directive);
    }

    private static @Nullable Redirect ofReturn(Directive directive) {
        boolean code = directive.arg(0).matches("\\d{3}");
        int status = code ? Integer.parseInt(directive.arg(0)) : 302;
        String target = directive.arg(code ? 1 : 0);
        if (!List.of(301, 302, 303, 307, 308).contains(status) || target.isEmpty()) {
            return null;
        }
        for (String path : WHOLE_PATH) {
            if (target.endsWith(path)) {
                String begin = target.substring(0, target.length() - path.length());
                return new Redirect(directive, status, null, begin, true, true, false);
            }
        }
        return new Redirect(directive, status, null, target, false, false, false);
    }

    private static @Nullable Redirect ofRewrite(Directive directive) {
        String flag = directive.arg(2);
        boolean absolute = directive.arg(1).matches("(?i)(https?|\\$scheme)://.*");
        if (!flag.equals("permanent") && !flag.equals("redirect") && !absolute) {
            return null;
        }
        int status = flag.equals("permanent") ? 301 : 302;
        String expression = directive.arg(0);
        String target = directive.arg(1).replaceAll("\\?$", "");
        for (String path : WHOLE_PATH) {
            if (target.endsWith(path)
                    && List.of("^", "^(.*)$", "^/(.*)$", "^.*$", "(.*)", ".*", "/", "^/", "^(.*)")
                            .contains(expression)) {
                String begin = target.substring(0, target.length() - path.length());
                return new Redirect(directive, status, "/", begin, true, true, false);
            }
        }
        Matcher rest = REST.matcher(expression);
        boolean group = expression.contains("(") && target.indexOf("$1") == target.length() - 2;
        if (rest.matches() && target.endsWith("$1") && group) {
            String prefix = unescaped(rest.group(1));
            String begin = target.substring(0, target.length() - 2);
            // The group contains the slash of the path in ^(.*)$, but not in ^/(.*)$.
            return prefix == null
                    ? null
                    : new Redirect(
                            directive, status, prefix.isEmpty() ? "/" : prefix, begin, true, prefix.isEmpty(), false);
        }
        Matcher exact = EXACT.matcher(expression);
        String only = exact.matches() ? unescaped(exact.group(1)) : null;
        if (only != null && !target.contains("$1")) {
            return new Redirect(directive, status, only, target, false, false, true);
        }
        return null;
    }

    /** Returns the text that an expression matches; null if the expression matches several texts. */
    static @Nullable String unescaped(String expression) {
        String text = expression.replaceAll("\\\\([./_-])", "$1");
        return text.contains("\\") || expression.replace("\\.", "").contains(".") ? null : text;
    }

    /** Returns the redirection for all requests of a base (scheme, host and port); null if there is none. */
    static @Nullable Redirect whole(Server server, UrlBase base) {
        for (Directive each : server.scope().own("if")) {
            Predicate<String> hosts = Conditions.hosts(each);
            if (hosts != null && (base.expression() || base.isForAllUrls())) {
                // The base stands for several hosts, so it is not known whether the condition on the host is true.
                continue;
            }
            boolean isPlain = Conditions.isPlain(each);
            boolean applies = (hosts != null && hosts.test(base.host()))
                    || (isPlain && base.scheme().equals("http"));
            for (Directive child : each.children()) {
                Redirect found = of(child);
                if ((hosts != null || isPlain) && found != null) {
                    each.markHandled().note("the importer uses the condition for the redirection in the block");
                    if (applies) {
                        return found;
                    }
                }
            }
        }
        for (Directive each : server.scope().own("return", "rewrite")) {
            Redirect found = of(each);
            if (found != null
                    && !found.exact()
                    && (found.prefix() == null || found.prefix().equals("/"))) {
                return found;
            }
        }
        return null;
    }

    /** Returns true if a server redirects all its requests, or all requests for one of its names or without TLS. */
    static boolean redirectsAll(Scope server) {
        for (Directive each : server.own("return", "rewrite")) {
            Redirect found = of(each);
            if (found != null && (found.prefix == null || found.prefix.equals("/")) && !found.exact) {
                return true;
            }
        }
        return server.own("if").stream()
                .anyMatch(each -> (Conditions.hosts(each) != null || Conditions.isPlain(each))
                        && each.children("return").stream().anyMatch(one -> of(one) != null));
    }

    /**
     * Returns true if a server needs separate remap rules for redirections: because of {@link #redirectsAll}, or for
     * redirections in locations. Those in locations do not count if {@code location /} has a proxy_pass: then they are
     * part of the rule for {@code location /} or for a longer path, or have no equivalent.
     */
    static boolean redirectsSome(Scope server) {
        boolean maps = server.own("location").stream()
                .anyMatch(each ->
                        each.text().equals("/") && !each.children("proxy_pass").isEmpty());
        boolean below = !maps
                && server.own("location").stream()
                        .flatMap(each -> each.children().stream())
                        .anyMatch(each -> List.of("return", "rewrite").contains(each.name()) && of(each) != null);
        return below || redirectsAll(server);
    }

    /**
     * Returns the target URL of a redirection rule. Returns null if the target has variables without an equivalent.
     *
     * @param base scheme and host of the requests
     * @param path path of the rule; part of the target if the whole path of the request is appended
     */
    static @Nullable String url(Redirect redirect, UrlBase base, String serverName, String path) {
        String host = base.hostInTarget();
        String scheme = base.scheme().isEmpty() ? "http" : base.scheme();
        // In the target, U+0000 stands for the host of the requests until all variables are replaced.
        String target = redirect.target
                .replace("${", "$")
                .replace("$scheme", scheme)
                .replace("$server_name", serverName.isEmpty() ? "\u0000" : serverName)
                .replace("$http_host", "\u0000")
                .replace("$host", "\u0000");
        if (target.startsWith("/") || target.isEmpty()) {
            target = scheme + "://\u0000" + target;
        }
        if (target.contains("$") || !target.toLowerCase(Locale.ROOT).matches("https?://.*")) {
            return null;
        }
        target = target.replace("\u0000", host).replace("}", "");
        int slash = target.indexOf('/', target.indexOf("://") + 3);
        if (redirect.whole) {
            String begin = target.endsWith("/") ? target.substring(0, target.length() - 1) : target;
            return begin + path;
        }
        return slash < 0 ? target + "/" : target;
    }

    /** Returns the key that makes a remap rule a redirection, such as {@code redirect_temporary}. */
    static String verb(int status, UrlBase base) {
        boolean permanent = status == 301 || status == 308;
        return (base.expression() ? "regex_redirect" : "redirect") + (permanent ? "" : "_temporary");
    }

    /** Returns the redirection of a scope. Returns null if there is none. */
    static @Nullable Redirect of(Scope scope) {
        for (Directive each : scope.own("return", "rewrite")) {
            Redirect found = of(each);
            if (found != null) {
                return found;
            }
        }
        return null;
    }
}
