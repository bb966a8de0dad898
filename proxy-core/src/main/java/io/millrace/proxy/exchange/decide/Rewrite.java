package io.millrace.proxy.exchange.decide;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The path and query that rules set in the request to the origin. Immutable.
 *
 * @param path the path, which begins with a slash; null to keep the path that the remap rule produced
 * @param query the query without its question mark, empty for none; null to keep the client's query
 */
record Rewrite(@Nullable String path, @Nullable String query) {
    /** Returns this rewrite, changed by the path and the query that a later rule sets. */
    Rewrite then(@Nullable String laterPath, @Nullable String laterQuery) {
        return new Rewrite(laterPath == null ? path : laterPath, laterQuery == null ? query : laterQuery);
    }

    /** Returns true if the path contains a dot segment. An origin would resolve it. */
    boolean hasDotSegment() {
        if (path == null) {
            return false;
        }
        String decoded = path.replace("%2e", ".").replace("%2E", ".");
        for (int start = 1; start <= decoded.length(); ) {
            int slash = decoded.indexOf('/', start);
            int end = slash < 0 ? decoded.length() : slash;
            int length = end - start;
            if ((length == 1 || length == 2) && decoded.startsWith("..".substring(0, length), start)) {
                return true;
            }
            start = end + 1;
        }
        return false;
    }

    /** Returns a request target or a complete URL with the path and query of this rewrite. */
    byte[] applyTo(byte[] target) {
        String whole = new String(target, StandardCharsets.ISO_8859_1);
        int authority = whole.startsWith("/") ? 0 : whole.indexOf("//") + 2;
        int start = whole.indexOf('/', authority);
        if (start < 0) {
            return target;
        }
        int question = whole.indexOf('?', start);
        int pathEnd = question < 0 ? whole.length() : question;
        String newPath = path == null ? whole.substring(start, pathEnd) : path;
        String newQuery = query == null ? whole.substring(pathEnd) : query.isEmpty() ? "" : "?" + query;
        return (whole.substring(0, start) + newPath + newQuery).getBytes(StandardCharsets.ISO_8859_1);
    }
}
