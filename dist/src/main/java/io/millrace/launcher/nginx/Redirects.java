package io.millrace.launcher.nginx;

import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Translates {@code return} and {@code rewrite} to redirections. Thread-safe: stateless. */
final class Redirects {
    /** Parts at the end of a target that stand for the path of the request. */
    private static final List<String> WHOLE_PATH =
            List.of("$request_uri", "$uri$is_args$args", "$uri$is_args$query_string", "$uri?$args", "$uri");

    private static final Pattern REST = Pattern.compile("\\^?(/?[A-Za-z0-9/_~.\\\\-]*)(?:\\(\\.\\*\\)|\\.\\*)\\$?");
    private static final Pattern EXACT = Pattern.compile("\\^(/[A-Za-z0-9/_~.\\\\-]*)(?:/\\?)?\\$");

    /**
     * A redirection. Immutable.
     *
     * @param prefix path that is redirected; null for the path of the location
     * @param target URL or path without the part for the rest
     * @param rest whether the rest of the path is appended
     * @param whole whether the rest is the whole path of the request
     */
    record Redirect(
            Directive source,
            int status,
            @Nullable String prefix,
            String target,
            boolean rest,
            boolean whole,
            boolean exact) {}

    private Redirects() {}

    /** Returns the redirection of a directive; null if the directive is none that can be expressed. */
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
            // The group of ^(.*)$ begins with the slash, that of ^/(.*)$ follows it.
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

    /** Returns the text of an expression without special characters; null if there are any. */
    static @Nullable String unescaped(String expression) {
        String text = expression.replaceAll("\\\\([./_-])", "$1");
        return text.contains("\\") || expression.replace("\\.", "").contains(".") ? null : text;
    }

    /** Returns true if a server redirects all requests, or those of one of its names or of http. */
    static boolean isWhole(Scope server) {
        for (Directive each : server.own("return", "rewrite")) {
            Redirect found = of(each);
            if (found != null && (found.prefix == null || found.prefix.equals("/")) && !found.exact) {
                return true;
            }
        }
        return server.own("if").stream()
                .anyMatch(each -> (Conditions.host(each) != null || Conditions.isPlain(each))
                        && each.children("return").stream().anyMatch(one -> of(one) != null));
    }

    /** Returns true if a server redirects any of its paths. */
    static boolean isAny(Scope server) {
        boolean below = server.own("location").stream()
                .flatMap(each -> each.children().stream())
                .anyMatch(each -> List.of("return", "rewrite").contains(each.name()) && of(each) != null);
        return below || isWhole(server);
    }

    /**
     * Returns the target URL for a base; null if it has variables that cannot be expressed.
     *
     * @param path the path of the rule, which precedes the appended rest if the target has the whole path
     */
    static @Nullable String url(Redirect redirect, UrlBase base, String serverName, String path) {
        String host = base.hostInTarget();
        String scheme = base.scheme().isEmpty() ? "http" : base.scheme();
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

    /** Returns the key of the rule for a status and a base. */
    static String verb(int status, UrlBase base) {
        boolean permanent = status == 301 || status == 308;
        return (base.expression() ? "regex_redirect" : "redirect") + (permanent ? "" : "_temporary");
    }
}
