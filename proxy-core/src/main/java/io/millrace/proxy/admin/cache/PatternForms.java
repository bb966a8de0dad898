package io.millrace.proxy.admin.cache;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.value.Regex;
import io.millrace.proxy.expression.Expression;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Translates {@code where}, {@code regex} and {@code wildcard} of a pattern purge to expressions. The expressions are
 * conditions on stored responses. Stateless.
 */
public final class PatternForms {
    private PatternForms() {}

    /**
     * Returns the expression for the only argument that is not null. Returns null if all are null.
     *
     * @param where an expression
     * @param regex an RE2 expression that matches anywhere in the URL
     * @param wildcard a URL in which {@code *} stands for any text; without a port it matches both schemes
     * @throws AdminException if several arguments are given, or one is not valid
     */
    public static @Nullable String expression(@Nullable String where, @Nullable String regex, @Nullable String wildcard)
            throws AdminException {
        int given = (where == null ? 0 : 1) + (regex == null ? 0 : 1) + (wildcard == null ? 0 : 1);
        if (given > 1) {
            throw new AdminException(400, "bad-request", "one of 'where', 'regex' and 'wildcard', not several");
        }
        if (regex != null) {
            try {
                Regex.compile(regex);
            } catch (PatternSyntaxException e) {
                throw new AdminException(400, "bad-regex", "regex: " + e.getMessage() + "; nothing was purged");
            }
            return "url =~ " + Expression.literal(regex);
        }
        if (wildcard != null) {
            return "url =~ " + Expression.literal('^' + urlRegex(wildcard) + '$');
        }
        return where;
    }

    /**
     * Returns the expression of a wildcard. Without a port, or with the default port, it matches the URLs of both
     * schemes, as in a purge of a URL. URLs of cache keys have lower-case hosts, and no default port.
     */
    private static String urlRegex(String wildcard) throws AdminException {
        boolean isSecure = wildcard.startsWith("https://");
        if (!isSecure && !wildcard.startsWith("http://")) {
            throw new AdminException(
                    400,
                    "bad-request",
                    "wildcard: the text must begin with http:// or https:// and a host, such as"
                            + " http://www.example.com/* or http://*/print: " + wildcard);
        }
        int hostStart = wildcard.indexOf("//") + 2;
        int slash = wildcard.indexOf('/', hostStart);
        int hostEnd = slash < 0 ? wildcard.length() : slash;
        String host = wildcard.substring(hostStart, hostEnd).toLowerCase(Locale.ROOT);
        String defaultPort = isSecure ? ":443" : ":80";
        if (host.endsWith(defaultPort)) {
            host = host.substring(0, host.length() - defaultPort.length());
        }
        boolean hasPort = host.lastIndexOf(':') > host.lastIndexOf(']');
        String scheme = !hasPort ? "https?://" : isSecure ? "https://" : "http://";
        return scheme + regex(host + wildcard.substring(hostEnd));
    }

    private static String regex(String wildcard) {
        String[] parts = wildcard.split("\\*", -1);
        return Arrays.stream(parts).map(Pattern::quote).collect(Collectors.joining(".*"));
    }
}
