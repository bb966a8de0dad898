package io.millrace.proxy.purge;

import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Parses the path patterns of content management systems: a literal prefix and a wildcard. Other expressions are not
 * supported.
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
    private static final String[] REST = {"(.*)$", "(.*)", ".*$", ".*", "*", "$"};
    private static final String SPECIAL = "*+?()[]{}|^$";

    private PurgePattern() {}

    /** Returns whether the path has a wildcard. Paths of pages do not have one. */
    static boolean isOne(TargetUri target) {
        String path = target.path();
        return path.endsWith("*") || path.contains(".*");
    }

    /** Returns the prefix URL of a pattern; null if the pattern is not a prefix. */
    static @Nullable TargetUri beginning(TargetUri target) {
        if (target.hasQuery()) {
            return null;
        }
        String pattern = target.path();
        for (String rest : REST) {
            if (pattern.endsWith(rest)) {
                pattern = pattern.substring(0, pattern.length() - rest.length());
                break;
            }
        }
        String literal = literal(pattern);
        return literal == null || literal.isEmpty()
                ? null
                : target.withPath(literal.getBytes(StandardCharsets.ISO_8859_1));
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
