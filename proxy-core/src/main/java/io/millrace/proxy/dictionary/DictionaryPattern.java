package io.millrace.proxy.dictionary;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.millrace.proxy.config.value.Regex;
import io.millrace.proxy.http.TargetUri;
import org.jspecify.annotations.Nullable;

/**
 * The pattern of the URLs for which a dictionary may be used: {@code match} of Use-As-Dictionary (RFC 9842 s2.1.1), a URL
 * pattern relative to the URL of the dictionary. Matched in linear time. Immutable.
 */
final class DictionaryPattern {
    /** Limit of a pattern in characters. */
    private static final int LENGTH_MAX = 1024;

    private static final String ANYTHING = "*";

    private final Pattern path;
    private final Pattern query;

    private DictionaryPattern(Pattern path, Pattern query) {
        this.path = path;
        this.query = query;
    }

    /**
     * Returns the pattern of a dictionary.
     *
     * @param base the URL of the dictionary
     * @return null if the pattern is malformed, has regular expressions or a fragment, or names another origin
     */
    static @Nullable DictionaryPattern of(String match, TargetUri base) {
        String relative = withoutOrigin(match, base);
        if (relative == null || match.length() > LENGTH_MAX || indexOf(relative, '#') >= 0) {
            return null;
        }
        boolean isOriginOnly = relative.isEmpty() && !match.isEmpty();
        int mark = queryMark(relative);
        String pathPart = mark < 0 ? relative : relative.substring(0, mark);
        String queryPart = mark < 0 ? null : relative.substring(mark + 1);
        String pathPattern;
        if (isOriginOnly) {
            pathPattern = ANYTHING;
        } else if (pathPart.isEmpty()) {
            pathPattern = PatternParser.escaped(base.path());
        } else {
            pathPattern = isAbsolute(pathPart) ? pathPart : directoryOf(base) + pathPart;
        }
        if (queryPart == null) {
            // Components after those that the pattern names match anything; an empty pattern names none.
            queryPart = match.isEmpty() ? PatternParser.escaped(queryOf(base)) : ANYTHING;
        }
        return compiled(PatternParser.path(pathPattern), PatternParser.query(queryPart));
    }

    private static @Nullable DictionaryPattern compiled(@Nullable String path, @Nullable String query) {
        if (path == null || query == null) {
            return null;
        }
        try {
            return new DictionaryPattern(Regex.compile(path), Regex.compile(query));
        } catch (PatternSyntaxException e) {
            return null;
        }
    }

    /** Removes scheme, host and port, if they are those of the base; returns null if they are others. */
    private static @Nullable String withoutOrigin(String match, TargetUri base) {
        if (match.startsWith("//")) {
            return null;
        }
        int scheme = match.indexOf("://");
        int delimiter = indexOfAny(match, "/?*{");
        if (scheme < 0 || (delimiter >= 0 && delimiter < scheme)) {
            return match;
        }
        String origin = base.scheme() + "://" + base.authority();
        String rest = match.startsWith(origin) ? match.substring(origin.length()) : null;
        return rest == null || rest.isEmpty() || rest.startsWith("/") || rest.startsWith("?") ? rest : null;
    }

    private static boolean isAbsolute(String path) {
        return path.startsWith("/") || path.startsWith("\\/") || path.startsWith("{/");
    }

    private static String directoryOf(TargetUri base) {
        String path = base.path();
        return PatternParser.escaped(path.substring(0, path.lastIndexOf('/') + 1));
    }

    private static String queryOf(TargetUri url) {
        String query = url.query();
        return query == null ? "" : query;
    }

    /** Returns the position of the question mark that begins the query, and is no modifier; -1 for none. */
    private static int queryMark(String pattern) {
        int depth = 0;
        boolean afterPart = false;
        for (int i = 0; i < pattern.length(); i++) {
            char next = pattern.charAt(i);
            boolean isName = afterPart && Character.isJavaIdentifierPart(next);
            if (next == '\\') {
                i++;
                afterPart = false;
            } else if (next == '{') {
                depth++;
                afterPart = false;
            } else if (next == '}') {
                depth--;
                afterPart = true;
            } else if (next == '?' && depth == 0 && !afterPart) {
                return i;
            } else {
                boolean beginsName = next == ':'
                        && i + 1 < pattern.length()
                        && Character.isJavaIdentifierStart(pattern.charAt(i + 1));
                afterPart = next == '*' || beginsName || (isName && isInName(pattern, i));
            }
        }
        return -1;
    }

    /** Returns true if the character belongs to the name of a wildcard, which begins with a colon. */
    private static boolean isInName(String pattern, int position) {
        int at = position;
        while (at >= 0 && Character.isJavaIdentifierPart(pattern.charAt(at))) {
            at--;
        }
        return at >= 0 && pattern.charAt(at) == ':';
    }

    private static int indexOf(String pattern, char wanted) {
        for (int i = 0; i < pattern.length(); i++) {
            if (pattern.charAt(i) == '\\') {
                i++;
            } else if (pattern.charAt(i) == wanted) {
                return i;
            }
        }
        return -1;
    }

    private static int indexOfAny(String text, String wanted) {
        for (int i = 0; i < text.length(); i++) {
            if (wanted.indexOf(text.charAt(i)) >= 0) {
                return i;
            }
        }
        return -1;
    }

    /** Returns true if path and query of the URL match. */
    boolean matches(TargetUri url) {
        return path.matcher(url.path()).matches() && query.matcher(queryOf(url)).matches();
    }
}
