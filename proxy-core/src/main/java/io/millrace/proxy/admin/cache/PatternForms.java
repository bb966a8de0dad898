package io.millrace.proxy.admin.cache;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.value.Regex;
import io.millrace.proxy.expression.Expression;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Translates {@code where}, {@code regex} and {@code wildcard} of a pattern purge to expressions. The expressions are
 * conditions on stored responses. Stateless.
 */
final class PatternForms {
    private PatternForms() {}

    /**
     * Returns the expression of the only form that is not null. Returns null if there is none.
     *
     * @param where an expression
     * @param regex an RE2 expression that matches anywhere in the URL
     * @param wildcard a URL in which {@code *} stands for any text
     * @throws AdminException if several forms are given, or one is not valid
     */
    static @Nullable String expression(@Nullable String where, @Nullable String regex, @Nullable String wildcard)
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
            if (!wildcard.startsWith("http://") && !wildcard.startsWith("https://")) {
                throw new AdminException(
                        400, "bad-request", "wildcard: not a URL with http:// or https://: " + wildcard);
            }
            return "url =~ " + Expression.literal('^' + regex(wildcard) + '$');
        }
        return where;
    }

    private static String regex(String wildcard) {
        String[] parts = wildcard.split("\\*", -1);
        return Arrays.stream(parts).map(Pattern::quote).collect(Collectors.joining(".*"));
    }
}
