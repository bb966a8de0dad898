package io.millrace.proxy.remap;

import io.millrace.proxy.config.value.RuleUrl;
import io.millrace.proxy.http.TargetUri;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Rewrites Domain and Path of origins' cookies for the client's URL (RFC 6265 s4.1.2). Thread-safe: no state. */
final class SetCookieRewrite {
    private SetCookieRewrite() {}

    /**
     * Returns the Set-Cookie value with replaced Domain and Path; null for no change.
     *
     * @param rule the reverse rule for the origin's URL
     * @param origin the URL requested from the origin
     * @param client the URL that the client requested
     */
    static @Nullable String of(String value, RemapRule rule, TargetUri origin, TargetUri client) {
        StringBuilder out = new StringBuilder(value.length());
        boolean changed = false;
        int at = 0;
        while (at <= value.length()) {
            int end = value.indexOf(';', at);
            end = end < 0 ? value.length() : end;
            String part = value.substring(at, end);
            String becomes = at == 0 ? part : attribute(part, rule, origin, client);
            changed |= !becomes.equals(part);
            out.append(at == 0 ? "" : ";").append(becomes);
            at = end + 1;
        }
        return changed ? out.toString() : null;
    }

    private static String attribute(String part, RemapRule rule, TargetUri origin, TargetUri client) {
        int equals = part.indexOf('=');
        if (equals < 0) {
            return part;
        }
        String name = part.substring(0, equals).trim().toLowerCase(Locale.ROOT);
        String value = part.substring(equals + 1).trim();
        String becomes =
                switch (name) {
                    case "domain" -> domain(value, rule, origin, client);
                    case "path" -> path(value, rule);
                    default -> value;
                };
        return becomes.equals(value) ? part : part.substring(0, equals + 1) + becomes;
    }

    /**
     * Returns the Domain for the client. Replaces a domain of the origin, unless the client's host is in this domain
     * too.
     */
    private static String domain(String value, RemapRule rule, TargetUri origin, TargetUri client) {
        String domain = (value.startsWith(".") ? value.substring(1) : value).toLowerCase(Locale.ROOT);
        boolean ofOrigin = isIn(origin.host(), domain);
        return ofOrigin && !isIn(client.host(), domain)
                ? String.valueOf(rule.config().to().host())
                : value;
    }

    private static boolean isIn(String host, String domain) {
        return host.equals(domain) || (!domain.isEmpty() && host.endsWith("." + domain));
    }

    /**
     * Returns the Path for the client. {@code from} and {@code to} are the paths of the rule. If the value begins with
     * {@code from}, {@code to} replaces this part. If {@code from} begins with the value, the result is {@code to}. All
     * other values stay unchanged.
     */
    private static String path(String value, RemapRule rule) {
        RuleUrl from = rule.config().from();
        String to = rule.config().to().path();
        if (value.startsWith(from.path())) {
            String rest = value.substring(from.path().length());
            boolean wantsSlash = !rest.isEmpty() && from.path().endsWith("/") && !to.endsWith("/");
            boolean twoSlashes = to.endsWith("/") && rest.startsWith("/");
            return to + (wantsSlash ? "/" : "") + (twoSlashes ? rest.substring(1) : rest);
        }
        if (!value.startsWith("/") || !from.path().startsWith(value)) {
            return value;
        }
        return to.length() > 1 && to.endsWith("/") && !value.endsWith("/") ? to.substring(0, to.length() - 1) : to;
    }
}
