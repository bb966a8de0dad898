package io.millrace.proxy.dictionary;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.millrace.proxy.config.value.Regex;
import io.millrace.proxy.http.TargetUri;
import org.jspecify.annotations.Nullable;

/**
 * The pattern of the URLs for which a dictionary may be used: {@code match} of Use-As-Dictionary (RFC 9842 s2.1.1), a
 * URL pattern relative to the URL of the dictionary. Matched in linear time. Immutable.
 */
final class DictionaryPattern {
    /** Limit of a pattern in characters. */
    static final int LENGTH_MAX = 1024;

    /** Limit of the wildcards. */
    static final int WILDCARDS_MAX = 8;

    /** Limit of path and query that are compared, in characters. Longer URLs do not match. */
    static final int URL_LENGTH_MAX = 2048;

    /**
     * Limit of matcher states multiplied by the characters of the URL. The matcher has up to one state for each
     * character of a pattern with wildcards, and needs about 30 ns for each state and character. The limit corresponds
     * to 4 ms, for which an event loop waits.
     */
    static final int STEPS_MAX = 128 * 1024;

    private static final String ANYTHING = "*";

    private final Pattern path;
    private final Pattern query;
    /** States that the matcher may have at the same time. */
    private final int states;

    private DictionaryPattern(Pattern path, Pattern query, int states) {
        this.path = path;
        this.query = query;
        this.states = states;
    }

    /**
     * Returns the pattern of a dictionary.
     *
     * @param base the URL of the dictionary
     * @return null if the pattern is malformed or too complex, has regular expressions or a fragment, or names another
     *     origin
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
        boolean isQueryImplied = queryPart == null;
        if (queryPart == null) {
            // A pattern that does not mention the query matches any query. An empty pattern matches only the base URL.
            queryPart = match.isEmpty() ? PatternParser.escaped(queryOf(base)) : ANYTHING;
        }
        PatternParser.Translation path = PatternParser.path(pathPattern);
        PatternParser.Translation query = PatternParser.query(queryPart);
        if (path == null
                || query == null
                || path.wildcards() + (isQueryImplied ? 0 : query.wildcards()) > WILDCARDS_MAX) {
            return null;
        }
        try {
            return new DictionaryPattern(
                    Regex.compile(path.expression()),
                    Regex.compile(query.expression()),
                    statesOf(path) + statesOf(query));
        } catch (PatternSyntaxException e) {
            return null;
        }
    }

    /** Returns the number of states that the matcher may have at the same time; 1 for a part without wildcards. */
    private static int statesOf(PatternParser.Translation part) {
        return part.wildcards() == 0 ? 1 : part.length();
    }

    /** Removes scheme, host and port if they equal those of the base; otherwise returns null. */
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

    /** Returns true if the character belongs to the name of a wildcard. Such a name begins with a colon. */
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

    /** Returns true if path and query of the URL match, and are not too long. */
    boolean matches(TargetUri url) {
        String pathText = url.path();
        String queryText = queryOf(url);
        int urlLength = pathText.length() + queryText.length();
        return urlLength <= URL_LENGTH_MAX
                && states * urlLength <= STEPS_MAX
                && path.matcher(pathText).matches()
                && query.matcher(queryText).matches();
    }
}
