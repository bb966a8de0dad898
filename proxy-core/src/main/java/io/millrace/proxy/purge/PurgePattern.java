package io.millrace.proxy.purge;

import io.millrace.proxy.http.TargetUri;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The patterns that content management systems put in the place of a path: the literal beginning of paths, and after it a word
 * for "whatever follows". Other expressions are none of these.
 *
 * <pre>
 *   /.*          the whole host        /.*$  and  /(.*)  alike
 *   /*           the whole host, as scripts write it
 *   /blog/.*     what begins with /blog/
 *   /a.css.*     what begins with /a.css: a dot that stands alone is a dot
 * </pre>
 *
 * Immutable: no state.
 */
final class PurgePattern {
    private static final String[] REST = {"(.*)$", "(.*)", ".*$", ".*", "*", "$"};
    private static final String SPECIAL = "*+?()[]{}|^$";

    private PurgePattern() {}

    /** Whether the path has a word for whatever follows: no page's has. */
    static boolean isOne(TargetUri target) {
        String path = target.path();
        return path.endsWith("*") || path.contains(".*");
    }

    /** The URL whose path and query begin those that are meant; null where a pattern says more than that. */
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
