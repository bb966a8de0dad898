package io.millrace.launcher.squid;

import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.importing.draft.UrlExpressions;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Converts expressions for URLs, in RE2 syntax, to conditions of {@code rules}. These conditions test path and query
 * separately. Stateless.
 */
final class UrlCondition {
    /** An expression for URLs whose path has a fixed part, or that have a query. Debian's squid.conf contains one. */
    private static final Pattern DYNAMIC = Pattern.compile("\\(?(/?[a-z-]+/?)\\|\\\\\\?\\)?");

    /** Matches expressions that cannot match a question mark. Their matches do not span path and query. */
    private static final Pattern WITHOUT_QUERY =
            Pattern.compile("(?:[A-Za-z0-9/_~%=&,;@!-]|\\\\[./_+-]|[()|?*+]|\\(\\?:|\\[[A-Za-z0-9/_-]+])*");

    private UrlCondition() {}

    /**
     * Returns the condition for URLs that match an expression. Returns null if a match may span several parts of the
     * URL.
     */
    static @Nullable String of(String expression) {
        String flag = expression.startsWith("(?i)") ? "(?i)" : "";
        String body = expression.substring(flag.length());
        java.util.regex.Matcher dynamic = DYNAMIC.matcher(body);
        if (dynamic.matches()) {
            return "(" + path(flag + dynamic.group(1)) + " || query =~ \".\")";
        }
        if (body.equals("\\?")) {
            return "query =~ \".\"";
        }
        // A match of an expression with a slash inside may begin in the host.
        boolean inside = body.contains("/") && !body.matches("\\(?/.*");
        return body.startsWith("^") || inside ? null : inPathOrQuery(flag, body, !body.contains("/"));
    }

    /**
     * Returns the condition for an expression that Squid matches against path and query, without the host; {@code ^} is
     * the start of the path. Returns null if a match may span path and query.
     */
    static @Nullable String ofPath(String expression) {
        String flag = expression.startsWith("(?i)") ? "(?i)" : "";
        String body = expression.substring(flag.length());
        if (body.startsWith("^")) {
            boolean inPath = WITHOUT_QUERY.matcher(body.substring(1)).matches() && !body.contains("|");
            return inPath ? path(expression) : null;
        }
        return inPathOrQuery(flag, body, false);
    }

    /**
     * Returns the condition for an expression that may match in the path or in the query. Returns null if a match may
     * span both.
     *
     * @param inHost whether the expression may also match in the host
     */
    private static @Nullable String inPathOrQuery(String flag, String body, boolean inHost) {
        boolean ends = body.endsWith("$") && !body.endsWith("\\$");
        String core = ends ? body.substring(0, body.length() - 1) : body;
        if (!WITHOUT_QUERY.matcher(core).matches()) {
            return null;
        }
        if (ends && body.replaceAll("\\([^)]*\\)", "").contains("|")) {
            return null;
        }
        String literal = RuleTexts.literal(flag + body);
        String path = path(flag + body);
        if (ends) {
            return "((" + path + " && query == \"\") || query =~ " + literal + ")";
        }
        return "(" + path + " || query =~ " + literal + (inHost ? " || host =~ " + literal : "") + ")";
    }

    /**
     * Returns the condition for paths. Squid decodes a path before it compares, so the condition also matches encoded
     * dots and slashes.
     */
    private static String path(String expression) {
        String encoded = UrlExpressions.ofDecodedPath(expression, UrlExpressions.KEPT_ENCODED);
        return "path =~ " + RuleTexts.literal(encoded == null ? expression : encoded);
    }
}
