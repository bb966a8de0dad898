package io.millrace.proxy.purge;

import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Converts the path patterns that content management systems send to path prefixes. A pattern is a literal
 * prefix, followed by a wildcard.
 *
 * <pre>
 *   /.*          the whole host; also /.*$ and /(.*)
 *   /*           the whole host
 *   /blog/.*     the prefix /blog/
 *   /a.css.*     the prefix /a.css; a dot without a star is literal
 * </pre>
 *
 * Thread-safe: no state.
 */
final class PurgePattern {
    private static final String[] WILDCARDS = {"(.*)$", "(.*)", ".*$", ".*", "*", "$"};
    private static final String SPECIAL = "*+?()[]{}|^$\\";

    private PurgePattern() {}

    /** Returns true if the path contains a wildcard, which paths of pages do not contain. */
    static boolean hasWildcard(TargetUri target) {
        String path = target.path();
        return path.endsWith("*") || path.contains(".*");
    }

    /** Returns the prefix URL of a pattern; null if the pattern is not a prefix. */
    static @Nullable TargetUri beginning(TargetUri target) {
        if (target.hasQuery()) {
            return null;
        }
        String literal = literalBeginning(target);
        return literal == null || literal.isEmpty()
                ? null
                : target.withPath(literal.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Returns true if the path is an expression. Then the question mark is a part of it, not the start of a query. */
    static boolean isExpression(TargetUri target) {
        return literalBeginning(target) == null;
    }

    /** Returns the path without a wildcard at its end; null if the rest has special characters. */
    private static @Nullable String literalBeginning(TargetUri target) {
        String pattern = target.path();
        for (String wildcard : WILDCARDS) {
            if (pattern.endsWith(wildcard)) {
                pattern = pattern.substring(0, pattern.length() - wildcard.length());
                break;
            }
        }
        return literal(pattern);
    }

    private static @Nullable String literal(String pattern) {
        for (int i = 0; i < pattern.length(); i++) {
            if (SPECIAL.indexOf(pattern.charAt(i)) >= 0) {
                return null;
            }
        }
        return pattern;
    }
}
