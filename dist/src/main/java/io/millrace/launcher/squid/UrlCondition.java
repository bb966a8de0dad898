package io.millrace.launcher.squid;

import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.importing.draft.UrlExpressions;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Converts expressions for URLs, in RE2 syntax, to conditions of {@code rules}, which test path and query separately. Stateless. */
final class UrlCondition {
    /** An expression for URLs whose path has a fixed part, or that have a query. Debian's squid.conf contains one. */
    private static final Pattern DYNAMIC = Pattern.compile("\\(?(/?[a-z-]+/?)\\|\\\\\\?\\)?");

    /** The parts of an expression that cannot match a question mark, so that it can be split at the query. */
    private static final Pattern WITHOUT_QUERY =
            Pattern.compile("(?:[A-Za-z0-9/_~%=&,;@!-]|\\\\[./_+-]|[()|?*+]|\\(\\?:|\\[[A-Za-z0-9/_-]+])*");

    private UrlCondition() {}

    /** Returns the condition for URLs that match an expression. Returns null if it spans several parts. */
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
        // An expression with a slash inside may match from within the host on.
        boolean inside = body.contains("/") && !body.matches("\\(?/.*");
        return body.startsWith("^") || inside ? null : inPathOrQuery(flag, body, !body.contains("/"));
    }

    /** Returns the condition for an expression without the host; {@code ^} is the start of the path. */
    static @Nullable String ofPath(String expression) {
        String flag = expression.startsWith("(?i)") ? "(?i)" : "";
        String body = expression.substring(flag.length());
        if (body.startsWith("^")) {
            boolean inPath = WITHOUT_QUERY.matcher(body.substring(1)).matches() && !body.contains("|");
            return inPath ? path(expression) : null;
        }
        return inPathOrQuery(flag, body, false);
    }

    private static @Nullable String inPathOrQuery(String flag, String body, boolean host) {
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
        return "(" + path + " || query =~ " + literal + (host ? " || host =~ " + literal : "") + ")";
    }

    /** Returns the condition for paths. Squid decodes them, so that clients can send their dots and slashes encoded. */
    private static String path(String expression) {
        String encoded = UrlExpressions.ofDecodedPath(expression, UrlExpressions.KEPT_ENCODED);
        return "path =~ " + RuleTexts.literal(encoded == null ? expression : encoded);
    }
}
